import type { CallStore } from "../../../storage/calls/call-store.js";
import { StorageUnavailable } from "../../../storage/statements/storage-failure.js";
import type { Logger } from "../../log.js";
import type { Clock } from "../../time/clock.js";

/** A server that lives says so more than twice in this time. */
const RUN_SILENCE_MAX_MS = 12_000;
const LOOK_MS = 1_000;

export interface OtherServerOptions {
  readonly calls: Pick<CallStore, "otherRuns">;
  readonly clock: Clock;
  readonly log: Logger;
}

/**
 * For a start that found no lock: a server that lives may have lost it, and its calls must not be closed as those of a
 * dead one. Waits until every run that has left its name has been silent for long enough; rejects with
 * `StorageUnavailable` when one goes on. By the beats alone, since wall clocks may have been set.
 */
export async function refuseBesideOther({ calls, clock, log }: OtherServerOptions): Promise<void> {
  const first = await calls.otherRuns("");
  if (first.size === 0) return;
  log.warn(
    { seconds: RUN_SILENCE_MAX_MS / 1_000 },
    "the database's lock file was not there: waiting whether another server is at work on it",
  );
  const endMs = clock.monotonicMs() + RUN_SILENCE_MAX_MS;
  while (clock.monotonicMs() < endMs) {
    await new Promise<void>((resolve) => {
      clock.after(LOOK_MS, resolve);
    });
    for (const [runId, beatMs] of await calls.otherRuns("")) {
      if (first.get(runId) === beatMs) continue;
      throw new StorageUnavailable(
        "another server runs on the database, though its lock file is gone: stop that one first, or give this one a folder of its own",
      );
    }
  }
}
