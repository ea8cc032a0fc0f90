import assert from "node:assert/strict";
import { test } from "node:test";
import { refuseBesideOther } from "../../../engine/calls/orphaned-calls.js";
import { StorageUnavailableError } from "../../../storage/statements/storage-error.js";
import { RecordingLogger } from "../../doubles/recording-logger.js";
import { VirtualClock } from "../../doubles/virtual-clock.js";
import { temporaryDatabase } from "../../storage/temporary-file.js";

const RUN_SILENCE_MAX_MS = 12_000;
/** Advances the time for as long as a wait is pending. */
async function pass(clock: VirtualClock, onSecond: () => Promise<void>): Promise<void> {
  for (let second = 0; second * 1_000 <= RUN_SILENCE_MAX_MS; second += 1) {
    await onSecond();
    clock.advance(1_000);
    await onSecond();
  }
}

test("a run whose heart beats on refuses the start; its clock may say what it wants", async (t) => {
  const { calls } = await temporaryDatabase(t);
  const clock = new VirtualClock();
  await calls.heartbeat("dead", 5);
  await calls.heartbeat("alive", 5);
  const refused = assert.rejects(
    refuseBesideOther({ calls, clock, log: new RecordingLogger() }),
    (error) =>
      error instanceof StorageUnavailableError && /another server runs/.test(error.message),
  );
  let beat = 10;
  await pass(clock, async () => {
    beat -= 1;
    await calls.heartbeat("alive", beat);
  });
  await refused;
});

test("runs that are silent for long enough are dead, and a fresh database waits for none", async (t) => {
  const { calls } = await temporaryDatabase(t);
  const clock = new VirtualClock();
  const log = new RecordingLogger();
  await refuseBesideOther({ calls, clock, log });
  assert.deepEqual(log.lines, []);
  await calls.heartbeat("dead", Number.MAX_SAFE_INTEGER);
  const waited = refuseBesideOther({ calls, clock, log });
  await pass(clock, async () => void (await calls.otherRuns("")));
  await waited;
  assert.equal(log.ofLevel("warn").length, 1);
});
