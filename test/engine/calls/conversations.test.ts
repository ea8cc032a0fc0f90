import assert from "node:assert/strict";
import { type TestContext, test } from "node:test";
import { Conversations } from "../../../engine/calls/conversations.js";
import { temporaryJournal } from "./temporary-journal.js";

const KEY = "8e2a5c3e-4f1d-4c51-9d0b-7c0a3e9a4f11";
const BY_KEY = { historyKey: KEY };
const HISTORY = [{ role: "user", content: "My name is Ada." }] as const;

async function stand(context: TestContext) {
  const { database, journal, clock } = await temporaryJournal(context);
  let ids = 0;
  const newId = () => `id ${++ids}`;
  const liveCalls = { has: (callId: string) => callId === "live" };
  const others = { hasOtherNodes: (_callId: string) => Promise.resolve(false) };
  const hasOtherNodes = (callId: string) => others.hasOtherNodes(callId);
  const deps = { database, journal, clock, newId, liveCalls, hasOtherNodes };
  const conversations = new Conversations(deps);
  await database.history.replace({ orgId: "org", key: KEY }, [], HISTORY, clock.epochMs());
  const find = () => conversations.find("org", "agent", BY_KEY);
  const store = async (id: string) => {
    const { sessionId, spareSessionId } = await find();
    const start = { callId: id, orgId: "org", agentId: "agent", historyKey: KEY } as const;
    await journal.start({ ...start, sessionId, spareSessionId, channel: "web" });
  };
  return { database, journal, clock, conversations, others, find, store };
}

for (const [who, hasOtherNodes] of [
  ["nobody has", () => Promise.resolve(false)],
  ["somebody should have who does not answer", () => new Promise<boolean>(() => {})],
] as const) {
  test(`a call that is still active a second later and that ${who} counts as broken`, (context) =>
    takenForBroken(context, hasOtherNodes));
}

async function takenForBroken(context: TestContext, hasOtherNodes: () => Promise<boolean>) {
  const { clock, others, find, store } = await stand(context);
  await store("elsewhere");
  others.hasOtherNodes = hasOtherNodes;
  const look = { isOver: false };
  const finding = find().finally(() => {
    look.isOver = true;
  });
  let waitedMs = 0;
  while (!look.isOver) {
    await new Promise(setImmediate);
    if (clock.pendingTimerCount === 0) continue;
    clock.advance(50);
    waitedMs += 50;
  }
  const { before, wasBroken, resumed, messages, beside } = await finding;
  assert.equal(beside, undefined);
  assert.deepEqual([before, wasBroken, resumed], ["elsewhere", true, false]);
  assert.deepEqual(messages, HISTORY);
  assert.ok(waitedMs >= 1_000 && waitedMs < 2_000, `${waitedMs} ms`);
}

test("a call that broke before its first complete turn can be continued for a day, and so can its key", async (context) => {
  const { database, clock, find, store } = await stand(context);
  await store("broken");
  await database.history.purge(clock.epochMs() + 1);
  await database.calls.closeAbandoned("another run", clock.epochMs());
  const dayMs = 24 * 60 * 60 * 1_000;
  clock.advance(dayMs);
  const { key, before, resumed, messages } = await find();
  assert.deepEqual([key, before, resumed, messages], [KEY, "broken", false, []]);
  clock.advance(1);
  const late = await find();
  assert.notEqual(late.key, KEY);
  assert.deepEqual([late.before, late.wasBroken, late.resumed], [undefined, undefined, false]);
});

test("a caller who returns within ten minutes of a break gets an apology, and a later one continues or is greeted", async (context) => {
  const { database, clock, find, store } = await stand(context);
  await store("broken");
  await database.calls.closeAbandoned("another run", clock.epochMs());
  const found = async () => {
    const { before, wasBroken, resumed } = await find();
    return { before, wasBroken, resumed };
  };
  clock.advance(10 * 60 * 1_000);
  assert.deepEqual(await found(), { before: "broken", wasBroken: true, resumed: false });
  clock.advance(1);
  assert.deepEqual(await found(), { before: "broken", wasBroken: false, resumed: true });
  await database.history.purge(clock.epochMs() + 1);
  assert.deepEqual(await found(), { before: "broken", wasBroken: false, resumed: false });
});

test("a conversation that continues has its previous call's values, so that the service is requested once", async (context) => {
  const { database, journal, clock, find } = await stand(context);
  const { sessionId } = await find();
  const values = {
    variables: { firstName: "Ada" },
    preCall: { outcome: "ok", durationMs: 12, callId: "first" },
  } as const;
  const start = { callId: "first", orgId: "org", agentId: "agent", historyKey: KEY } as const;
  await journal.start({ ...start, sessionId, channel: "web", values });
  await database.calls.closeAbandoned("another run", clock.epochMs());
  assert.deepEqual((await find()).values, values);
});

