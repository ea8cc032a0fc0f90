import assert from "node:assert/strict";
import { test } from "node:test";
import { CallEntry } from "../../../engine/calls/call-journal.js";
import { CallWrites } from "../../../engine/calls/write-queue.js";
import { CALLER_LEFT, SPEECH_FAILED } from "../../../engine/conversation/call-end.js";
import { NO_WORDS, type TurnReport, type TurnSave } from "../../../engine/conversation/effects.js";
import { VendorError } from "../../../engine/vendors/contracts.js";
import { summaryJob } from "../../../storage/jobs/job-record.js";
import { StorageUnwritableError } from "../../../storage/statements/storage-error.js";
import { UniqueViolationError } from "../../../storage/statements/unique-violation.js";
import { ScriptedLanguageModel } from "../../doubles/scripted-language-model.js";
import { METRICS, NOON_MS } from "../../storage/sample-records.js";
import { CALL_START } from "./temporary-journal.js";
import { WrittenCalls } from "./written-calls.js";

const RETRY_MS = 1_000;
const ID = { orgId: "org", key: "key" };
const EARLIER = { role: "assistant", content: "welcome" } as const;
const ASKED = { role: "user", content: "hi" } as const;
const REPORT = { turn: 1, kind: "reply", outcome: "played", totalMs: 300 } as const;
const TURN: TurnSave = {
  messages: [{ role: "user", text: "hi", atMs: 1_500.6 }],
  metrics: METRICS,
  report: REPORT,
  added: [ASKED],
};
const LLM = {
  vendor: "scripted",
  modelId: "small",
  systemPrompt: "",
  temperature: 1,
  client: new ScriptedLanguageModel(),
  maxTokens: 1,
};

/** A call that began at noon, on a store in memory; `keptCharsMax` is what may wait for that store. */
function entryOf(keptCharsMax = 1_000) {
  const deps = new WrittenCalls();
  const writes = new CallWrites({ clock: deps.clock, log: deps.log, keptCharsMax });
  const start = { ...CALL_START, earlier: [EARLIER] };
  const began = { atMs: NOON_MS, monotonicMs: deps.clock.monotonicMs() };
  const entry = new CallEntry(deps, writes, start, began);
  /** The arguments of the store's last request of that kind. */
  const last = (step: string) => deps.asked.findLast(([what]) => what === step)?.slice(1);
  return { deps, writes, entry, last };
}

const unwritable = () => new StorageUnwritableError("SQLITE_FULL", "database or disk is full");

test("an end is stored completely: duration, reason, transcript, usage, and unheard words", async () => {
  const { deps, writes, entry, last } = entryOf();
  entry.attach(LLM, () => 12_500, 300_000);
  entry.wasDeaf(700.2);
  entry.wasDeaf(700.3);
  deps.clock.advance(90_049);
  entry.ended(SPEECH_FAILED, { ...TURN, report: undefined });
  await writes.settled();
  assert.deepEqual(last("finish"), [
    "call",
    {
      status: "failed",
      endedAtMs: NOON_MS + 90_049,
      durationSec: 90,
      metrics: METRICS,
      metadata: {
        endReason: "speechFailed",
        endMessage: "speech synthesis failed",
        sttOutageMs: 1_401,
      },
      messages: [{ role: "user", text: "hi", timestamp: NOON_MS + 1_501 }],
      usage: {
        orgId: "org",
        date: "2026-03-01",
        calls: 1,
        minutes: 1.5,
        ttsChars: METRICS.ttsChars,
        llmTokens: METRICS.totalTokens,
        sttSeconds: 12.5,
      },
      jobs: [summaryJob("org", "call", NOON_MS + 90_049)],
      events: deps.ends[0]?.events,
    },
  ]);
  assert.deepEqual(
    deps.ends[0]?.events?.map(({ id, type, data }) => [id, type, data["endReason"]]),
    [["evt_call_end", "call.failed", "speechFailed"]],
  );
  assert.deepEqual(last("replace"), [ID, [EARLIER], [EARLIER, ASKED], NOON_MS + 90_049]);
  assert.deepEqual(deps.steps, ["replace", "finish"], "its words come before it");
  const { reason: endReason, status } = SPEECH_FAILED;
  assert.deepEqual(deps.told, [{ type: "ended", callId: "call", status, endReason }]);
  assert.deepEqual(deps.measured.at(-1), ["callEnded", ["web", SPEECH_FAILED]]);
  const told = { callId: "call", orgId: "org", channel: "web", reason: "speechFailed" };
  assert.deepEqual(deps.log.lines, [
    { level: "info", fields: { ...told, durationSec: 90, ...METRICS }, message: "call ended" },
  ]);
});

