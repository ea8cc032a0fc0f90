/** Runs actions after the vendor's configured latency, in order: none overtakes one that was decided before it. */
export class DelayedEvents {
  readonly #latencyMs: () => number;
  #dueMs = 0;
  readonly #waiting: (() => void)[] = [];

  /** `latencyMs` is called each time: tests change it while a call is in progress. */
  constructor(latencyMs: () => number) {
    this.#latencyMs = latencyMs;
  }

  later(action: () => void): void {
    const nowMs = performance.now();
    this.#dueMs = Math.max(this.#dueMs, nowMs + this.#latencyMs());
    if (this.#dueMs <= nowMs && this.#waiting.length === 0) {
      action();
      return;
    }
    this.#waiting.push(action);
    setTimeout(() => this.#waiting.shift()?.(), this.#dueMs - nowMs).unref();
  }
}
