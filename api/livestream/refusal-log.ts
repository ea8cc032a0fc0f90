import type { Logger } from "../../engine/log.js";
import type { Clock } from "../../engine/time/clock.js";

/** A refused hook retries forever, and so may thousands. */
const LINE_PERIOD_MS = 10_000;

/** Logs why webhooks are refused, without a line for each. */
export class RefusalLog {
  readonly #log: Logger;
  readonly #clock: Clock;
  #quietUntilMs = Number.NEGATIVE_INFINITY;
  #suppressedCount = 0;

  constructor(log: Logger, clock: Clock) {
    this.#log = log;
    this.#clock = clock;
  }

  /** `reason` is the response to the ingest: names of fields, and no values. */
  note(route: string, reason: string): void {
    const nowMs = this.#clock.monotonicMs();
    if (nowMs < this.#quietUntilMs) {
      this.#suppressedCount += 1;
      return;
    }
    this.#log.warn({ route, reason, untoldCount: this.#suppressedCount }, "webhook refused");
    this.#quietUntilMs = nowMs + LINE_PERIOD_MS;
    this.#suppressedCount = 0;
  }
}
