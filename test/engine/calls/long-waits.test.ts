import assert from "node:assert/strict";
import { type TestContext, test } from "node:test";
import { CALLER_LEFT } from "../../../engine/conversation/call-end.js";
import type { TurnSave } from "../../../engine/conversation/effects.js";
import { NO_METRICS } from "../../storage/sample-records.js";
import { CALL_START, temporaryJournal } from "./temporary-journal.js";

const NOTHING: TurnSave = { messages: [], metrics: NO_METRICS, report: undefined, added: [] };

/** The record of a call whose turns had the caller wait this long. */
async function reportOf(context: TestContext, ...waitsMs: readonly number[]) {
  const { database, journal } = await temporaryJournal(context);
  const entry = await journal.start(CALL_START);
  for (const totalMs of waitsMs) {
    const report = { turn: 1, kind: "reply", outcome: "played", totalMs } as const;
    entry.turnSaved({ ...NOTHING, report });
  }
  entry.ended(CALLER_LEFT, NOTHING);
  await journal.stored();
  const call = await database.calls.findById("org", "call");
  return [call?.metadata["longestWaitMs"], call?.metadata["waitedForLong"]];
}

test("one wait that a caller takes for a dead line is reported for the call, whatever the others were", async (context) => {
  assert.deepEqual(await reportOf(context, 300, 5_000.4, 200), [5_000, true]);
});

test("waits that callers tolerate are not reported", async (context) => {
  assert.deepEqual(await reportOf(context, 4_999, 4_999), [undefined, undefined]);
});

test("the length of an STT outage is reported, and that it was long from five seconds on", async (context) => {
  const heardNothing = async (...durationsMs: readonly number[]) => {
    const { database, journal } = await temporaryJournal(context);
    const entry = await journal.start(CALL_START);
    for (const durationMs of durationsMs) entry.wasDeaf(durationMs);
    entry.ended(CALLER_LEFT, NOTHING);
    await journal.stored();
    const call = await database.calls.findById("org", "call");
    return [call?.metadata["sttOutageMs"], call?.metadata["longSttOutage"]];
  };
  assert.deepEqual(await heardNothing(), [undefined, undefined]);
  assert.deepEqual(await heardNothing(2_000.4, 2_999), [4_999, undefined]);
  assert.deepEqual(await heardNothing(2_000, 3_000), [5_000, true]);
});
