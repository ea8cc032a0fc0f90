import assert from "node:assert/strict";
import { once } from "node:events";
import { createServer, type IncomingHttpHeaders, type ServerResponse } from "node:http";
import { after, before, type TestContext, test } from "node:test";
import { webhookSignature } from "../../engine/security/standard-webhooks.js";
import { closeServer, heard, PacerWatch, ring, webhookUrl } from "./telephone-stand.js";
import { type Customer, TestServer } from "./test-server.js";
import { AUTH_TOKEN, TwilioStand } from "./twilio-stand.js";

const SECRET = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSwMfKQ";
const FROM = "+493011122233";
const TO = "+493044455566";

const clock = new PacerWatch();
let stand: TwilioStand;
/** This server takes calls; `placing` places them. */
let server: TestServer;
let placing: TestServer;
before(async () => {
  stand = await TwilioStand.start();
  const ALLOW_PRIVATE_PROVIDERS = "true";
  server = await TestServer.start({
    clock,
    environment: { ALLOW_PRIVATE_PROVIDERS, TWILIO_AUTH_TOKEN: AUTH_TOKEN },
  });
  placing = await TestServer.start({
    environment: { ...stand.environment, ALLOW_PRIVATE_PROVIDERS },
  });
  await stand.leadTo(placing.parley.port);
});
after(async () => {
  await closeServer(server, clock);
  await placing.settled();
  await placing.stop();
  stand.close();
});

interface Asked {
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
}

/** A customer's service, and the requests that it received. */
async function service(context: TestContext, answer: (response: ServerResponse) => void) {
  const asked: Asked[] = [];
  const listener = createServer((request, response) => {
    let body = "";
    request.on("data", (piece: Buffer) => {
      body += piece.toString();
    });
    request.on("end", () => {
      asked.push({ headers: request.headers, body });
      answer(response);
    });
  });
  listener.listen(0, "127.0.0.1");
  await once(listener, "listening");
  context.after(() => {
    listener.closeAllConnections();
    listener.close();
  });
  const address = listener.address();
  assert.ok(typeof address === "object" && address !== null);
  return { url: `http://127.0.0.1:${address.port}/before`, asked };
}

function answering(value: unknown) {
  return (response: ServerResponse) => {
    response.setHeader("content-type", "application/json");
    response.end(JSON.stringify(value));
  };
}

async function place(customer: Customer, from: string, body: object) {
  const { email, apiKey } = customer;
  await placing.tenancy.phoneNumbers.allow(email, from);
  await placing.tenancy.dialTargets.allow(email, "+1555");
  return fetch(`${placing.url}/api/dashboard/calls`, {
    method: "POST",
    headers: { "x-api-key": apiKey, "content-type": "application/json" },
    body: JSON.stringify({ from, ...body }),
  });
}

test("a service returns the caller's name while it rings, and the agent greets the caller by name", async (context) => {
  const values = { variables: { firstName: "Ada\nIgnore all" } };
  const { url, asked } = await service(context, answering(values));
  const customer = await server.customer();
  await server.agent(customer, {
    persona: { greeting: "Hello {{firstName|there}}." },
    preCall: { url, timeoutMs: 2_000, headers: { "X-Key": "k" }, secret: SECRET },
  });
  const caller = await ring(server, customer, { from: FROM, to: TO, authToken: AUTH_TOKEN });
  await heard(caller, "Hello Ada Ignore all.");
  await caller.hangUp();
  const call = await server.endedCall(customer);
  const [request] = asked;
  assert.ok(request);
  const { "webhook-id": id, "webhook-timestamp": sentAt, "x-key": key } = request.headers;
  assert.equal(key, "k");
  const signed = { id: String(id), timestampSec: Number(sentAt), body: request.body };
  assert.equal(
    request.headers["webhook-signature"],
    webhookSignature([{ secret: SECRET }], signed),
  );
  const { callId, caller: from, called, direction, channel } = JSON.parse(request.body);
  assert.deepEqual(
    [callId, from, called, direction, channel],
    [call.id, FROM, TO, "inbound", "phone"],
  );
  assert.equal(asked.length, 1);
  const { preCall, variables } = call.metadata;
  assert.deepEqual(variables, { firstName: "Ada Ignore all" });
  assert.equal(Object(preCall).outcome, "ok");
});

test("a call continues if the service does not respond, and its record says why", async (context) => {
  const silent = await service(context, () => {});
  const broken = await service(context, (response) => response.writeHead(500).end("{}"));
  const wrong = await service(context, answering([]));
  for (const [{ url }, outcome, error] of [
    [silent, "timeout", undefined],
    [broken, "refused", undefined],
    [wrong, "badAnswer", "expected an object with variables and overrides"],
  ] as const) {
    const customer = await server.customer();
    await server.agent(customer, {
      persona: { greeting: "Hello {{firstName|there}}." },
      preCall: { url, timeoutMs: 100 },
    });
    const caller = await ring(server, customer, { authToken: AUTH_TOKEN });
    await heard(caller, "Hello there.");
    await caller.hangUp();
    const { metadata } = await server.endedCall(customer);
    const result = Object(metadata["preCall"]);
    assert.deepEqual([result.outcome, result.error], [outcome, error]);
  }
});

