import assert from "node:assert/strict";
import { type TestContext, test } from "node:test";
import { CallJournal } from "../../../engine/calls/call-journal.js";
import { CallSummaries } from "../../../engine/calls/call-summaries.js";
import { EventLoopDelay } from "../../../engine/metrics/event-loop-delay.js";
import { Metrics } from "../../../engine/metrics/metrics.js";
import type { TurnSave } from "../../../engine/session/effects.js";
import { CALLER_LEFT, SPEECH_FAILED } from "../../../engine/session/ending.js";
import type { CallRecord } from "../../../storage/records.js";
import { RecordingLogger } from "../../doubles/recording-logger.js";
import { ScriptedLanguageModel } from "../../doubles/scripted-language-model.js";
import { VirtualClock } from "../../doubles/virtual-clock.js";
import { insertOrganizations, METRICS, NO_METRICS, NOON_MS } from "../../storage/sample-records.js";
import { temporaryDatabase } from "../../storage/temporary-file.js";

const START = {
  callId: "call",
  orgId: "org",
  agentId: "agent",
  sessionId: "session",
  historyKey: "key",
  channel: "web",
} as const;
const HISTORY = [
  { role: "user", content: "hi" },
  { role: "assistant", content: "hello" },
] as const;
const TURN: TurnSave = {
  messages: [
    { role: "user", text: "hi", atMs: 1_000 },
    { role: "assistant", text: "hello", atMs: 1_500.4 },
  ],
  metrics: METRICS,
  report: { turn: 1, kind: "reply", outcome: "played", totalMs: 300 },
  history: HISTORY,
};
const NOTHING: TurnSave = { messages: [], metrics: NO_METRICS, report: undefined, history: [] };

async function journalFor(context: TestContext) {
  const database = await temporaryDatabase(context);
  await insertOrganizations(database);
  const clock = new VirtualClock(NOON_MS);
  const log = new RecordingLogger();
  const { calls } = database;
  const metrics = new Metrics({
    callsActive: () => 0,
    storageRequestsWaiting: () => 0,
    speechCacheBytes: () => 0,
    summariesWaiting: () => 0,
    isReady: () => true,
    diskFreeBytes: async () => undefined,
    eventLoopDelay: new EventLoopDelay(),
  });
  const summaries = new CallSummaries(calls, clock, log);
  const journal = new CallJournal({ calls, summaries, metrics, clock, log, runId: "run" });
  async function stored(): Promise<CallRecord> {
    const call = await calls.findById("org", "call");
    assert.ok(call);
    return call;
  }
  return { database, clock, log, metrics, summaries, journal, stored };
}

test("a call is stored as active before it begins", async (context) => {
  const { journal, stored } = await journalFor(context);
  await journal.begin(START);
  const call = await stored();
  assert.equal(call.status, "active");
  assert.equal(call.startedAtMs, NOON_MS);
  assert.equal(call.endedAtMs, null);
});

test("a turn is stored with the times at which it was said, its stages and the conversation", async (context) => {
  const { database, journal, stored } = await journalFor(context);
  const entry = await journal.begin(START);
  entry.turnSaved(TURN);
  const call = await stored();
  assert.deepEqual(call.transcript, [
    { role: "user", text: "hi", timestamp: NOON_MS + 1_000 },
    { role: "assistant", text: "hello", timestamp: NOON_MS + 1_500 },
  ]);
  assert.deepEqual(call.metrics, METRICS);
  assert.deepEqual(call.metadata["turns"], [{ ...TURN.report }]);
  assert.deepEqual(await database.history.load("org", "key", 0), HISTORY);
});

