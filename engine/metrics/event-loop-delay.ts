import { monitorEventLoopDelay } from "node:perf_hooks";

const RESOLUTION_MS = 10;
const NS_PER_MS = 1_000_000;

/** How late the event loop runs its timers. */
export class EventLoopDelay {
  readonly #histogram = monitorEventLoopDelay({ resolution: RESOLUTION_MS });

  constructor() {
    this.#histogram.enable();
  }

  /** p99 since the last take, in ms; the monitor's own period is not counted as lateness. */
  take(): number {
    const delayMs = this.#histogram.percentile(99) / NS_PER_MS - RESOLUTION_MS;
    this.#histogram.reset();
    return Math.max(0, delayMs);
  }

  close(): void {
    this.#histogram.disable();
  }
}