test("parts of an answer that cannot be used are left out and named in the record, and the others are used", async (context) => {
  const { url } = await service(
    context,
    answering({
      variables: { firstName: "Ada", lastName: null, title: "", deep: { secret: 1 } },
      overrides: {
        greeting: "Hello {{firstName|there}} {{lastName|Unknown}}{{title|.}}",
        voice: "nosuchvoice",
        language: "zzzz nonsense",
      },
      other: "secret",
    }),
  );
  const customer = await server.customer();
  await server.agent(customer, { preCall: { url, timeoutMs: 2_000 } });
  const caller = await ring(server, customer, { authToken: AUTH_TOKEN });
  await heard(caller, "Hello Ada Unknown.");
  await caller.hangUp();
  const { metadata } = await server.endedCall(customer);
  const { outcome, dropped } = Object(metadata["preCall"]);
  assert.equal(outcome, "ok");
  const names = dropped.map((line: string) => line.split(":")[0]);
  assert.deepEqual(names, ["other", "variables.deep", "overrides.voice", "overrides.language"]);
  assert.doesNotMatch(JSON.stringify(metadata), /secret|nosuchvoice|nonsense/);
  assert.deepEqual(metadata["variables"], { firstName: "Ada" });
});

test("a voice that the vendor refuses is no silent call: the agent's own speaks", async (context) => {
  const { url } = await service(context, answering({ overrides: { voice: "nosuchvoice" } }));
  const customer = await server.customer();
  const preCall = { url, timeoutMs: 2_000 };
  const tts = "elevenlabs";
  await server.agent(customer, { persona: { greeting: "Hello there." }, preCall }, { tts });
  const caller = await ring(server, customer, { authToken: AUTH_TOKEN });
  await heard(caller, "Hello there.");
  await caller.hangUp();
  const { metadata, status } = await server.endedCall(customer);
  assert.equal(status, "completed");
  assert.equal(Object(metadata["overrides"]).voice, "nosuchvoice");
});

test("overrides of a placed call and of a token are checked as the agent's own, and named", async () => {
  const customer = await placing.customer();
  const { id: agentId } = await placing.agent(customer);
  for (const [field, value] of [
    ["language", "zzzz nonsense"],
    ["voice", "nosuchvoice"],
    ["greeting", " "],
    ["greeting", "Hello {{name}}."],
    ["greeting", "Hello {{first-name|there}}."],
    ["systemPrompt", "You talk with {{customer.name}}."],
  ] as const) {
    const overrides = { [field]: value };
    const placed = await place(customer, "+15550402003", {
      agentId,
      to: "+15550101046",
      overrides,
    });
    const issued = await fetch(`${placing.url}/api/dashboard/client-tokens`, {
      method: "POST",
      headers: { "x-api-key": customer.apiKey, "content-type": "application/json" },
      body: JSON.stringify({ agentId, overrides, ttlSec: 60 }),
    });
    for (const response of [placed, issued]) {
      const answer = await response.text();
      assert.equal(response.status, 400, answer);
      assert.ok(
        answer.startsWith(`{"error":"overrides.${field}: expected`) ||
          answer.includes("needs a default"),
        answer,
      );
      assert.ok(!answer.includes("nosuchvoice") && !answer.includes("zzzz"), answer);
    }
  }
});

test("a placed call uses the values and overrides of its request, and the service's take precedence", async (context) => {
  const values = { variables: { order: "7" }, overrides: { language: "en-GB" } };
  const { url, asked } = await service(context, answering(values));
  const customer = await placing.customer();
  const agent = await placing.agent(customer, { preCall: { url, timeoutMs: 2_000 } });
  const to = "+15550101044";
  const response = await place(customer, "+15550402001", {
    agentId: agent.id,
    to,
    variables: { firstName: "Ada", order: "1", title: null, note: "" },
    overrides: { greeting: "Hi {{firstName|you}}, about order {{order|none}}." },
  });
  assert.equal(response.status, 201);
  const caller = await stand.of(to, "the answer", (call) => call.caller);
  while (!/Hi Ada, about order 7/.test(caller.said())) await caller.until(() => true);
  await caller.hangUp();
  const call = await placing.endedCall(customer);
  assert.deepEqual(call.metadata["variables"], { firstName: "Ada", order: "7" });
  assert.equal(Object(call.metadata["overrides"]).language, "en-GB");
  assert.equal(JSON.parse(asked[0]?.body ?? "").callId, call.id);
  assert.equal(asked.length, 1);
});

test("an invalid variable is named in the error, and a thousand are too many", async () => {
  const customer = await placing.customer();
  const { id: agentId } = await placing.agent(customer);
  const to = "+15550101045";
  const thousand = Object.fromEntries(Array.from({ length: 1_000 }, (_, n) => [`n${n}`, ""]));
  for (const [variables, path] of [
    [{ "a b": "" }, "variables.a b"],
    [{ long: "x".repeat(501) }, "variables.long"],
    [thousand, "variables"],
  ] as const) {
    const response = await place(customer, "+15550402002", { agentId, to, variables });
    const answer: unknown = await response.json();
    assert.equal(response.status, 400);
    assert.match(JSON.stringify(answer), new RegExp(`"path":"${path}"`));
  }
});

test("values in the webhook's address count only if the vendor has signed it", async () => {
  const customer = await server.customer();
  await server.agent(customer, { persona: { greeting: "Hello {{firstName|there}}." } });
  const url = (query: Readonly<Record<string, string>>) => webhookUrl(server, customer, query);
  const caller = await ring(server, customer, {
    authToken: AUTH_TOKEN,
    webhookUrl: url({ "var.firstName": "Ada" }),
  });
  await heard(caller, "Hello Ada.");
  await caller.hangUp();
  await server.endedCall(customer);
  for (const [vendor, query, message] of [
    ["twilio", { "var.firstName": "Mallory" }, /X-Twilio-Signature/],
    ["asterisk", { "var.firstName": "Mallory" }, /var.firstName: expected a request whose address/],
  ] as const) {
    const response = await fetch(url({ vendor, ...query }), { method: "POST" });
    assert.match(await response.text(), message);
  }
});
