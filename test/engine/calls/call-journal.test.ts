import assert from "node:assert/strict";
import { type TestContext, test } from "node:test";
import type { CallEvent, TranscriptWords } from "../../../engine/calls/call-events.js";
import { REFUSALS_KEPT_MAX } from "../../../engine/calls/call-journal.js";
import { CALLER_LEFT, type Ending, SPEECH_FAILED } from "../../../engine/conversation/call-end.js";
import type { TurnSave } from "../../../engine/conversation/effects.js";
import { VendorError } from "../../../engine/vendors/contracts.js";
import type { Database } from "../../../storage/database.js";
import type { CallRecord } from "../../../storage/records.js";
import { StorageUnwritableError } from "../../../storage/statements/storage-error.js";
import { ScriptedLanguageModel } from "../../doubles/scripted-language-model.js";
import { METRICS, NO_METRICS, NOON_MS } from "../../storage/sample-records.js";
import { endpointRecord, webhookEntry } from "../../storage/webhooks/sample-endpoint.js";
import { CALL_START, temporaryJournal } from "./temporary-journal.js";

const RETRY_MS = 1_000;
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
  added: HISTORY,
};
const NOTHING: TurnSave = { messages: [], metrics: NO_METRICS, report: undefined, added: [] };

const SILENT_LLM = {
  vendor: "scripted",
  modelId: "small",
  systemPrompt: "",
  temperature: 1,
  client: new ScriptedLanguageModel(),
  maxTokens: 1,
};

const refuse = () => Promise.reject(new StorageUnwritableError("PG_40P01", "deadlock detected"));

async function journalFor(context: TestContext) {
  const parts = await temporaryJournal(context);
  async function stored(): Promise<CallRecord> {
    const call = await parts.database.calls.findById("org", "call");
    assert.ok(call);
    return call;
  }
  return { ...parts, stored };
}

test("a call is stored as active before it begins", async (context) => {
  const { journal, stored } = await journalFor(context);
  await journal.start(CALL_START);
  const call = await stored();
  assert.equal(call.status, "active");
  assert.equal(call.startedAtMs, NOON_MS);
  assert.equal(call.endedAtMs, null);
});

test("a turn is stored with the times at which it was said, its stages, its tools and the conversation", async (context) => {
  const { database, journal, stored } = await journalFor(context);
  const entry = await journal.start(CALL_START);
  const tools = { tools: [{ name: "find", input: "{}", output: "found", ok: true, ms: 12.5 }] };
  entry.turnSaved(TURN, {}, tools);
  await journal.stored();
  const call = await stored();
  assert.deepEqual(call.transcript, [
    { role: "user", text: "hi", timestamp: NOON_MS + 1_000 },
    { role: "assistant", text: "hello", timestamp: NOON_MS + 1_500 },
  ]);
  assert.deepEqual(call.metrics, METRICS);
  assert.deepEqual(call.metadata["turns"], [{ ...TURN.report, ...tools }]);
  assert.deepEqual(await database.history.load("org", "key", 0), HISTORY);
});

test("what turns came to and what vendors failed with is counted", async (context) => {
  const { journal, metrics } = await journalFor(context);
  const entry = await journal.start(CALL_START);
  entry.turnSaved(TURN);
  entry.turnSaved({ ...TURN, report: undefined });
  entry.vendorFailed("llm", new VendorError("openai", "timeout", "openai: no answer in time"));
  const lines = (await metrics.text()).split("\n");
  for (const line of [
    'parley_turns_total{kind="reply",outcome="played"} 1',
    'parley_vendor_errors_total{category="llm",vendor="openai",fault="timeout"} 1',
  ]) {
    assert.ok(lines.includes(line), line);
  }
});

