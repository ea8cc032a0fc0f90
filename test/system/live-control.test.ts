import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { askToListen, CallListener } from "./call-listener.js";
import { CallWatcher } from "./call-watcher.js";
import { ended } from "./events.js";
import { heard, ring } from "./telephone-stand.js";
import { type Customer, TestServer } from "./test-server.js";

let server: TestServer;
before(async () => {
  server = await TestServer.start();
});
after(() => server.close());

async function command({ apiKey }: Customer, callId: string, name: string, body?: object) {
  const response = await fetch(`${server.url}/api/dashboard/calls/${callId}/${name}`, {
    method: "POST",
    headers: { "x-api-key": apiKey, "content-type": "application/json" },
    ...(body !== undefined && { body: JSON.stringify(body) }),
  });
  const { code, success } = Object(await response.json());
  return { status: response.status, answer: success ?? code };
}
const DONE = { status: 200, answer: true };

const liveId = async (customer: Customer): Promise<string> => {
  const [call] = await server.calls(customer);
  assert.ok(call);
  return call.id;
};

const headersOf = ({ apiKey }: Customer) => ({ "x-api-key": apiKey });

test("a user makes the agent of a web call say something, and gives its LLM a note", async () => {
  const customer = await server.customer();
  await server.agent(customer, { persona: { greeting: "Good day." } });
  const caller = await server.call(customer);
  await caller.until(ended);
  const callId = await liveId(customer);
  const said = caller.until(ended);
  assert.deepEqual(await command(customer, callId, "say", { text: "We close soon." }), DONE);
  await said;
  const note = { text: "The parcel\nwaits in Berlin." };
  assert.deepEqual(await command(customer, callId, "context", note), DONE);
  await caller.say("where waits the parcel");
  await caller.until(ended);
  await caller.hangUp();
  const { transcript, metadata } = await server.endedCall(customer);
  assert.ok(transcript.some(({ role, text }) => role === "assistant" && text === "We close soon."));
  assert.equal(transcript.at(-1)?.text, "The parcel waits in Berlin.");
  assert.match(JSON.stringify(metadata["turns"]), /"kind":"announcement"/);
  assert.deepEqual(metadata["controlledBy"], { type: "apiKey", id: customer.apiKeyId });
  const { items } = await server.database.audit.list(customer.tenant.organization.id, {
    skip: 0,
    limit: 2,
  });
  assert.deepEqual(
    items.map(({ action, targetId, actor }) => [action, targetId, actor]),
    ["call.addContext", "call.say"].map((action) => [action, callId, metadata["controlledBy"]]),
  );
  assert.doesNotMatch(JSON.stringify(items), /close|parcel/);
  assert.deepEqual(await command(customer, callId, "say", { text: "Too late." }), {
    status: 409,
    answer: "call_ended",
  });
});

test("a muted agent on the telephone neither hears nor speaks until it is unmuted", async () => {
  const customer = await server.customer();
  await server.agent(customer, { persona: { greeting: "Good day." } });
  const phone = await ring(server, customer);
  await heard(phone, "Good day.");
  const callId = await liveId(customer);
  const watcher = await CallWatcher.open({ url: server.url, apiKey: customer.apiKey, callId });
  assert.equal((await watcher.until("present"))["isMuted"], false);
  assert.deepEqual(await command(customer, callId, "mute"), DONE);
  await watcher.until("muted", ({ isMuted }) => isMuted === true);
  const late = await CallWatcher.open({ url: server.url, apiKey: customer.apiKey, callId });
  assert.equal((await late.until("present"))["isMuted"], true);
  void phone.say("count to 3");
  await watcher.until("words", ({ role, isFinal }) => role === "user" && isFinal === true);
  assert.deepEqual(await command(customer, callId, "say", { text: "A colleague speaks." }), DONE);
  await heard(phone, "A colleague speaks.");
  void phone.say("count to 2");
  await watcher.until("words", ({ text, isFinal }) => text === "count to 2" && isFinal === true);
  assert.doesNotMatch(phone.playedText(), /Number/);
  assert.deepEqual(await command(customer, callId, "unmute"), DONE);
  await heard(phone, "Number 2.");
  for (const each of [watcher, late]) each.close();
  void phone.hangUp();
  await server.endedCall(customer);
});

test("a listener hears the caller on the left and the agent on the right, in web and telephone calls", async () => {
  const customer = await server.customer();
  await server.agent(customer, { persona: { greeting: "Good day." } });
  const caller = await server.call(customer);
  await caller.until(ended);
  const callId = await liveId(customer);
  const options = { url: server.url, callId, headers: headersOf(customer) };
  const web = await CallListener.open(options);
  await web.changes.until("the first sound", () => web.durationMs > 0 || undefined);
  assert.equal(web.rateHz, 16_000);
  await caller.say("count to 2");
  await caller.until(ended);
  await web.changes.until("the answer", () => /Number 2/.test(web.rightWords) || undefined);
  assert.match(web.leftWords, /count to 2/);
  await caller.hangUp();
  await web.changes.until("the end", () => web.closed);
  assert.deepEqual(web.closed, { code: 1000, reason: "the call has ended" });
  await server.endedCall(customer);
  const entries = await server.database.audit.list(customer.tenant.organization.id, {
    skip: 0,
    limit: 1,
  });
  const [entry] = entries.items;
  assert.deepEqual(
    [entry?.action, entry?.targetId, entry?.actor],
    ["call.listen", callId, { type: "apiKey", id: customer.apiKeyId }],
  );
  assert.equal((await askToListen(options)).status, 409);
});

