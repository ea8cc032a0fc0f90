import type { Clock } from "../time/clock.js";

/** Enough for a quantile that one slow batch does not move, and over in a tenth of a second of a full box. */
const WAITS_KEPT_MAX = 64;
/** What is older says nothing about now: a box that refuses calls must see its queue empty again though nothing passes it. */
const WAITS_KEPT_MS = 5_000;
/** One slow thing is one: whoever looks every second must not meet it five times. */
const LAST_KEPT_MS = 1_000;

/** How long the last few things have waited. */
export class RecentWaits {
  readonly #clock: Clock;
  readonly #waits = new Float64Array(WAITS_KEPT_MAX);
  readonly #atMs = new Float64Array(WAITS_KEPT_MAX);
  #count = 0;
  #countedFromMs = Number.NEGATIVE_INFINITY;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** That something has come through that waited since then. */
  addSince(sinceMs: number): void {
    const nowMs = this.#clock.monotonicMs();
    this.#waits[this.#count % WAITS_KEPT_MAX] = nowMs - Math.max(sinceMs, this.#countedFromMs);
    this.#atMs[this.#count % WAITS_KEPT_MAX] = nowMs;
    this.#count += 1;
  }

  /** What still waits counts only from now on, too. */
  forget(): void {
    this.#count = 0;
    this.#countedFromMs = this.#clock.monotonicMs();
  }

  /** 0 when there was none within LAST_KEPT_MS. */
  get lastMs(): number {
    return this.#recent(LAST_KEPT_MS).at(-1) ?? 0;
  }

  /** What 95 of 100 do not exceed; 0 when there was none of late. */
  get p95Ms(): number {
    const sorted = this.#recent(WAITS_KEPT_MS).sort((one, other) => one - other);
    return sorted[Math.ceil(0.95 * sorted.length) - 1] ?? 0;
  }

  /** Oldest first. */
  #recent(keptMs: number): number[] {
    const sinceMs = this.#clock.monotonicMs() - keptMs;
    const recent: number[] = [];
    for (let at = Math.max(0, this.#count - WAITS_KEPT_MAX); at < this.#count; at += 1) {
      const slot = at % WAITS_KEPT_MAX;
      if ((this.#atMs[slot] ?? 0) >= sinceMs) recent.push(this.#waits[slot] ?? 0);
    }
    return recent;
  }
}
