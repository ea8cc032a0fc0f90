import { monitorEventLoopDelay, performance } from "node:perf_hooks";

const RESOLUTION_MS = 10;
const NS_PER_MS = 1_000_000;
/** A loop that works for less of a second than this is not busy: the collector tidies an idle process for some 100 ms. */
const BUSY_SHARE = 0.25;

/** In ms; the monitor's own period is not counted as lateness. */
export interface Lateness {
  readonly p50Ms: number;
  readonly p90Ms: number;
  readonly p99Ms: number;
  readonly maxMs: number;
}

const NONE: Lateness = { p50Ms: 0, p90Ms: 0, p99Ms: 0, maxMs: 0 };

/**
 * How late the event loop runs its timers. Watching wakes the process a hundred times a second, so that it is done only
 * while calls are in progress or the loop has other work.
 */
export class EventLoopDelay {
  readonly #histogram = monitorEventLoopDelay({ resolution: RESOLUTION_MS });
  readonly #takeBusyShare: () => number;
  #isWatching = false;
  #worst = NONE;

  /** `takeBusyShare`: the part of the time since it was last asked in which the event loop worked, 0 to 1. */
  constructor(takeBusyShare: () => number = processBusyShare()) {
    this.#takeBusyShare = takeBusyShare;
  }

  get isWatching(): boolean {
    return this.#isWatching;
  }

  /** For the moment at which a call begins: the next `take` already judges what the loop does with it. */
  watch(): void {
    if (this.#isWatching) return;
    this.#isWatching = true;
    // Otherwise the time since it was last switched off would count as lateness.
    this.#histogram.reset();
    this.#histogram.enable();
  }

  /** p99 since the last take, in ms, 0 where nothing was watched; decides whether to watch from here to the next one. */
  take(hasCalls: boolean): number {
    const lateness = this.#isWatching ? this.#lateness() : NONE;
    this.#worst = worstOf(this.#worst, lateness);
    this.#histogram.reset();
    const isBusy = this.#takeBusyShare() > BUSY_SHARE;
    if (hasCalls || isBusy) this.watch();
    else this.close();
    return lateness.p99Ms;
  }

  /** The worst of each figure that a `take` has seen since the last `takeWorst`. */
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
