import assert from "node:assert/strict";
import { test } from "node:test";
import { OrphanedCalls } from "../../../engine/calls/orphaned-calls.js";
import { RecordingLogger } from "../../doubles/recording-logger.js";
import { VirtualClock } from "../../doubles/virtual-clock.js";
import { callRecord, insertOrganizations, METRICS, NOON_MS } from "../../storage/sample-records.js";
import { temporaryDatabase } from "../../storage/temporary-file.js";

test("unknown calls of this run are closed at the second check, with their last sign of life", async (t) => {
  const database = await temporaryDatabase(t);
  await insertOrganizations(database);
  const { calls } = database;
  for (const id of ["live", "lost"]) await calls.start(callRecord({ id }), "this run");
  await calls.start(callRecord({ id: "other" }), "other run");
  const turn = { messages: [], metrics: METRICS, turn: undefined, atMs: NOON_MS + 30_000 };
  await calls.saveTurn("lost", turn);
  await calls.heartbeat("this run", NOON_MS + 90_000);
  const clock = new VirtualClock(NOON_MS + 100_000);
  const log = new RecordingLogger();
  const isKnown = (callId: string) => callId === "live";
  const lostCalls = new OrphanedCalls({ calls, runId: "this run", isKnown, clock, log });
  assert.equal(await lostCalls.sweep(), 0, "it may only just have begun or ended");
  await calls.start(callRecord({ id: "new" }), "this run");
  assert.equal(await lostCalls.sweep(), 1);
  const lost = await calls.findById("org", "lost");
  assert.equal(lost?.status, "failed");
  assert.equal(lost.endedAtMs, NOON_MS + 30_000);
  assert.equal(lost.metadata["endReason"], "the end of the call was lost");
  for (const id of ["live", "other", "new"]) {
    assert.equal((await calls.findById("org", id))?.status, "active", id);
  }
  assert.deepEqual(
    log.lines.map(({ level, fields }) => [level, fields]),
    [["error", { count: 1 }]],
  );
});

test("any number of lost calls is closed", async (t) => {
  const database = await temporaryDatabase(t);
  await insertOrganizations(database);
  const { calls } = database;
  const ids = Array.from({ length: 230 }, (_, index) => `call ${index}`);
  await Promise.all(ids.map((id) => calls.start(callRecord({ id }), "this run")));
  const clock = new VirtualClock(NOON_MS);
  const log = new RecordingLogger();
  const isKnown = () => false;
  const lostCalls = new OrphanedCalls({ calls, runId: "this run", isKnown, clock, log });
  await lostCalls.sweep();
  assert.equal(await lostCalls.sweep(), 230);
  assert.equal(await lostCalls.sweep(), 0);
});
