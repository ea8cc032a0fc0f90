import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import type { Caller } from "../../engine/sandbox/caller.js";
import type { Received } from "../../engine/sandbox/caller-events.js";
import { ended, repliesOf, spoke, stopped, textOf, understood } from "./events.js";
import { type Customer, TestServer } from "./test-server.js";

const GREETING = "Hello there.";
const DAY_MS = 24 * 60 * 60 * 1_000;

let server: TestServer;
before(async () => {
  server = await TestServer.start();
});
after(() => server.close());

async function newCustomer(): Promise<Customer> {
  const customer = await server.customer();
  await server.agent(customer, { persona: { greeting: GREETING } });
  return customer;
}

/** Says the words and returns the beginning of the reply; the caller does not listen to its end. */
async function ask(caller: Caller, words: string): Promise<string> {
  const isAnswer = (event: Received) =>
    event.type === "transcript" && event.payload.role === "assistant";
  await caller.say(words);
  // The previous reply may end while the caller speaks.
  await caller.until(understood);
  const text = textOf(await caller.until(isAnswer));
  await caller.play("listening to its first words", Buffer.alloc(22_400));
  return text;
}

async function assertFresh(customer: Customer, sessionId: string): Promise<void> {
  const caller = await server.call(customer, { sessionId });
  assert.notEqual(caller.historyKey, sessionId);
  await caller.until(ended);
  assert.deepEqual(repliesOf(caller), [GREETING]);
  await caller.hangUp();
}

describe("a client that comes back with its session_id", { concurrency: true }, () => {
  test("continues the conversation without a greeting, and the LLM sees the earlier words", async () => {
    const customer = await newCustomer();
    const first = await server.call(customer);
    await first.until(ended);
    await ask(first, "my name is Ada");
    await first.hangUp();
    const sessionId = first.historyKey ?? "";
    await server.endedCalls(customer, 1);

    const second = await server.call(customer, { sessionId });
    assert.equal(second.historyKey, sessionId);
    assert.match(await ask(second, "what is my name"), /^Your name is Ada/);
    await second.hangUp();
    const calls = await server.endedCalls(customer, 2);
    assert.equal(new Set(calls.map((call) => call.sessionId)).size, 2);
    assert.equal(calls[0]?.metadata["continuedBy"], calls[1]?.id);
    assert.equal(calls[1]?.metadata["continues"], calls[0]?.id);
    const [said, answered] = calls[1]?.transcript ?? [];
    assert.equal(said?.text, "what is my name", "no second greeting, and a transcript of its own");
    assert.notEqual(answered?.role, "user");
  });

  test("remembers the caller's name after thirty messages, and so does the call that continues it", async () => {
    const customer = await newCustomer();
    const first = await server.call(customer);
    await first.until(ended);
    await ask(first, "my name is Ada");
    for (let turn = 0; turn < 15; turn += 1) await ask(first, `say ${turn}`);
    assert.match(await ask(first, "what is my name"), /^Your name is Ada/);
    const sessionId = first.historyKey ?? "";
    await first.hangUp();
    await server.endedCalls(customer, 1);
    const orgId = customer.tenant.organization.id;
    const kept = await server.database.history.load(orgId, sessionId, 0);
    assert.doesNotMatch(JSON.stringify(kept), /my name is Ada/, "it left the window");
    const summary = await server.database.history.loadSummary({ orgId, key: sessionId }, 0);
    assert.match(summary ?? "", /my name is Ada/);

    const second = await server.call(customer, { sessionId });
    assert.match(await ask(second, "what is my name"), /^Your name is Ada/);
    await second.hangUp();
    const [call] = await server.endedCalls(customer, 2);
    assert.doesNotMatch(JSON.stringify(call?.transcript), /The caller said|Earlier in this/);
  });

  test("continues after a broken connection too", async () => {
    const customer = await newCustomer();
    const first = await server.call(customer);
    await first.until(ended);
    await ask(first, "call me Grace");
    first.drop();
    await server.endedCalls(customer, 1);
    const second = await server.call(customer, { sessionId: first.historyKey ?? "" });
    assert.match(await ask(second, "who am i"), /Grace/);
    await second.hangUp();
  });

  test("keeps the words of both calls if it comes back twice at the same time", async () => {
    const customer = await newCustomer();
    const first = await server.call(customer);
    await first.until(ended);
    const sessionId = first.historyKey ?? "";
    await first.hangUp();
    await server.endedCalls(customer, 1);

    const callers = [
      await server.call(customer, { sessionId }),
      await server.call(customer, { sessionId }),
    ];
    const words = ["my name is Ada", "the weather is fine"];
    for (const [index, caller] of callers.entries()) await ask(caller, words[index] ?? "");
    for (const caller of callers) await caller.hangUp();
    await server.endedCalls(customer, 3);

    const later = await server.call(customer, { sessionId });
    assert.match(await ask(later, "what is my name"), /^Your name is Ada/);
    await later.hangUp();
    const orgId = customer.tenant.organization.id;
    const kept = await server.database.history.load(orgId, sessionId, 0);
    const said = kept?.map(({ content }) => content).join(" ") ?? "";
    for (const each of words) assert.ok(said.includes(each), each);
  });

  test("keeps only the heard part of an interrupted reply", async () => {
    const customer = await newCustomer();
    const caller = await server.call(customer);
    await caller.until(ended);
    await caller.say("count to 30");
    await caller.until(spoke);
    await caller.play("a second of listening", Buffer.alloc(32_000));
    const stop = caller.until(stopped);
    await caller.say("say ok");
    await stop;
    await caller.until(ended);
    await caller.hangUp();
    const call = await server.endedCall(customer);
    const orgId = customer.tenant.organization.id;
    const history = await server.database.history.load(orgId, caller.historyKey ?? "", 0);
    assert.deepEqual(
      history?.map(({ role, content }) => `${role}: ${content}`),
      call.transcript.map(({ role, text }) => `${role}: ${text}`),
    );
    assert.doesNotMatch(history?.[2]?.content ?? "", /Number 9/);
  });

  test("starts a new conversation with the key of another organization", async () => {
    const customer = await newCustomer();
    const stranger = await newCustomer();
    const theirs = await server.call(customer);
    await theirs.until(ended);
    await theirs.hangUp();
    await server.endedCalls(customer, 1);
    await assertFresh(stranger, theirs.historyKey ?? "");
  });

  test("starts a new conversation with an unknown key", async () => {
    const customer = await newCustomer();
    await assertFresh(customer, crypto.randomUUID());
  });

  test("starts a new conversation a day later", async () => {
    const customer = await newCustomer();
    const orgId = customer.tenant.organization.id;
    const [old, young] = [crypto.randomUUID(), crypto.randomUUID()];
    const messages = [{ role: "user", content: "call me Ada" } as const];
    const { history } = server.database;
    await history.replace({ orgId, key: old }, [], messages, Date.now() - DAY_MS - 1_000);
    await history.replace({ orgId, key: young }, [], messages, Date.now() - DAY_MS + 60_000);
    await assertFresh(customer, old);
    const caller = await server.call(customer, { sessionId: young });
    assert.match(await ask(caller, "who am i"), /Ada/);
    await caller.hangUp();
  });
});
