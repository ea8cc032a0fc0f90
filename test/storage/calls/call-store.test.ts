import assert from "node:assert/strict";
import { test } from "node:test";
import type { CallEnd } from "../../../storage/calls/call-store.js";
import type { JsonObject, TranscriptMessage } from "../../../storage/records.js";
import { ForeignKeyViolationError } from "../../../storage/statements/foreign-key-violation.js";
import { UniqueViolationError } from "../../../storage/statements/unique-violation.js";
import {
  callRecord,
  insertOrganizations,
  METRICS,
  NO_METRICS,
  NOON_MS,
  usageRecord,
} from "../sample-records.js";
import { temporaryDatabase } from "../temporary-file.js";

const ANY_DAY = ["0000-01-01", "9999-12-31"] as const;
const QUESTION: TranscriptMessage = { role: "user", text: "Open today?", timestamp: NOON_MS + 1 };
const ANSWER: TranscriptMessage = { role: "assistant", text: "Yes.", timestamp: NOON_MS + 2.5 };

const END: CallEnd = {
  status: "completed",
  endedAtMs: NOON_MS + 90_000,
  durationSec: 90,
  metrics: METRICS,
  metadata: { endReason: "caller hung up" },
  messages: [ANSWER],
  turn: { index: 1 },
  usage: usageRecord(),
};

test("a started call is active and has the given fields", async (context) => {
  const database = await temporaryDatabase(context);
  await insertOrganizations(database);
  const call = callRecord({ channel: "phone", metadata: { from: "lobby" }, transcript: [ANSWER] });
  await database.calls.start(call, "run");
  assert.deepEqual(await database.calls.findById("org", "call"), {
    ...call,
    metadata: { from: "lobby", turns: [] },
  });
  assert.equal(await database.calls.findById("other", "call"), undefined);
});

test("a session has one call, whose organization must exist", async (context) => {
  const database = await temporaryDatabase(context);
  await insertOrganizations(database);
  await database.calls.start(callRecord(), "run");
  await assert.rejects(
    database.calls.start(callRecord({ id: "b", sessionId: "session of call" }), "run"),
    (error: unknown) => error instanceof UniqueViolationError && error.columns === "sessionId",
  );
  const homeless = callRecord({ id: "c", orgId: "nobody" });
  await assert.rejects(database.calls.start(homeless, "run"), ForeignKeyViolationError);
});

test("the latest call of several sessions is found, within the own organization", async (context) => {
  const database = await temporaryDatabase(context);
  await insertOrganizations(database);
  const { calls } = database;
  for (const id of ["b", "c", "a"]) await calls.start(callRecord({ id }), "run");
  await calls.start(callRecord({ id: "theirs", orgId: "other" }), "run");
  const last = async (...ids: readonly string[]) => {
    const sessionIds = ids.map((id) => callRecord({ id }).sessionId);
    return (await calls.findLastOf("org", sessionIds))?.id;
  };
  assert.equal(await last("a", "b", "c", "nobody", "theirs"), "a");
  assert.equal(await last("c", "b"), "c");
  assert.equal(await last("nobody", "theirs"), undefined);
});

test("a saved turn adds messages and stages, and replaces the metrics", async (context) => {
  const database = await temporaryDatabase(context);
  const { calls } = database;
  await insertOrganizations(database);
  await calls.start(callRecord(), "run");
  await calls.saveTurn("call", {
    messages: [QUESTION, ANSWER],
    metrics: METRICS,
    turn: { index: 0, totalMs: 401.25 },
    atMs: NOON_MS + 3,
  });
  await calls.saveTurn("call", {
    messages: [],
    metrics: { ...METRICS, turnCount: 4 },
    turn: undefined,
    atMs: NOON_MS + 4,
  });
  const call = await calls.findById("org", "call");
  assert.deepEqual(call?.transcript, [QUESTION, ANSWER]);
  assert.deepEqual(call?.metadata, { turns: [{ index: 0, totalMs: 401.25 }] });
  assert.deepEqual(call?.metrics, { ...METRICS, turnCount: 4 });
});

test("a turn is saved whether or not another call has changed its conversation", async (context) => {
  const database = await temporaryDatabase(context);
  const { calls, history } = database;
  await insertOrganizations(database);
  await calls.start(callRecord(), "run");
  const turn = { messages: [QUESTION], metrics: METRICS, turn: undefined, atMs: NOON_MS };
  const id = { orgId: "org", key: "key" };
  const kept = [{ role: "user", content: "Open today?" }] as const;
  const change = { id, known: [], kept, savedAtMs: NOON_MS };
  assert.equal(await calls.saveTurn("call", turn), true);
  assert.equal(await calls.saveTurn("call", turn, change), true);
  assert.deepEqual(await history.load("org", "key", 0), kept);
  assert.equal(await calls.saveTurn("call", turn, { ...change, kept: [] }), false);
  const alone = { ...change, known: kept, savedAtMs: NOON_MS + 1 };
  assert.equal(await calls.saveTurn("call", { ...turn, messages: [] }, alone), true);
  await assert.rejects(calls.saveTurn("gone", turn, { ...change, known: kept, kept: [] }));
  assert.deepEqual(await history.load("org", "key", 0), kept);
  assert.equal((await calls.findById("org", "call"))?.transcript.length, 3);
});

