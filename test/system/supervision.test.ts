import assert from "node:assert/strict";
import { connect } from "node:net";
import { after, before, test } from "node:test";
import { STREAM_BACKLOG_BYTES_MAX } from "../../api/http/request-context.js";
import { CallWatcher } from "./call-watcher.js";
import { closeOf, ended } from "./events.js";
import { closeOfPhone, heard, ring } from "./telephone-stand.js";
import { type Customer, TestServer } from "./test-server.js";

let server: TestServer;
before(async () => {
  server = await TestServer.start();
});
after(() => server.close());

const watch = ({ apiKey }: Customer, callId?: string) =>
  CallWatcher.open({ url: server.url, apiKey, ...(callId === undefined ? {} : { callId }) });

async function ask({ apiKey }: Customer, path: string, method = "POST") {
  const response = await fetch(`${server.url}/api/dashboard/calls/${path}`, {
    method,
    headers: { "x-api-key": apiKey },
    signal: AbortSignal.timeout(10_000),
  });
  const body: unknown =
    response.status === 200 && method === "GET" ? undefined : await response.json();
  return { status: response.status, error: String(Object(body).error ?? "") };
}

const liveId = async (customer: Customer) => {
  const [call] = await server.calls(customer);
  assert.ok(call);
  return call.id;
};

test("a watcher sees calls begin, continue and end, and gets the words of the watched call only", async () => {
  const customer = await server.customer();
  const agent = await server.agent(customer, { persona: { greeting: "Good day." } });
  const all = await watch(customer);
  const caller = await server.call(customer);
  const began = await all.until("began");
  const callId = await liveId(customer);
  assert.deepEqual(
    [began["callId"], began["agentId"], began["channel"]],
    [callId, agent.id, "web"],
  );
  const one = await watch(customer, callId);
  assert.equal((await one.until("present"))["callId"], callId);
  await caller.until(ended);
  await caller.say("count to 3");
  await one.until("words", ({ role, isFinal }) => role === "user" && isFinal === true);
  await one.until(
    "words",
    ({ role, text }) => role === "assistant" && /Number 3/.test(String(text)),
  );
  const isOfReply = ({ metrics }: Readonly<Record<string, unknown>>) =>
    Object(metrics).turnCount === 1;
  await all.until("turn", isOfReply);
  await one.until("turn", isOfReply);
  const stored = await server.database.calls.findById(customer.tenant.organization.id, callId);
  assert.match(
    stored?.transcript.at(-1)?.text ?? "",
    /Number 3/,
    "the events match the stored record",
  );
  await caller.hangUp();
  const end = { callId, status: "completed", endReason: "callerLeft" };
  assert.deepEqual([await all.until("ended"), await one.until("ended")], [end, end]);
  assert.deepEqual(all.of("words"), []);
  for (const watcher of [all, one]) watcher.close();
});

test("calls of other organizations can be neither watched nor ended, nor any call without permission", async () => {
  const [customer, other] = [await server.customer(), await server.customer()];
  await server.agent(customer);
  const prying = await watch(other);
  const caller = await server.call(customer);
  const callId = await liveId(customer);
  assert.equal((await ask(other, `${callId}/events`, "GET")).status, 404);
  assert.equal((await ask(other, `${callId}/end`)).status, 404);
  const { rawKey } = await server.tenancy.apiKeys.create(customer.tenant.organization.id, {
    name: "calls only",
    scopes: ["voice"],
  });
  const caller2 = { ...customer, apiKey: rawKey };
  for (const [path, method] of [
    ["events", "GET"],
    [`${callId}/events`, "GET"],
    [`${callId}/end`, "POST"],
  ] as const) {
    assert.equal((await ask(caller2, path, method)).status, 403);
  }
  await caller.hangUp();
  await server.endedCall(customer);
  assert.deepEqual(
    prying.events.map(({ name }) => name),
    ["watching"],
  );
  prying.close();
});

test("a call that a user ends says goodbye first, in a browser and on the telephone", async () => {
  const customer = await server.customer();
  await server.agent(customer, { persona: { greeting: "Good day." } });
  const caller = await server.call(customer);
  const webId = await liveId(customer);
  const phone = await ring(server, customer);
  await heard(phone, "Good day.");
  const { id: phoneId } = await server.changes.until("the record of the call", async () =>
    (await server.calls(customer)).find(({ channel }) => channel === "phone"),
  );
  for (const id of [webId, phoneId]) assert.equal((await ask(customer, `${id}/end`)).status, 200);
  await heard(phone, "I have to end the call now");
  assert.equal((await closeOfPhone(phone)).code, 1000);
  assert.equal((await closeOf(caller)).code, 1000);
  const words = (await caller.playedReplies()).map(({ text }) => text).join(" ");
  assert.match(words, /I have to end the call now/);
  const records = await server.endedCalls(customer, 2);
  for (const { status, metadata } of records) {
    assert.deepEqual([status, metadata["endReason"]], ["completed", "organizationEnded"]);
    assert.deepEqual(metadata["endedBy"], { type: "apiKey", id: customer.apiKeyId });
  }
  const again = await ask(customer, `${webId}/end`);
  assert.deepEqual([again.status, again.error], [409, "the call has already ended"]);
});

test("a watcher that does not read its events is dropped", async () => {
  const customer = await server.customer();
  const { feed } = server.parley.calls;
  const socket = connect(server.parley.port, "127.0.0.1");
  socket.pause();
  socket.write(
    `GET /api/dashboard/calls/events HTTP/1.1\r\nhost: x\r\nx-api-key: ${customer.apiKey}\r\n\r\n`,
  );
  await server.changes.until("the watcher", () => {
    setImmediate(server.changes.tell);
    return feed.watcherCount === 1;
  });
  const endReason = "x".repeat(STREAM_BACKLOG_BYTES_MAX);
  const orgId = customer.tenant.organization.id;
  await server.changes.until("the end of the watch", () => {
    feed.publish(orgId, { type: "ended", callId: "a", status: "failed", endReason });
    setImmediate(server.changes.tell);
    return feed.watcherCount === 0;
  });
  socket.destroy();
});

test("watchers do not keep a server from stopping", async () => {
  const stopping = await TestServer.start();
  const customer = await stopping.customer();
  const watcher = await CallWatcher.open({ url: stopping.url, apiKey: customer.apiKey });
  const stopped = stopping.stop();
  await watcher.over();
  await stopped;
});
