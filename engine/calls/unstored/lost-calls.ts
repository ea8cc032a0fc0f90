import type { CallStore } from "../../../storage/calls/call-store.js";
import type { Logger } from "../../log.js";
import type { Clock } from "../../time/clock.js";

export interface LostCallsOptions {
  readonly calls: Pick<CallStore, "listActive" | "closeLost">;
  readonly runId: string;
  /** Whether the call lives, or its end is on its way to the store. */
  readonly isKnown: (callId: string) => boolean;
  readonly clock: Clock;
  readonly log: Logger;
}

/** Closes calls of this run that are stored as active and that nobody knows: their end had to be given up. */
export class LostCalls {
  readonly #options: LostCallsOptions;
  /** Unknown at the last look. A call that begins or ends between two questions is unknown once, never twice. */
  #suspects: ReadonlySet<string> = new Set();

  constructor(options: LostCallsOptions) {
    this.#options = options;
  }

  /** Says how many were closed. */
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