test("a turn of a call that is not active is refused completely", async (context) => {
  const database = await temporaryDatabase(context);
  const { calls } = database;
  await insertOrganizations(database);
  await calls.start(callRecord(), "run");
  await calls.finish("call", END);
  const late = { messages: [QUESTION], metrics: NO_METRICS, turn: {}, atMs: NOON_MS };
  await assert.rejects(calls.saveTurn("call", late), /call call, which is not active/);
  await assert.rejects(calls.saveTurn("unknown", late), /not active/);
  const empty = { messages: [], metrics: NO_METRICS, turn: undefined, atMs: NOON_MS };
  await assert.rejects(calls.saveTurn("call", empty), /not active/);
  assert.deepEqual((await calls.findById("org", "call"))?.transcript, [ANSWER]);
});

test("a call's end stores its last turn and adds to the usage of its day", async (context) => {
  const database = await temporaryDatabase(context);
  const { calls, usage } = database;
  await insertOrganizations(database);
  await calls.start(callRecord({ metadata: { from: "lobby" } }), "run");
  assert.equal(await calls.finish("call", END), true);
  assert.deepEqual(
    await calls.findById("org", "call"),
    callRecord({
      status: "completed",
      endedAtMs: END.endedAtMs,
      durationSec: 90,
      metrics: METRICS,
      transcript: [ANSWER],
      metadata: { from: "lobby", endReason: "caller hung up", turns: [{ index: 1 }] },
    }),
  );
  assert.deepEqual(await usage.list("org", ...ANY_DAY), [usageRecord()]);
});

test("later metadata of a call is merged into the earlier, and ignored for a call that does not exist", async (context) => {
  const database = await temporaryDatabase(context);
  const { calls } = database;
  await insertOrganizations(database);
  await calls.start(callRecord({ metadata: { from: "lobby" } }), "run");
  await calls.annotate("call", { answeredBy: "human" });
  await calls.finish("call", END);
  await calls.annotate("call", { answeredBy: "fax" });
  await calls.annotate("no such call", { answeredBy: "human" });
  assert.deepEqual((await calls.findById("org", "call"))?.metadata, {
    from: "lobby",
    answeredBy: "fax",
    endReason: "caller hung up",
    turns: [{ index: 1 }],
  });
});

test("a turn and what it changes in the metadata are one commit", async (context) => {
  const database = await temporaryDatabase(context);
  const { calls } = database;
  await insertOrganizations(database);
  await calls.start(callRecord({ metadata: { unspokenTexts: ["one"], isMuted: true } }), "run");
  const turn = { messages: [], metrics: NO_METRICS, turn: undefined, atMs: NOON_MS };
  const stored = async () => (await calls.findById("org", "call"))?.metadata;
  await calls.saveTurn("call", turn);
  assert.deepEqual(await stored(), { unspokenTexts: ["one"], isMuted: true, turns: [] });
  await calls.saveTurn("call", { ...turn, metadata: { unspokenTexts: null } });
  assert.deepEqual(await stored(), { isMuted: true, turns: [] });
});

test("what a note is about stands in the audit trail together with it, and not without a call", async (context) => {
  const database = await temporaryDatabase(context);
  const { calls, audit } = database;
  await insertOrganizations(database);
  await calls.start(callRecord(), "run");
  const entry = {
    id: "muted",
    orgId: "org",
    atMs: NOON_MS,
    actor: { type: "user", id: "user" },
    action: "call.mute",
    targetType: "call",
    targetId: "call",
    targetName: "call",
    changes: [],
  } as const;
  await calls.annotate("call", { isMuted: true }, entry);
  await calls.annotate("no such call", { isMuted: true }, { ...entry, id: "nowhere" });
  assert.equal((await calls.findById("org", "call"))?.metadata["isMuted"], true);
  assert.deepEqual(await audit.list("org", { skip: 0, limit: 10 }), { items: [entry], total: 1 });
});