test("a telephone call can be listened to, but only with the permission to", async () => {
  const [customer, other] = [await server.customer(), await server.customer()];
  await server.agent(customer, { persona: { greeting: "Good day." } });
  const phone = await ring(server, customer);
  await heard(phone, "Good day.");
  const callId = await liveId(customer);
  const at = { url: server.url, callId };
  assert.equal((await askToListen({ ...at, headers: headersOf(other) })).status, 404);
  const { rawKey } = await server.tenancy.apiKeys.create(customer.tenant.organization.id, {
    name: "calls only",
    scopes: ["voice"],
  });
  assert.equal((await askToListen({ ...at, headers: { "x-api-key": rawKey } })).status, 403);
  const listener = await CallListener.open({ ...at, headers: headersOf(customer) });
  await listener.changes.until("the first sound", () => listener.rateHz || undefined);
  void phone.say("count to 2");
  await listener.changes.until(
    "the answer",
    () => /Number 2/.test(listener.rightWords) || undefined,
  );
  assert.equal(listener.rateHz, 8_000);
  assert.match(listener.leftWords, /count to 2/);
  const answer = await askToListen({ ...at, headers: headersOf(customer) });
  const { path } = Object(await answer.json());
  const address = `${server.url.replace("http", "ws")}${path}`;
  const first = new CallListener(address);
  await first.changes.until("the first sound", () => first.rateHz || undefined);
  const second = new CallListener(address);
  await second.changes.until("the refusal", () => second.closed);
  assert.deepEqual(second.closed, { code: 4001, reason: "token: it was used" });
  const forged = new CallListener(`${address}x`);
  await forged.changes.until("the refusal", () => forged.closed);
  assert.deepEqual(forged.closed, { code: 4001, reason: "token: wrong" });
  for (const each of [listener, first]) each.close();
  void phone.hangUp();
  await server.endedCall(customer);
});

for (const channel of ["web", "telephone"] as const) {
  test(`two listeners hear what people order in a ${channel} call until its end; one that leaves disturbs nobody`, async () => {
    const customer = await server.customer();
    const callEndedByOrganization = "Goodbye and thank you.";
    const persona = { greeting: "Good day.", stockPhrases: { callEndedByOrganization } };
    await server.agent(customer, { persona });
    if (channel === "web") await (await server.call(customer)).until(ended);
    else await heard(await ring(server, customer), "Good day.");
    const callId = await liveId(customer);
    const options = { url: server.url, callId, headers: headersOf(customer) };
    const listeners = [await CallListener.open(options), await CallListener.open(options)];
    const [first, second] = listeners;
    assert.ok(first !== undefined && second !== undefined);
    const isHeardBy = (listener: CallListener, words: string) =>
      listener.changes.until(
        words,
        () => listener.rateHz > 0 && listener.rightWords.includes(words),
      );
    assert.deepEqual(await command(customer, callId, "mute"), DONE);
    assert.deepEqual(await command(customer, callId, "say", { text: "We close soon." }), DONE);
    for (const listener of listeners) await isHeardBy(listener, "We close soon.");
    first.close();
    assert.deepEqual(await command(customer, callId, "unmute"), DONE);
    assert.deepEqual(await command(customer, callId, "say", { text: "Really soon." }), DONE);
    await isHeardBy(second, "Really soon.");
    assert.deepEqual(await command(customer, callId, "end"), DONE);
    await second.changes.until("the end", () => second.closed);
    assert.deepEqual(second.closed, { code: 1000, reason: "the call has ended" });
    assert.match(second.rightWords, /Goodbye and thank you\./);
    await server.endedCall(customer);
  });
}

test("a caller who leaves while people order things ends the call for them and for listeners, and each order that was taken has its entry", async () => {
  const customer = await server.customer();
  await server.agent(customer, { persona: { greeting: "Good day." } });
  const caller = await server.call(customer);
  await caller.until(ended);
  const callId = await liveId(customer);
  const options = { url: server.url, callId, headers: headersOf(customer) };
  const listeners = [await CallListener.open(options), await CallListener.open(options)];
  const spoken = caller.until(({ type }) => type === "audio");
  await command(customer, callId, "say", {
    text: "This is said for quite a while, as it is long.",
  });
  await spoken;
  const orders: readonly (readonly [string, object?])[] = [
    ["say", { text: "Too late." }],
    ["context", { text: "The caller is in a hurry." }],
    ["mute"],
    ["unmute"],
    ["end"],
  ];
  const ordered = orders.map(([name, body]) => command(customer, callId, name, body));
  caller.drop();
  const outcomes = await Promise.all(ordered);
  for (const { status, answer } of outcomes) {
    assert.ok(answer === true ? status === 200 : status === 409, `${status} ${answer}`);
  }
  for (const listener of listeners) {
    await listener.changes.until("the end", () => listener.closed);
    assert.equal(listener.closed?.code, 1000);
  }
  await server.endedCall(customer);
  for (const [name, body] of [...orders, ["listen"] as const]) {
    assert.deepEqual(await command(customer, callId, name, body), {
      status: 409,
      answer: "call_ended",
    });
  }
  const { items } = await server.database.audit.list(customer.tenant.organization.id, {
    skip: 0,
    limit: 100,
  });
  const actions = items.map(({ action }) => action);
  const entries = ["call.say", "call.addContext", "call.mute", "call.unmute", "call.end"];
  for (const [at, action] of entries.entries()) {
    // The first text was ordered before the caller left.
    const least = (outcomes[at]?.status === 200 ? 1 : 0) + (action === "call.say" ? 1 : 0);
    const count = actions.filter((each) => each === action).length;
    assert.ok(count >= least, `${action} in ${actions.join()}`);
  }
});
