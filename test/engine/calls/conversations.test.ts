import assert from "node:assert/strict";
import { type TestContext, test } from "node:test";
import { Conversations } from "../../../engine/calls/conversations.js";
import type { VirtualClock } from "../../doubles/virtual-clock.js";
import { NO_METRICS } from "../../storage/sample-records.js";
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

/** The result of `find`, and how long it took by the clock, which advances while `find` waits. */
async function foundInTime<Found>(find: () => Promise<Found>, clock: VirtualClock) {
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
  return { found: await finding, waitedMs };
}

async function takenForBroken(context: TestContext, hasOtherNodes: () => Promise<boolean>) {
  const { clock, others, find, store } = await stand(context);
  await store("elsewhere");
  others.hasOtherNodes = hasOtherNodes;
  const { found, waitedMs } = await foundInTime(find, clock);
  const { before, wasBroken, resumed, messages, beside, perhapsAlive } = found;
  assert.deepEqual([beside, perhapsAlive], [undefined, "elsewhere"]);
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

const REST = { unanswered: "", unspoken: [] };

test("texts that were to be said are said by the call that continues, unless the caller has hung up", async (context) => {
  const { database, journal, clock, find, store } = await stand(context);
  const texts = ["one", "two", "three", "four", "five"];
  await store("broken");
  journal.annotate("broken", { unspokenTexts: texts });
  await journal.stored();
  await database.calls.closeAbandoned("another run", clock.epochMs());
  assert.deepEqual((await find()).control?.unspoken, texts.slice(0, 4));
  clock.advance(10 * 60 * 1_000 + 1);
  assert.deepEqual((await find()).control?.unspoken, []);
});

test("mute and notes stay in a conversation that was broken off; a caller who returns much later finds the notes alone", async (context) => {
  const { database, journal, clock, find, store } = await stand(context);
  const notes = ["The caller has a refund."];
  await store("broken");
  journal.annotate("broken", { isMuted: true, contextNotes: notes });
  await journal.stored();
  await database.calls.closeAbandoned("another run", clock.epochMs());
  assert.deepEqual((await find()).control, { isMuted: true, context: notes, ...REST });
  clock.advance(10 * 60 * 1_000 + 1);
  assert.deepEqual((await find()).control, { isMuted: false, context: notes, ...REST });
});

test("the agent is not muted any more for a caller who is back from a failed transfer", async (context) => {
  const { journal, conversations } = await stand(context);
  const call = { orgId: "org", agentId: "agent", historyKey: KEY, channel: "phone" } as const;
  await journal.start({ ...call, callId: "handed on", sessionId: "first" });
  const find = () => {
    const conversation = { sessionId: "second", historyKey: KEY, before: ["first"] };
    return conversations.find("org", "agent", { historyKey: undefined, conversation });
  };
  journal.annotate("handed on", { isMuted: true });
  await journal.stored();
  assert.equal((await find()).control?.isMuted, true);
  const transfer = { to: "+15550101000", mode: "blind", result: "busy", startedAtMs: 1 };
  journal.annotate("handed on", {
    endReason: "transferFailed",
    transfer,
    unspokenTexts: ["We close soon."],
  });
  await journal.stored();
  const { control, failedTransfer } = await find();
  assert.deepEqual([control?.isMuted, failedTransfer], [false, "busy"]);
  assert.deepEqual(control?.unspoken, ["We close soon."]);
});

test("what a caller said to a muted agent is unanswered in the call that continues", async (context) => {
  const { database, journal, clock, find, store } = await stand(context);
  await store("broken");
  const answered = [...HISTORY, { role: "assistant", content: "Hello, Ada." }] as const;
  const id = { orgId: "org", key: KEY };
  await database.history.replace(id, HISTORY, answered, clock.epochMs());
  const messages = (["assistant", "user", "user"] as const).map((role, index) => {
    const text = `${role} ${index} ${"x".repeat(role === "user" ? 2_500 : 1)}`;
    return { role, text, timestamp: clock.epochMs() + index };
  });
  const turn = { messages, metrics: NO_METRICS, turn: undefined, atMs: clock.epochMs() };
  await database.calls.saveTurn("broken", turn);
  journal.annotate("broken", { isMuted: true });
  await journal.stored();
  await database.calls.closeAbandoned("another run", clock.epochMs());
  const { control } = await find();
  assert.match(control?.unanswered ?? "", /^x+ user 2 x+$/);
  assert.equal(control?.unanswered.length, 4_000);
  clock.advance(10 * 60 * 1_000 + 1);
  assert.equal((await find()).control?.unanswered, "", "the caller has hung up since");
});

test("a second client of a muted call that lives is muted, too; odd metadata mute nobody", async (context) => {
  const { journal, find, store } = await stand(context);
  await store("live");
  assert.deepEqual((await find()).control, { isMuted: false, context: [], ...REST });
  journal.annotate("live", { isMuted: true, unspokenTexts: ["It says this itself."] });
  await journal.stored();
  assert.deepEqual((await find()).control, { isMuted: true, context: [], ...REST });
  journal.annotate("live", { isMuted: "yes", contextNotes: [7] });
  await journal.stored();
  assert.deepEqual((await find()).control, { isMuted: false, context: [], ...REST });
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

test("a live call that follows while the end of the last one is awaited is the one to continue", async (context) => {
  const { clock, journal, find, others, store } = await stand(context);
  await store("ending");
  others.hasOtherNodes = () => Promise.resolve(true);
  const { sessionId } = await find();
  others.hasOtherNodes = async (callId) => {
    if (callId === "next") return true;
    const next = { callId: "next", orgId: "org", agentId: "agent", historyKey: KEY } as const;
    await journal.start({ ...next, sessionId, channel: "web" });
    return false;
  };
  const { found, waitedMs } = await foundInTime(find, clock);
  const { before, beside, perhapsAlive, wasBroken } = found;
  assert.deepEqual([before, beside, perhapsAlive], ["next", "next", undefined]);
  assert.equal(wasBroken, false);
  assert.ok(waitedMs < 1_000, `${waitedMs} ms`);
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