test("a condition on a call's metadata is met for one of two writers", async (context) => {
  const database = await temporaryDatabase(context);
  const { calls } = database;
  await insertOrganizations(database);
  await calls.start(callRecord({ metadata: { result: "dialing" } }), "run");
  const isOpen = (metadata: JsonObject) => metadata["result"] === "dialing";
  const written = await Promise.all([
    calls.annotateIf("call", isOpen, { result: "busy" }),
    calls.annotateIf("call", isOpen, { result: "answered" }),
  ]);
  assert.deepEqual(written.toSorted(), [false, true]);
  assert.equal(await calls.annotateIf("no such call", () => true, {}), false);
});

test("a call ends once: a second end changes nothing and adds no usage", async (context) => {
  const database = await temporaryDatabase(context);
  const { calls, usage } = database;
  await insertOrganizations(database);
  await calls.start(callRecord(), "run");
  const [first, second, ofNobody] = await Promise.all([
    calls.finish("call", END),
    calls.finish("call", { ...END, status: "failed" }),
    calls.finish("unknown", END),
  ]);
  // The database decides which of the two comes first.
  assert.notEqual(first, second);
  assert.equal(ofNobody, false);
  const call = await calls.findById("org", "call");
  assert.equal(call?.status, first ? "completed" : "failed");
  assert.deepEqual(call?.transcript, [ANSWER]);
  assert.deepEqual(await usage.list("org", ...ANY_DAY), [usageRecord()]);
});

test("an end that depends on the metadata sees what others have stored before it", async (context) => {
  const database = await temporaryDatabase(context);
  const { calls, usage } = database;
  await insertOrganizations(database);
  await calls.start(callRecord(), "run");
  const seen: unknown[] = [];
  const metadataFrom = (stored: JsonObject) => {
    seen.push(stored["result"]);
    return { result: stored["result"] ?? "pending" };
  };
  const [, isFirst] = await Promise.all([
    calls.annotate("call", { result: "busy" }),
    calls.finish("call", { ...END, metadataFrom }),
  ]);
  assert.equal(isFirst, true);
  assert.equal(seen.at(-1), "busy");
  const call = await calls.findById("org", "call");
  assert.deepEqual([call?.status, call?.metadata["result"]], ["completed", "busy"]);
  assert.equal(await calls.finish("call", { ...END, metadataFrom }), false);
  assert.equal(await calls.finish("unknown", { ...END, metadataFrom }), false);
  assert.deepEqual(await usage.list("org", ...ANY_DAY), [usageRecord()]);
});

test("an end of which one part is refused is not stored at all", async (context) => {
  const database = await temporaryDatabase(context);
  const { calls } = database;
  await insertOrganizations(database);
  await calls.start(callRecord(), "run");
  const broken = { ...END, usage: usageRecord({ orgId: "nobody" }) };
  await assert.rejects(calls.finish("call", broken), ForeignKeyViolationError);
  assert.deepEqual(await calls.findById("org", "call"), callRecord({ metadata: { turns: [] } }));
});

test("a summary and a sentiment can be set separately, on a call that exists", async (context) => {
  const database = await temporaryDatabase(context);
  const { calls } = database;
  await insertOrganizations(database);
  await calls.start(callRecord(), "run");
  await calls.saveSummary("call", { summary: "Asked for the opening hours." });
  await calls.saveSummary("call", { sentiment: "positive" });
  await calls.saveSummary("call", {});
  const call = await calls.findById("org", "call");
  assert.equal(call?.summary, "Asked for the opening hours.");
  assert.equal(call?.sentiment, "positive");
  await assert.rejects(calls.saveSummary("unknown", { summary: "" }), /no call unknown/);
});

test("transcripts are stored in every script, with the character NUL", async (context) => {
  const database = await temporaryDatabase(context);
  const { calls } = database;
  await insertOrganizations(database);
  const texts = ["", "¿Sí?", "今日は", "שלום", "\u{1F468}\u200D\u{1F373}", "a\u0000b", "'); --"];
  const messages = texts.map((text) => ({ role: "user", text, timestamp: NOON_MS }) as const);
  await calls.start(callRecord({ metadata: { note: "a\u0000b\u{1F950}" } }), "run");
  await calls.finish("call", { ...END, metadata: { more: "\u0000" }, messages });
  const call = await calls.findById("org", "call");
  assert.deepEqual(call?.transcript, messages);
  assert.equal(call?.metadata["note"], "a\u0000b\u{1F950}");
  assert.equal(call?.metadata["more"], "\u0000");
});

test("a transcript of many thousand messages is stored completely and in order", async (context) => {
  const database = await temporaryDatabase(context);
  const { calls } = database;
  await insertOrganizations(database);
  await calls.start(callRecord(), "run");
  const messages = Array.from({ length: 12_000 }, (_, index) => ({
    role: "user" as const,
    text: `word ${index}`,
    timestamp: NOON_MS,
  }));
  await calls.finish("call", { ...END, messages });
  assert.deepEqual((await calls.findById("org", "call"))?.transcript, messages);
});
