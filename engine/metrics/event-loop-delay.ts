import { monitorEventLoopDelay, performance } from "node:perf_hooks";

const RESOLUTION_MS = 10;
const NS_PER_MS = 1_000_000;
/** A loop with a smaller share of work is idle: a garbage collection of an idle process takes some 100 ms. */
const BUSY_SHARE = 0.25;

/** In ms, without the monitor's own period. */
export interface Lateness {
  readonly p50Ms: number;
  readonly p90Ms: number;
  readonly p99Ms: number;
  readonly maxMs: number;
}

const NONE: Lateness = { p50Ms: 0, p90Ms: 0, p99Ms: 0, maxMs: 0 };

/**
 * Measures how late the event loop runs its timers. Monitoring wakes the process a hundred times a second, so it runs
 * only while there are calls or the loop has other work.
 */
export class EventLoopDelay {
  readonly #histogram = monitorEventLoopDelay({ resolution: RESOLUTION_MS });
  readonly #takeBusyShare: () => number;
  #isWatching = false;
  #worst = NONE;

  /** `takeBusyShare`: the share of time, 0 to 1, in which the event loop worked since the last call of the function. */
  constructor(takeBusyShare: () => number = processBusyShare()) {
    this.#takeBusyShare = takeBusyShare;
  }

  get isWatching(): boolean {
    return this.#isWatching;
  }

  /** Starts monitoring when a call begins, so that the next `take` includes the call. */
  watch(): void {
    if (this.#isWatching) return;
    this.#isWatching = true;
    // Otherwise the time since monitoring was last disabled would count as lateness.
    this.#histogram.reset();
    this.#histogram.enable();
  }

  /** Returns the p99 since the last `take` in ms, or 0 without monitoring. Then starts or stops monitoring. */
  take(hasCalls: boolean): number {
    const lateness = this.#isWatching ? this.#lateness() : NONE;
    this.#worst = worstOf(this.#worst, lateness);
    this.#histogram.reset();
    const isBusy = this.#takeBusyShare() > BUSY_SHARE;
    if (hasCalls || isBusy) this.watch();
    else this.close();
    return lateness.p99Ms;
  }

  /** Returns the highest value of each figure since the last `takeWorst`. */
  takeWorst(): Lateness {
    const worst = this.#worst;
    this.#worst = NONE;
    return worst;
  }

  close(): void {
    this.#isWatching = false;
    this.#histogram.disable();
  }

  #lateness(): Lateness {
    const late = (delayNs: number) => Math.max(0, delayNs / NS_PER_MS - RESOLUTION_MS);
    return {
      p50Ms: late(this.#histogram.percentile(50)),
      p90Ms: late(this.#histogram.percentile(90)),
      p99Ms: late(this.#histogram.percentile(99)),
      maxMs: late(this.#histogram.max),
    };
  }
}

function worstOf(one: Lateness, other: Lateness): Lateness {
  return {
    p50Ms: Math.max(one.p50Ms, other.p50Ms),
    p90Ms: Math.max(one.p90Ms, other.p90Ms),
    p99Ms: Math.max(one.p99Ms, other.p99Ms),
    maxMs: Math.max(one.maxMs, other.maxMs),
  };
}

function processBusyShare(): () => number {
  let last = performance.eventLoopUtilization();
  return () => {
    const now = performance.eventLoopUtilization();
    const { utilization } = performance.eventLoopUtilization(now, last);
    last = now;
    return utilization;
  };
}