test("the end is stored with its reason, its length and the day's usage", async (context) => {
  const { database, clock, journal, stored } = await journalFor(context);
  const entry = await journal.start(CALL_START);
  clock.advance(90_000);
  entry.attach(SILENT_LLM, () => 12_500, 300_000);
  entry.wasDeaf(1_200.6);
  entry.ended(SPEECH_FAILED, { ...TURN, report: undefined });
  await journal.stored();
  const call = await stored();
  assert.equal(call.status, "failed");
  assert.equal(call.endedAtMs, NOON_MS + 90_000);
  assert.equal(call.durationSec, 90);
  const { endReason, endMessage, sttOutageMs } = call.metadata;
  assert.deepEqual(
    { endReason, endMessage, sttOutageMs },
    { endReason: "speechFailed", endMessage: "speech synthesis failed", sttOutageMs: 1_201 },
  );
  const [usage] = await database.usage.list("org", "2026-03-01", "2026-03-01");
  assert.deepEqual(
    {
      calls: usage?.calls,
      minutes: usage?.minutes,
      tokens: usage?.llmTokens,
      heardSec: usage?.sttSeconds,
    },
    { calls: 1, minutes: 1.5, tokens: METRICS.totalTokens, heardSec: 12.5 },
  );
});

test("only the first ending counts", async (context) => {
  const { database, journal, metrics, stored } = await journalFor(context);
  const entry = await journal.start(CALL_START);
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
  await database.history.replace({ orgId: "org", key: "key" }, [], [...HISTORY], NOON_MS);
  const entry = await journal.start(CALL_START);
  entry.ended(SPEECH_FAILED, NOTHING);
  await journal.stored();
  assert.deepEqual(await database.history.load("org", "key", 0), HISTORY);
});

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;
const CLOCK_STEPS: readonly (readonly [string, number])[] = [
  ["a clock that was set 26 hours ahead", 26 * HOUR_MS],
  ["a clock that was set ten years ahead", 3_653 * DAY_MS],
  ["a clock that was set back by a minute", -60_000],
  ["a clock that was set back by a day", -DAY_MS],
  ["a machine that slept for a night", 8 * HOUR_MS],
];
for (const [what, stepMs] of CLOCK_STEPS) {
  test(`${what} neither lengthens nor shortens a call`, async (context) => {
    const { database, clock, journal, stored } = await journalFor(context);
    const entry = await journal.start(CALL_START);
    clock.advance(60_000);
    clock.stepWallClock(stepMs);
    entry.turnSaved(TURN);
    clock.advance(30_000);
    entry.ended(CALLER_LEFT, NOTHING);
    await journal.stored();
    const { startedAtMs, endedAtMs, durationSec } = await stored();
    assert.deepEqual(
      { startedAtMs, endedAtMs, durationSec },
      { startedAtMs: NOON_MS, endedAtMs: NOON_MS + 90_000, durationSec: 90 },
    );
    const usage = await database.usage.list("org", "2000-01-01", "2099-12-31");
    assert.deepEqual(
      usage.map(({ date, minutes }) => ({ date, minutes })),
      [{ date: "2026-03-01", minutes: 1.5 }],
    );
  });
}

test("a call that its process slept through lasts no longer than it was allowed to", async (context) => {
  const { clock, journal, stored } = await journalFor(context);
  const entry = await journal.start(CALL_START);
  const client = new ScriptedLanguageModel();
  const model = { vendor: "scripted", modelId: "small", systemPrompt: "", temperature: 1 };
  entry.attach({ ...model, client, maxTokens: 1 }, () => 0, 300_000);
  clock.stall(8 * HOUR_MS);
  entry.ended(CALLER_LEFT, NOTHING);
  await journal.stored();
  const { endedAtMs, durationSec } = await stored();
  assert.deepEqual({ endedAtMs, durationSec }, { endedAtMs: NOON_MS + 300_000, durationSec: 300 });
});

test("a write that fails is logged with the call's id, and breaks nothing", async (context) => {
  const { database, log, journal } = await journalFor(context);
  const entry = await journal.start(CALL_START);
  await database.close();
  entry.turnSaved(TURN);
  entry.ended(CALLER_LEFT, NOTHING);
  await journal.stored();
  const errors = log.ofLevel("error").map(({ message, fields }) => [message, fields["callId"]]);
  assert.deepEqual(errors, [
    ["failed to store a turn", "call"],
    ["failed to store the end of a call", "call"],
  ]);
});