test("a second client of a live call continues next to it, immediately and without an apology", async (context) => {
  const { find, store } = await stand(context);
  await store("live");
  const { before, wasBroken, resumed, replaces, beside } = await find();
  assert.deepEqual([before, wasBroken, resumed, replaces], ["live", false, true, undefined]);
  assert.equal(beside, "live");
});

test("the same applies to a call of another process, whose end is not awaited", async (context) => {
  const { clock, others, find, store } = await stand(context);
  await store("elsewhere");
  others.hasOtherNodes = (callId) => Promise.resolve(callId === "elsewhere");
  const { before, wasBroken, resumed, replaces, beside } = await find();
  assert.deepEqual([before, wasBroken, resumed, replaces], ["elsewhere", false, true, undefined]);
  assert.equal(beside, "elsewhere");
  clock.advance(2_000);
});

test("two clients that come back in the same moment both get a session", async (context) => {
  const { database, journal, find } = await stand(context);
  const both = await Promise.all([find(), find()]);
  const [first, second] = both;
  assert.equal(first.sessionId, second.sessionId);
  for (const [index, { sessionId, spareSessionId }] of both.entries()) {
    const ids = { callId: `call ${index}`, orgId: "org", agentId: "agent", historyKey: KEY };
    await journal.start({ ...ids, sessionId, spareSessionId, channel: "web" });
  }
  const stored = await database.calls.findBySession("org", second.spareSessionId ?? "");
  assert.equal(stored?.id, "call 1");
});

test("a caller who returns after a hundred sessions continues them, without an apology", async (context) => {
  const { database, find, store } = await stand(context);
  for (let n = 1; n <= 101; n += 1) {
    await store(`call ${n}`);
    await database.calls.closeAbandoned("another run", 0);
  }
  const { before, messages, resumed, sessionId, spareSessionId } = await find();
  assert.deepEqual([before, messages, resumed], [undefined, HISTORY, true]);
  assert.equal(sessionId, spareSessionId);
});

test("the first session of a conversation is the one that its key leads to", async (context) => {
  const { database, conversations, clock } = await stand(context);
  const nobody = { historyKey: undefined };
  const { key, sessionId, resumed } = await conversations.find("org", "agent", nobody);
  assert.equal(resumed, false);
  await database.history.replace({ orgId: "org", key }, [], HISTORY, clock.epochMs());
  const found = await conversations.find("org", "agent", { historyKey: key });
  assert.deepEqual([found.sessionId, found.resumed], [sessionId, true]);
});

test("a telephone call that broke off never is new, and nothing is looked for", async (context) => {
  const { database, conversations } = await stand(context);
  const looks = [
    context.mock.method(database.calls, "findLastOf"),
    context.mock.method(database.history, "load"),
  ];
  const conversation = { sessionId: "session", historyKey: KEY, before: [] };
  const fresh = { key: KEY, sessionId: "session", messages: [], resumed: false };
  const found = await conversations.find("org", "agent", { historyKey: undefined, conversation });
  assert.deepEqual(found, fresh);
  assert.deepEqual(
    looks.map(({ mock }) => mock.callCount()),
    [0, 0],
  );
});

for (const [ending, mode, endReason, failedTransfer] of [
  ["a warm transfer that brought its caller back", "warm", "transferFailed", "failed"],
  ["a warm transfer whose failure is not stored yet", "warm", "transferred", "failed"],
  ["a break, long after a warm transfer was refused", "warm", "callerLeft", undefined],
  ["a transfer because the LLM failed", "blind", "languageModelFailed", "failed"],
] as const) {
  test(`a caller learns why the telephone call before ended: ${ending}`, async (context) => {
    const { database, journal, conversations } = await stand(context);
    const start = { callId: "first", orgId: "org", agentId: "agent", historyKey: KEY } as const;
    await journal.start({ ...start, sessionId: "first session", channel: "phone" });
    const transfer = { to: "+15550101000", mode, result: "failed" };
    await database.calls.annotate("first", { endReason, transfer });
    const conversation = { sessionId: "next", historyKey: KEY, before: ["first session"] };
    const found = await conversations.find("org", "agent", { historyKey: undefined, conversation });
    assert.deepEqual(
      [found.failedTransfer, found.wasBroken],
      [failedTransfer, failedTransfer === undefined],
    );
  });
}

test("the continuing session is the next one derived from its key", async (context) => {
  const { database, others, find, store } = await stand(context);
  others.hasOtherNodes = () => Promise.resolve(true);
  const looks = context.mock.method(database.calls, "findLastOf");
  const first = await find();
  await store("first");
  const { sessionId } = await find();
  const [, sessionIds] = looks.mock.calls[0]?.arguments ?? [];
  assert.deepEqual([first.sessionId, sessionId], sessionIds?.slice(0, 2));
  assert.equal(new Set(sessionIds).size, 100);
});