test("a duration has a resolution of a tenth of a second, and never exceeds the call's limit", async () => {
  for (const [passedMs, endedAfterMs, durationSec] of [
    [12_349, 12_349, 12.3],
    [12_350, 12_350, 12.4],
    [20_001, 20_000, 20],
  ] as const) {
    const { deps, writes, entry } = entryOf();
    entry.attach(LLM, () => 0, 20_000);
    deps.clock.stall(passedMs);
    entry.ended(CALLER_LEFT, NO_WORDS);
    await writes.settled();
    const [end] = deps.ends;
    assert.deepEqual([end?.endedAtMs, end?.durationSec], [NOON_MS + endedAfterMs, durationSec]);
  }
});

test("what a caller noticed is marked in the record: five seconds unheard, or one wait of five seconds", async () => {
  const marksOf = async (sttOutageMs: number, ...waitsMs: readonly (number | undefined)[]) => {
    const { deps, writes, entry } = entryOf();
    if (sttOutageMs > 0) entry.wasDeaf(sttOutageMs);
    for (const totalMs of waitsMs) {
      const report = { turn: 1, kind: "reply", outcome: "played" } as const;
      entry.turnSaved({ ...TURN, report: totalMs === undefined ? report : { ...report, totalMs } });
    }
    entry.ended(CALLER_LEFT, NO_WORDS);
    await writes.settled();
    return deps.ends[0]?.metadata;
  };
  const ended = { endReason: "callerLeft", endMessage: "the caller hung up" };
  assert.deepEqual(await marksOf(0, undefined, 4_999), ended);
  assert.deepEqual(await marksOf(0.6, 300), { ...ended, sttOutageMs: 1 });
  assert.deepEqual(await marksOf(4_999), { ...ended, sttOutageMs: 4_999 });
  assert.deepEqual(await marksOf(5_000), { ...ended, sttOutageMs: 5_000, longSttOutage: true });
  const waited = { longestWaitMs: 5_000, waitedForLong: true };
  assert.deepEqual(await marksOf(0, 300, 5_000, 4_000), { ...ended, ...waited });
});

test("a call whose every reply failed has failed, whoever ended it; one answer or no question prevents that", async () => {
  const statusOf = async (...reports: readonly TurnReport[]) => {
    const { deps, writes, entry } = entryOf();
    for (const report of reports) entry.turnSaved({ ...TURN, report });
    entry.ended(CALLER_LEFT, NO_WORDS);
    await writes.settled();
    const [end] = deps.ends;
    return [end?.status, end?.metadata["endReason"], end?.metadata["everyReplyFailed"]];
  };
  const reply = { turn: 1, kind: "reply" } as const;
  const failed = { ...reply, outcome: "failed" } as const;
  const answered = { ...reply, outcome: "played", totalMs: 300 } as const;
  const greeting = { turn: 0, kind: "greeting", outcome: "played" } as const;
  assert.deepEqual(await statusOf(greeting, failed, failed), ["failed", "callerLeft", true]);
  assert.deepEqual(await statusOf(failed, answered), ["completed", "callerLeft", undefined]);
  assert.deepEqual(await statusOf(greeting), ["completed", "callerLeft", undefined]);
  const { deps, writes, entry } = entryOf();
  entry.turnSaved({ ...TURN, report: failed });
  entry.ended(SPEECH_FAILED, NO_WORDS);
  await writes.settled();
  assert.equal(deps.ends[0]?.metadata["everyReplyFailed"], undefined, "its end says why");
});