test("the end is stored with its reason, its length and the day's usage", async (context) => {
  const { database, clock, journal, stored } = await journalFor(context);
  const entry = await journal.begin(START);
  clock.advance(90_000);
  entry.wasDeaf(1_200.6);
  entry.ended(SPEECH_FAILED, { ...TURN, report: undefined });
  await journal.stored();
  const call = await stored();
  assert.equal(call.status, "failed");
  assert.equal(call.endedAtMs, NOON_MS + 90_000);
  assert.equal(call.durationSec, 90);
  const { endReason, endMessage, deafMs } = call.metadata;
  assert.deepEqual(
    { endReason, endMessage, deafMs },
    { endReason: "speechFailed", endMessage: "speech synthesis failed", deafMs: 1_201 },
  );
  const [usage] = await database.usage.list("org", "2026-03-01", "2026-03-01");
  assert.deepEqual(
    { calls: usage?.calls, minutes: usage?.minutes, tokens: usage?.llmTokens },
    { calls: 1, minutes: 1.5, tokens: METRICS.totalTokens },
  );
});

test("only the first ending counts", async (context) => {
  const { database, journal, metrics, stored } = await journalFor(context);
  const entry = await journal.begin(START);
  entry.ended(CALLER_LEFT, NOTHING);
  entry.ended(SPEECH_FAILED, NOTHING);
  await journal.stored();
  assert.equal((await stored()).status, "completed");
  const [usage] = await database.usage.list("org", "2026-03-01", "2026-03-01");
  assert.equal(usage?.calls, 1);
  const page = await metrics.text();
  assert.match(page, /parley_calls_total\{channel="web",reason="callerLeft"\} 1/);
  assert.doesNotMatch(page, /speechFailed/);
});

test("a call that fails before its first word leaves the earlier conversation alone", async (context) => {
  const { database, journal } = await journalFor(context);
  await database.history.save("org", "key", [...HISTORY], NOON_MS);
  const entry = await journal.begin(START);
  entry.ended(SPEECH_FAILED, NOTHING);
  await journal.stored();
  assert.deepEqual(await database.history.load("org", "key", 0), HISTORY);
});

test("a clock that was set back does not end a call before its start", async (context) => {
  const { database, log, metrics, summaries } = await journalFor(context);
  const clock = { ...systemOf(NOON_MS), epochMs: () => times.shift() ?? NOON_MS };
  const times = [NOON_MS, NOON_MS - 60_000];
  const { calls } = database;
  const journal = new CallJournal({ calls, summaries, metrics, clock, log, runId: "run" });
  const entry = await journal.begin(START);
  entry.ended(CALLER_LEFT, NOTHING);
  await journal.stored();
  const call = await calls.findById("org", "call");
  assert.equal(call?.endedAtMs, NOON_MS);
  assert.equal(call?.durationSec, 0);
});

test("a write that fails is logged with the call's id, and breaks nothing", async (context) => {
  const { database, log, journal } = await journalFor(context);
  const entry = await journal.begin(START);
  await database.close();
  entry.turnSaved(TURN);
  entry.ended(CALLER_LEFT, NOTHING);
  await journal.stored();
  const errors = log.ofLevel("error").map(({ message, fields }) => [message, fields["callId"]]);
  assert.deepEqual(errors, [
    ["a turn could not be stored", "call"],
    ["the end of a call could not be stored", "call"],
  ]);
});

test("a summary is asked for once the end is stored", async (context) => {
  const { journal } = await journalFor(context);
  const entry = await journal.begin(START);
  const client = new ScriptedLanguageModel();
  const model = { vendor: "scripted", modelId: "small", systemPrompt: "", temperature: 1 };
  entry.attach({ ...model, client, maxTokens: 1 }, () => 0);
  entry.turnSaved(TURN);
  entry.ended(CALLER_LEFT, NOTHING);
  assert.equal(client.requests.length, 0);
  await journal.stored();
  while (client.requests.length === 0) await new Promise(setImmediate);
  assert.match(client.requests[0]?.messages.at(-1)?.content ?? "", /hello/);
});

function systemOf(epochMs: number) {
  const clock = new VirtualClock(epochMs);
  return {
    monotonicMs: () => clock.monotonicMs(),
    after: (delayMs: number, action: () => void) => clock.after(delayMs, action),
    every: (periodMs: number, action: () => void) => clock.every(periodMs, action),
  };
}