test("a call that was over before it began is begun once, however often its end is tried", async (context) => {
  const { clock, database, journal, stored } = await journalFor(context);
  context.mock.method(database.calls, "finish", refuse, { times: 1 });
  journal.recordFailed(CALL_START, SPEECH_FAILED);
  while (journal.keptCount === 0) await new Promise(setImmediate);
  clock.advance(RETRY_MS);
  await journal.stored();
  const { status, metadata } = await stored();
  assert.equal(status, "failed");
  assert.equal(metadata["endReason"], SPEECH_FAILED.reason);
});

test("refused calls are kept while the store refuses writes, up to a limit, and told of afterwards", async (context) => {
  const { clock, database, journal } = await journalFor(context);
  await database.webhooks.insertWithin(
    endpointRecord({ eventTypes: ["call.failed"] }),
    1,
    webhookEntry(),
  );
  context.mock.method(database.calls, "finish", refuse, { times: 1 });
  journal.recordFailed(CALL_START, SPEECH_FAILED);
  while (journal.keptCount === 0) await new Promise(setImmediate);
  const refusals = Array.from({ length: REFUSALS_KEPT_MAX + 10 }, (_, index) => index);
  const told = Promise.all(
    refusals.map((index) =>
      journal.refused({
        callId: `refused-${index}`,
        orgId: "org",
        agentId: null,
        channel: "phone",
        reason: "agentNotFound",
      }),
    ),
  );
  while (journal.keptCount < REFUSALS_KEPT_MAX) await new Promise(setImmediate);
  clock.advance(RETRY_MS);
  const areStored = await told;
  await journal.stored();
  const range = { fromMs: 0, toMs: NOON_MS * 2, types: ["call.failed"], limit: 9_999 } as const;
  const events = await database.webhooks.eventsBetween("org", range);
  const refused = events.filter(({ data }) => data["isRefused"] === true);
  // The end that the store has refused first is one of those that were kept.
  assert.equal(refused.length, REFUSALS_KEPT_MAX - 1);
  assert.equal(areStored.filter((isStored) => isStored).length, refused.length);
});

const queuedJobs = async ({ jobs }: Database) =>
  (await jobs.list("org", { state: "queued", skip: 0, limit: 9 })).map(({ id }) => id);

test("the job of its summary is stored with the end of a call, where the caller has said something", async (context) => {
  const { database, journal } = await journalFor(context);
  const entry = await journal.start(CALL_START);
  entry.turnSaved(TURN);
  await journal.stored();
  assert.deepEqual(await queuedJobs(database), []);
  entry.ended(CALLER_LEFT, NOTHING);
  const silent = await journal.start({ ...CALL_START, callId: "silent", sessionId: "silent" });
  silent.ended(CALLER_LEFT, { ...NOTHING, messages: TURN.messages.slice(1) });
  await journal.stored();
  assert.deepEqual(await queuedJobs(database), ["summary_call"]);
});

test("an end whose conversation is stored later is summed up once", async (context) => {
  const { database, clock, journal } = await journalFor(context);
  const { history } = database;
  context.mock.method(history, "replace", refuse, { times: 1 });
  const entry = await journal.start(CALL_START);
  entry.turnSaved({ ...TURN, added: [] });
  entry.ended(CALLER_LEFT, { ...NOTHING, added: HISTORY });
  while (journal.keptCount === 0) await new Promise(setImmediate);
  clock.advance(RETRY_MS);
  await journal.stored();
  assert.deepEqual(await history.load("org", "key", 0), HISTORY);
  assert.deepEqual(await queuedJobs(database), ["summary_call"]);
});

test("a call and the one that it continues refer to each other", async (context) => {
  const { database, journal, log, stored } = await journalFor(context);
  await journal.start(CALL_START);
  await journal.start({ ...CALL_START, callId: "later", sessionId: "later-session" });
  journal.link("later", CALL_START.callId);
  await journal.stored();
  const later = await database.calls.findById("org", "later");
  assert.equal((await stored()).metadata["continuedBy"], "later");
  assert.equal((await stored()).metadata["continues"], undefined);
  assert.equal(later?.metadata["continues"], "call");
  assert.deepEqual(log.lines, []);
});