test("a turn is stored with its conversation, vendors and tools, and watchers are notified then", async () => {
  const { deps, writes, entry, last } = entryOf();
  const hedges = { asked: 1, won: 0, withheld: 0, wastedTokens: 7 };
  const answers = { llm: { vendor: "openai", model: "small", hedges } };
  const tools = { tools: [{ name: "find", input: "{}", ok: true, ms: 1 }] };
  deps.clock.advance(2_000);
  entry.turnSaved(TURN, answers, tools);
  await writes.settled();
  assert.deepEqual(last("saveTurn"), [
    "call",
    {
      messages: [{ role: "user", text: "hi", timestamp: NOON_MS + 1_501 }],
      metrics: METRICS,
      turn: { ...REPORT, ...answers, ...tools },
      atMs: NOON_MS + 2_000,
      events: deps.turns[0]?.events,
    },
    { id: ID, known: [EARLIER], kept: [EARLIER, ASKED], savedAtMs: NOON_MS + 2_000 },
  ]);
  assert.deepEqual(
    deps.turns[0]?.events?.map(({ id, type }) => [id, type]),
    [
      ["evt_call_turn1-tool1", "tool.completed"],
      ["evt_call_turn1", "turn.completed"],
    ],
  );
  assert.deepEqual(deps.told, [{ type: "turn", callId: "call", metrics: METRICS }]);
  assert.deepEqual(deps.measured, [
    ["turnEnded", REPORT],
    ["hedged", hedges],
  ]);
  entry.turnSaved({ ...TURN, report: undefined, added: [] }, {}, tools);
  await writes.settled();
  assert.equal(deps.turns.at(-1)?.turn, undefined);
  assert.equal(last("saveTurn")?.[2], undefined, "nothing was added to the conversation");
  assert.equal(deps.measured.length, 2, "a turn without a report is none");
});

test("a turn that is stored is not stored again when only its conversation has to be", async () => {
  const { deps, writes, entry } = entryOf();
  deps.isReplaced = false;
  deps.fault = (what) => {
    if (what === "replace") throw unwritable();
  };
  entry.turnSaved(TURN);
  while (writes.keptCount === 0) await new Promise(setImmediate);
  assert.deepEqual([deps.steps, deps.told], [["saveTurn", "replace"], []]);
  deps.fault = () => undefined;
  deps.isReplaced = true;
  deps.clock.advance(RETRY_MS);
  await writes.settled();
  assert.deepEqual(deps.steps, ["saveTurn", "replace", "replace"]);
  assert.equal(deps.told.length, 1);
});

test("words count among what waits, and those of tools too; an end keeps its facts without them", async () => {
  const { deps, writes, entry } = entryOf(10);
  deps.fault = () => {
    throw unwritable();
  };
  const said = {
    ...TURN,
    messages: [{ role: "user", text: "hello", atMs: 0 }],
    added: [],
  } as const;
  entry.turnSaved(said, {}, { tools: [{ name: "find", input: "12345", ok: true, ms: 1 }] });
  while (writes.keptCount === 0) await new Promise(setImmediate);
  entry.turnSaved(said);
  entry.ended(CALLER_LEFT, TURN);
  const lost = deps.log.ofLevel("error").map(({ message }) => message);
  assert.deepEqual(lost.slice(1), ["failed to store a turn"]);
  deps.fault = () => undefined;
  deps.clock.advance(RETRY_MS);
  await writes.settled();
  const [end] = deps.ends;
  assert.deepEqual([end?.messages, end?.metadata["lostTurns"]], [[], 2]);
  assert.ok(!deps.steps.includes("replace"), "nor is its conversation stored");
});

