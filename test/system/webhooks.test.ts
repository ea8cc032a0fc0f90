import assert from "node:assert/strict";
import { after, before, type TestContext, test } from "node:test";
import { Webhook } from "standardwebhooks";
import * as v from "valibot";
import {
  CallRefusedByServerError,
  requestWebhook,
} from "../../engine/sandbox/telephone/phone-webhook.js";
import { WebhookReceiver } from "../doubles/webhook-receiver.js";
import { ended } from "./events.js";
import { eventually } from "./eventually.js";
import { webhookUrl } from "./telephone-stand.js";
import { type Customer, TestServer } from "./test-server.js";
import { AUTH_TOKEN, TwilioStand } from "./twilio-stand.js";

let server: TestServer;
let stand: TwilioStand;
before(async () => {
  stand = await TwilioStand.start();
  server = await TestServer.start({
    environment: { ALLOW_PRIVATE_PROVIDERS: "true", ...stand.environment },
  });
  await stand.leadTo(server.parley.port);
});
after(async () => {
  await server.close();
  stand.close();
});

const Created = v.object({ id: v.string(), secret: v.string() });
const Body = v.object({
  type: v.string(),
  timestamp: v.string(),
  data: v.record(v.string(), v.unknown()),
});

async function ask({ apiKey }: Customer, path: string, body?: object, method = "POST") {
  const response = await fetch(`${server.url}/api/dashboard/${path}`, {
    method,
    headers: { "x-api-key": apiKey, "content-type": "application/json" },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    signal: AbortSignal.timeout(10_000),
  });
  const answer: unknown = await response.json();
  return { status: response.status, answer };
}

async function endpoint(customer: Customer, receiver: WebhookReceiver, fields: object = {}) {
  const { status, answer } = await ask(customer, "webhooks", {
    name: "CRM",
    url: receiver.url,
    eventTypes: ["call.started", "turn.completed", "call.ended", "call.failed"],
    ...fields,
  });
  assert.equal(status, 201);
  return v.parse(Created, answer);
}

const bodies = ({ received }: WebhookReceiver) =>
  received.map(({ body }) => v.parse(Body, JSON.parse(body)));

const until = (receiver: WebhookReceiver, type: string) =>
  eventually(`${type} to arrive`, () => bodies(receiver).find((each) => each.type === type));

test("an endpoint gets the signed events of a call in order, with the end last and only once", async (context) => {
  const receiver = await WebhookReceiver.open();
  context.after(() => receiver.close());
  const customer = await server.customer();
  await server.agent(customer, { persona: { greeting: "Good day." } });
  const { secret } = await endpoint(customer, receiver, { includeTranscript: true });
  const caller = await server.call(customer);
  await caller.until(ended);
  await caller.say("count to 3");
  await caller.until(ended);
  await caller.hangUp();
  const end = await until(receiver, "call.ended");
  const [call] = await server.calls(customer);
  assert.equal(end.data["callId"], call?.id);
  assert.equal(end.data["endReason"], "callerLeft");
  assert.match(JSON.stringify(end.data["transcript"]), /Good day/);
  const types = bodies(receiver).map(({ type }) => type);
  assert.equal(types[0], "call.started");
  assert.equal(types.at(-1), "call.ended");
  assert.equal(types.filter((type) => type === "call.ended").length, 1);
  const places = bodies(receiver).map(({ data }) => data["sequence"]);
  assert.deepEqual(
    places,
    places.map((_place, index) => index + 1),
  );
  for (const { headers, body } of receiver.received) new Webhook(secret).verify(body, headers);
});

test("a secret is shown once, and after a rotation both secrets sign", async (context) => {
  const receiver = await WebhookReceiver.open();
  context.after(() => receiver.close());
  const customer = await server.customer();
  const { id, secret } = await endpoint(customer, receiver);
  const shown = await ask(customer, `webhooks/${id}`, undefined, "GET");
  assert.equal(shown.status, 200);
  assert.doesNotMatch(JSON.stringify(shown.answer), /whsec_|sealed/);
  const rotated = v.parse(Created, (await ask(customer, `webhooks/${id}/rotate-secret`)).answer);
  assert.notEqual(rotated.secret, secret);
  assert.equal((await ask(customer, `webhooks/${id}/test`)).status, 200);
  await until(receiver, "webhook.test");
  const [delivery] = receiver.received;
  assert.ok(delivery);
  for (const each of [secret, rotated.secret]) {
    new Webhook(each).verify(delivery.body, delivery.headers);
  }
});

