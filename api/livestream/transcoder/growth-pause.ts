/** A reduced ladder waits for this long before it grows. The pause doubles with each reduction, and starts over after an hour without one. */
export const GROWTH_PAUSE_MIN_MS = 30_000;
export const GROWTH_PAUSE_MAX_MS = 30 * 60_000;
export const REDUCTIONS_FORGOTTEN_MS = 60 * 60_000;

/** Prevents a ladder from growing into the same overload repeatedly. */
export class GrowthPause {
  #pauseMs = 0;
  #reducedMs = Number.NEGATIVE_INFINITY;

  noteReduced(nowMs: number): void {
    const isForgotten = nowMs - this.#reducedMs > REDUCTIONS_FORGOTTEN_MS;
    const pauseMs = isForgotten ? 0 : this.#pauseMs * 2;
    this.#pauseMs = Math.min(Math.max(pauseMs, GROWTH_PAUSE_MIN_MS), GROWTH_PAUSE_MAX_MS);
    this.#reducedMs = nowMs;
  }

  isOver(nowMs: number): boolean {
    return nowMs - this.#reducedMs >= this.#pauseMs;
  }
}