const TRANSFERRED: Ending = {
  reason: "transferred",
  status: "completed",
  message: "the caller was transferred",
  transferTo: "+15550101000",
};

test("a transfer is pending at the end of its call; what an earlier one has left is forgotten", async (context) => {
  const { journal, stored } = await journalFor(context);
  const entry = await journal.start(CALL_START);
  const earlier = { to: "+15550102000", mode: "warm", startedAtMs: 1, result: "busy" };
  journal.annotate("call", { transfer: earlier });
  entry.ended(TRANSFERRED, NOTHING);
  await journal.stored();
  const { endReason, transfer } = (await stored()).metadata;
  assert.deepEqual(
    [endReason, transfer],
    ["transferred", { to: TRANSFERRED.transferTo, result: "pending" }],
  );
});

for (const [result, endReason] of [
  ["busy", "transferFailed"],
  ["answered", "transferred"],
] as const) {
  test(`a transfer that the vendor reported as ${result} before the end of its call was stored stays ${result}`, async (context) => {
    const { journal, stored } = await journalFor(context);
    const entry = await journal.start(CALL_START);
    const reported = { to: TRANSFERRED.transferTo, result, reason: "as the vendor says" };
    journal.annotate("call", { transfer: reported });
    entry.ended(TRANSFERRED, NOTHING);
    await journal.stored();
    const { metadata } = await stored();
    assert.deepEqual([metadata["endReason"], metadata["transfer"]], [endReason, reported]);
  });
}

test("a transfer whose caller is back without a report of the vendor has failed, unless a report has come", async (context) => {
  const { journal, stored } = await journalFor(context);
  const to = "+15550101000";
  await journal.start(CALL_START);
  journal.annotate("call", { transfer: { to, result: "unknown" } });
  journal.transferNotMade({ id: "call", orgId: "org" }, "+15550102000");
  await journal.stored();
  assert.deepEqual((await stored()).metadata["transfer"], { to, result: "unknown" });
  journal.transferNotMade({ id: "call", orgId: "org" }, to);
  await journal.stored();
  const reason = "the caller came back, and the telephony vendor reported no outcome";
  assert.deepEqual((await stored()).metadata["transfer"], { to, result: "failed", reason });
  journal.annotate("call", { transfer: { result: "answered", reason: null } });
  journal.transferNotMade({ id: "call", orgId: "org" }, to);
  await journal.stored();
  assert.deepEqual((await stored()).metadata["transfer"], { to, result: "answered" });
});

test("a new watcher gets the words that are in no stored turn, also while a turn is being stored", async (context) => {
  const { journal, feed } = await journalFor(context);
  const entry = await journal.start(CALL_START);
  entry.attach(SILENT_LLM, () => 0, 60_000);
  const told = (until: (news: CallEvent) => boolean = () => true) =>
    new Promise<CallEvent>((resolve) => {
      const news = (all: readonly CallEvent[]) => {
        for (const each of all) if (until(each)) resolve(each);
      };
      const watcher = { news, pulse: () => undefined };
      void feed.watch({ orgId: "org", callId: "call" }, watcher, new AbortController().signal);
    });
  const present = (...words: readonly TranscriptWords[]) => ({
    type: "present",
    isMuted: false,
    callId: "call",
    words,
  });
  const asked = { role: "user", text: "hi", isFinal: true } as const;
  const reply = { role: "assistant", text: "hello", isFinal: false } as const;
  assert.deepEqual(await told(), present());
  entry.addMessages({ type: "transcript", ...asked });
  entry.addMessages({ type: "transcript", ...reply });
  assert.deepEqual(await told(), present(asked, reply));
  const isStored = told(({ type }) => type === "turn");
  entry.turnSaved(TURN);
  const next = { role: "user", text: "and", isFinal: false } as const;
  entry.addMessages({ type: "transcript", ...next });
  assert.deepEqual(await told(), present(asked, reply, next));
  await isStored;
  assert.deepEqual(await told(), present(next));
  entry.ended(CALLER_LEFT, NOTHING);
  const late = told();
  feed.close();
  assert.equal(await Promise.race([late, Promise.resolve("nothing")]), "nothing");
});
