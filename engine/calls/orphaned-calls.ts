import type { CallStore } from "../../storage/calls/call-store.js";
import { StorageUnavailableError } from "../../storage/statements/storage-error.js";
import type { Logger } from "../log.js";
import type { Clock } from "../time/clock.js";

export interface OrphanedCallsOptions {
  readonly calls: Pick<CallStore, "listActive" | "closeLost">;
  readonly runId: string;
  /** Whether the call is alive, or its end is on its way to the store. */
  readonly isKnown: (callId: string) => boolean;
  readonly clock: Clock;
  readonly log: Logger;
}

/** Closes calls of this run that are stored as active and are not alive: their end could not be stored. */
export class OrphanedCalls {
  readonly #options: OrphanedCallsOptions;
  /** Unknown at the last check. A call that begins or ends between two queries is unknown once, never twice. */
  #suspects: ReadonlySet<string> = new Set();

  constructor(options: OrphanedCallsOptions) {
    this.#options = options;
  }

  /** Returns the number of closed calls. */
  async sweep(): Promise<number> {
    const { calls, runId, isKnown, clock, log } = this.#options;
    const unknown = (await calls.listActive(runId)).filter((callId) => !isKnown(callId));
    const lost = unknown.filter((callId) => this.#suspects.has(callId));
    this.#suspects = new Set(unknown);
    if (lost.length === 0) return 0;
    const count = await calls.closeLost(lost, clock.epochMs());
    log.error({ count }, "calls whose end was lost were closed as failed");
    return count;
  }
}

/** A live server sends more than two heartbeats in this time. */
const RUN_SILENCE_MAX_MS = 12_000;
const SWEEP_INTERVAL_MS = 1_000;

export interface OtherServerOptions {
  readonly calls: Pick<CallStore, "otherRuns">;
  readonly clock: Clock;
  readonly log: Logger;
}

/**
 * For a start that found no lock: a live server may have lost it, and its calls must not be closed as those of a
 * dead one. Waits until every run that has left its name has been silent for long enough; rejects with
 * `StorageUnavailableError` when one continues. Only heartbeats count, since wall clocks may have been set.
 */
export async function refuseBesideOther({ calls, clock, log }: OtherServerOptions): Promise<void> {
  const first = await calls.otherRuns("");
  if (first.size === 0) return;
  log.warn(
    { seconds: RUN_SILENCE_MAX_MS / 1_000 },
    "the database's lock file is missing: checking whether another server uses the database",
  );
  const endMs = clock.monotonicMs() + RUN_SILENCE_MAX_MS;
  while (clock.monotonicMs() < endMs) {
    await new Promise<void>((resolve) => {
      clock.after(SWEEP_INTERVAL_MS, resolve);
    });
    for (const [runId, beatMs] of await calls.otherRuns("")) {
      if (first.get(runId) === beatMs) continue;
      throw new StorageUnavailableError(
        "another server runs on the database, though its lock file is gone: stop that one first, or give this one a folder of its own",
      );
    }
  }
}