test("an end is stored though its conversation cannot be, and once though that is tried again", async () => {
  const refused = entryOf();
  refused.deps.fault = (what) => {
    if (what === "replace") throw new Error("refused");
  };
  refused.entry.ended(CALLER_LEFT, TURN);
  await refused.writes.settled();
  assert.deepEqual(refused.deps.steps, ["replace", "finish"]);
  const [line] = refused.deps.log.ofLevel("error");
  assert.equal(line?.message, "failed to store the end of a call");
  assert.match(String(line?.fields["error"]), /refused/);

  const late = entryOf();
  late.deps.fault = (what) => {
    if (what === "replace") throw unwritable();
  };
  late.entry.ended(CALLER_LEFT, TURN);
  while (late.writes.keptCount === 0) await new Promise(setImmediate);
  late.deps.fault = () => undefined;
  late.deps.clock.advance(RETRY_MS);
  await late.writes.settled();
  assert.deepEqual(late.deps.steps, ["replace", "finish", "replace"]);
});

test("a call ends once, and without a word of the caller it is not summed up", async () => {
  const { deps, writes, entry } = entryOf();
  entry.ended(CALLER_LEFT, NO_WORDS);
  entry.ended(SPEECH_FAILED, NO_WORDS);
  await writes.settled();
  assert.deepEqual(deps.steps, ["finish"]);
  assert.deepEqual(deps.measured, [["callEnded", ["web", CALLER_LEFT]]]);
  assert.deepEqual([deps.ends[0]?.jobs, deps.log.ofLevel("error")], [[], []]);
  assert.equal(deps.ends[0]?.usage.sttSeconds, 0, "nobody listened");
});

test("a call that was over before it began is begun and ended, or left alone where it has its record", async () => {
  const stored = async (begin: () => Promise<boolean>) => {
    const { deps, writes, entry } = entryOf();
    entry.endedBeforeItBegan(SPEECH_FAILED, begin);
    entry.ended(CALLER_LEFT, NO_WORDS);
    await writes.settled();
    const errors = deps.log.ofLevel("error").map(({ message }) => message);
    return [deps.steps, deps.measured, errors];
  };
  const measured = [["callEnded", ["web", SPEECH_FAILED]]];
  assert.deepEqual(await stored(async () => true), [["finish"], measured, []]);
  assert.deepEqual(await stored(async () => false), [[], [], []]);
  const known = () => Promise.reject(new UniqueViolationError("calls", "sessionId"));
  assert.deepEqual(await stored(known), [[], [], []]);
  const broken = () => Promise.reject(new Error("wrong"));
  assert.deepEqual(await stored(broken), [[], [], ["failed to store the end of a call"]]);
});

test("words are published to watchers, and to later ones until their turn is stored", async () => {
  const { deps, writes, entry } = entryOf();
  const words = { role: "user", text: "hi", isFinal: true } as const;
  entry.attach(LLM, () => 0, 1);
  entry.addMessages({ type: "transcript", ...words });
  entry.addMessages({ type: "error", reason: "sttFailed", message: "no words" });
  assert.deepEqual(deps.told, [{ type: "words", callId: "call", ...words }]);
  assert.deepEqual(deps.present.get("call")?.(), [words]);
  entry.turnSaved(TURN);
  assert.deepEqual(deps.present.get("call")?.(), [words]);
  await writes.settled();
  assert.deepEqual(deps.present.get("call")?.(), []);
  entry.ended(CALLER_LEFT, NO_WORDS);
  assert.equal(deps.present.size, 0);
});