test("deliveries are listed with their responses, and one can be sent again with the same id", async (context) => {
  const receiver = await WebhookReceiver.open();
  context.after(() => receiver.close());
  receiver.answer = (response) => void response.writeHead(200).end("thanks");
  const customer = await server.customer();
  const { id } = await endpoint(customer, receiver);
  await ask(customer, `webhooks/${id}/test`);
  const Deliveries = v.array(
    v.object({ id: v.string(), status: v.number(), attempt: v.number(), answer: v.string() }),
  );
  const delivery = await eventually("the delivery", async () => {
    const { answer } = await ask(customer, `webhooks/${id}/deliveries`, undefined, "GET");
    return v.parse(Deliveries, answer)[0];
  });
  assert.deepEqual([delivery.status, delivery.attempt, delivery.answer], [200, 1, "thanks"]);
  assert.equal((await ask(customer, `webhook-deliveries/${delivery.id}/resend`)).status, 200);
  await eventually("it again", () => (receiver.received.length > 1 ? true : undefined));
  const [first, second] = receiver.received.map(({ headers }) => headers["webhook-id"]);
  assert.equal(first, second);
});

test("a 410 disables the endpoint, notifies the others, and is in the audit trail", async (context) => {
  const [gone, other] = [await WebhookReceiver.open(), await WebhookReceiver.open()];
  context.after(() => [gone, other].map((receiver) => receiver.close()));
  gone.answer = (response) => void response.writeHead(410).end();
  const customer = await server.customer();
  const { id } = await endpoint(customer, gone);
  await endpoint(customer, other, { eventTypes: ["endpoint.disabled"] });
  await ask(customer, `webhooks/${id}/test`);
  const told = await until(other, "endpoint.disabled");
  assert.equal(told.data["endpointId"], id);
  assert.equal((await ask(customer, `webhooks/${id}/test`)).status, 409);
  const { answer } = await ask(customer, "audit", undefined, "GET");
  assert.match(JSON.stringify(answer), /webhook\.disable/);
  const failed = await eventually("the failed job", async () => {
    const page = await ask(customer, "jobs?state=failed", undefined, "GET");
    return v.parse(v.array(v.object({ id: v.string() })), page.answer)[0];
  });
  gone.answer = (response) => void response.writeHead(200).end();
  await ask(customer, `webhooks/${id}`, { state: "active" }, "PATCH");
  assert.equal((await ask(customer, `jobs/${failed.id}/retry`)).status, 200);
  await eventually("the delivery", () => (gone.received.length > 1 ? true : undefined));
});

test("the events of a time range can be sent again", async (context) => {
  const receiver = await WebhookReceiver.open();
  context.after(() => receiver.close());
  const customer = await server.customer();
  await server.agent(customer);
  const { id } = await endpoint(customer, receiver, { eventTypes: ["call.ended"] });
  const caller = await server.call(customer);
  await caller.hangUp();
  await until(receiver, "call.ended");
  const range = { from: "2020-01-01T00:00:00.000Z", to: "2999-01-01T00:00:00.000Z" };
  const replayed = await ask(customer, `webhooks/${id}/replay`, range);
  assert.deepEqual(replayed.answer, { events: 1 });
  await eventually("it again", () => (receiver.received.length > 1 ? true : undefined));
  const [first, second] = receiver.received.map(({ headers }) => headers["webhook-id"]);
  assert.equal(first, second);
});

test("a refused call sends its event", async (context) => {
  const receiver = await WebhookReceiver.open();
  context.after(() => receiver.close());
  const customer = await server.customer();
  await endpoint(customer, receiver);
  await assert.rejects(server.call(customer));
  const { data } = await until(receiver, "call.failed");
  assert.deepEqual([data["isRefused"], data["endReason"]], [true, "agentNotFound"]);
});

const INCOMING = {
  callSid: `CA${"2".repeat(32)}`,
  accountSid: `AC${"1".repeat(32)}`,
  from: "+15550001111",
  to: "+15550002222",
  authToken: AUTH_TOKEN,
};

/** Signed as the vendor does. */
function signedUrl(customer: Customer): string {
  const { pathname, search } = new URL(webhookUrl(server, customer));
  return `${stand.environment["PUBLIC_BASE_URL"]}${pathname}${search}`;
}

test("a placed call first sends its ringing event, and then its start", async (context) => {
  const receiver = await WebhookReceiver.open();
  context.after(() => receiver.close());
  const customer = await server.customer();
  const { id: agentId } = await server.agent(customer);
  const eventTypes = ["call.ringing", "call.started", "call.ended"];
  await endpoint(customer, receiver, { eventTypes });
  const [from, to] = ["+15550490001", "+15550101000"];
  await server.tenancy.phoneNumbers.allow(customer.email, from);
  await server.tenancy.dialTargets.allow(customer.email, "+1555");
  const { status, answer } = await ask(customer, "calls", { agentId, to, from });
  assert.equal(status, 201, JSON.stringify(answer));
  const caller = await stand.of(to, "the answer", (call) => call.caller);
  await until(receiver, "call.started");
  await caller.hangUp();
  await until(receiver, "call.ended");
  const { id } = v.parse(v.object({ id: v.string() }), answer);
  assert.deepEqual(
    bodies(receiver).map(({ type, data }) => [type, data["callId"], data["sequence"]]),
    eventTypes.map((type, index) => [type, id, index + 1]),
  );
  const {
    agentId: calledBy,
    channel,
    direction,
    from: calling,
    to: called,
  } = bodies(receiver)[0]?.data ?? {};
  assert.deepEqual(
    [calledBy, channel, direction, calling, called],
    [agentId, "phone", "outbound", from, to],
  );
});

test("a telephone call that is refused on arrival sends one event, however often its vendor repeats the request", async (context) => {
  const receiver = await WebhookReceiver.open();
  context.after(() => receiver.close());
  const customer = await server.customer();
  await endpoint(customer, receiver);
  for (let time = 0; time < 2; time += 1) {
    await assert.rejects(requestWebhook(signedUrl(customer), INCOMING), CallRefusedByServerError);
  }
  const other = { ...INCOMING, callSid: `CA${"3".repeat(32)}` };
  await assert.rejects(requestWebhook(signedUrl(customer), other), CallRefusedByServerError);
  await eventually("both calls", () => (bodies(receiver).length > 1 ? true : undefined));
  await server.parley.calls.journal.stored();
  const told = bodies(receiver).map(({ type, data }) => [
    type,
    data["endReason"],
    data["isRefused"],
    data["from"],
  ]);
  const refused = ["call.failed", "agentNotFound", true, INCOMING.from];
  assert.deepEqual(told, [refused, refused]);
});

/** A telephone call whose agent is deleted after its first request: the vendor asks `action` what comes next. */
async function callWithoutAgent(context: TestContext) {
  const receiver = await WebhookReceiver.open();
  context.after(() => receiver.close());
  const customer = await server.customer();
  const { id } = await server.agent(customer);
  await endpoint(customer, receiver, { eventTypes: ["call.failed"] });
  const { action = "" } = await requestWebhook(signedUrl(customer), INCOMING);
  await server.tenancy.agents.remove(customer.tenant, id);
  return { receiver, customer, action };
}

test("a telephone call that is refused when its vendor requests the next step sends one event", async (context) => {
  const { receiver, action } = await callWithoutAgent(context);
  for (let time = 0; time < 2; time += 1) {
    await assert.rejects(requestWebhook(action, INCOMING, "in-progress"), CallRefusedByServerError);
  }
  const { data } = await until(receiver, "call.failed");
  await server.parley.calls.journal.stored();
  assert.deepEqual(
    [data["endReason"], data["isRefused"], data["direction"], data["from"], data["to"]],
    ["agentNotFound", true, "inbound", INCOMING.from, INCOMING.to],
  );
  assert.equal(receiver.received.length, 1);
});

test("a telephone caller whose refusal is not stored is told to call again later", async (context) => {
  const { customer, action } = await callWithoutAgent(context);
  const refused = context.mock.method(server.database.calls, "refuse", () =>
    Promise.reject(new Error("the event does not fit")),
  );
  const later = { message: /try again later/ };
  await assert.rejects(requestWebhook(signedUrl(customer), INCOMING), later);
  await assert.rejects(requestWebhook(action, INCOMING, "in-progress"), later);
  assert.equal(refused.mock.callCount(), 2);
});

test("an invalid endpoint is refused with the name of the field, and no other organization sees an endpoint", async (context) => {
  const receiver = await WebhookReceiver.open();
  context.after(() => receiver.close());
  const [customer, other] = [await server.customer(), await server.customer()];
  const wrong = [
    { url: "ftp://example.com" },
    { url: "https://user:word@example.com" },
    { eventTypes: [] },
    { eventTypes: ["webhook.test"] },
  ];
  for (const fields of wrong) {
    const body = { name: "CRM", url: receiver.url, eventTypes: ["call.ended"], ...fields };
    const { status, answer } = await ask(customer, "webhooks", body);
    assert.equal(status, 400);
    assert.match(JSON.stringify(answer), new RegExp(Object.keys(fields)[0] ?? ""));
  }
  const { id } = await endpoint(customer, receiver);
  assert.equal((await ask(other, `webhooks/${id}`, undefined, "GET")).status, 404);
  assert.equal((await ask(other, `webhooks/${id}/test`)).status, 404);
  assert.equal((await ask(customer, `webhooks/${id}`, undefined, "DELETE")).status, 200);
  assert.deepEqual((await ask(customer, "webhooks", undefined, "GET")).answer, []);
});