test("decisions about turns are counted, and reported to a watcher of the call", () => {
  const { deps, entry } = entryOf();
  entry.bargedIn(2, { action: "ignore", reason: "backchannel", atMs: 120.5 });
  entry.callerTurnEnded(3, { reason: "endpointing", waitedMs: 250 });
  assert.deepEqual(deps.told, [
    {
      type: "bargeIn",
      callId: "call",
      turn: 2,
      action: "ignore",
      reason: "backchannel",
      atMs: 120.5,
    },
    { type: "endOfTurn", callId: "call", turn: 3, reason: "endpointing", waitedMs: 250 },
  ]);
  assert.deepEqual(deps.measured, [
    ["bargedIn", { action: "ignore", reason: "backchannel" }],
    ["callerTurnEnded", "endpointing"],
  ]);
});

test("a change of language is noted in the call at once, whether or not a reply follows", async () => {
  const { writes, entry, last } = entryOf();
  entry.languageSwitched("de-DE");
  await writes.settled();
  assert.deepEqual(last("annotate"), ["call", { language: "de-DE" }]);
});

test("an ordered text is noted in the call at once, and goes with the turn that says it", async () => {
  const { writes, entry, last } = entryOf();
  entry.textOrdered(["one", "two"]);
  await writes.settled();
  assert.deepEqual(last("annotate"), ["call", { unspokenTexts: ["one", "two"] }]);
  for (const [unspoken, unspokenTexts] of [
    [["two"], ["two"]],
    [[], null],
  ] as const) {
    entry.turnSaved({ ...NO_WORDS, unspoken });
    await writes.settled();
    const saved = last("saveTurn")?.[1];
    assert.deepEqual(Object(saved).metadata, { unspokenTexts });
  }
  entry.turnSaved(NO_WORDS);
  await writes.settled();
  const other = last("saveTurn")?.[1];
  assert.equal("metadata" in Object(other), false);
});

test("a mute and notes are noted in the call at once, and a call that continues has them from its start", async () => {
  const { deps, writes, entry, last } = entryOf();
  entry.agentMuted(true);
  await writes.settled();
  assert.deepEqual(last("annotate"), ["call", { isMuted: true }]);
  entry.contextAdded(["one", "two"]);
  await writes.settled();
  assert.deepEqual(last("annotate"), ["call", { contextNotes: ["one", "two"] }]);
  entry.agentMuted(false);
  await writes.settled();
  assert.deepEqual(last("annotate"), ["call", { isMuted: null }]);
  assert.deepEqual(
    deps.told.map(({ type }) => type),
    ["muted", "muted"],
  );
});

test("vendors' failures are counted, and logged with the ids for their support", () => {
  const { deps, entry } = entryOf();
  const error = new VendorError("openai", "refused", "openai: no", { status: 400, requestId: "r" });
  entry.vendorFailed("llm", error);
  entry.wasDeaf(250);
  assert.deepEqual(deps.measured, [
    ["failed", ["llm", error]],
    ["listenerWasDeaf", 250],
  ]);
  const fields = { callId: "call", category: "llm", vendor: "openai", fault: "refused" };
  const support = { status: 400, requestId: "r", reason: "openai: no" };
  const message = "vendor request failed";
  assert.deepEqual(deps.log.lines, [{ level: "warn", fields: { ...fields, ...support }, message }]);
});

test("a turn makes only the events that an endpoint wants", async () => {
  const { deps, writes, entry } = entryOf();
  const tools = { tools: [{ name: "find", input: "{}", ok: true, ms: 1 }] };
  const eventsOf = async () => {
    entry.turnSaved(TURN, {}, tools);
    await writes.settled();
    return deps.turns.at(-1)?.events?.map(({ id }) => id);
  };
  deps.isWanted = () => false;
  assert.deepEqual(await eventsOf(), []);
  deps.isWanted = (type) => type === "tool.completed";
  assert.deepEqual(await eventsOf(), ["evt_call_turn2-tool1"]);
  deps.isWanted = (type) => type === "turn.completed";
  assert.deepEqual(await eventsOf(), ["evt_call_turn3"], "its place is that among all turns");
});
