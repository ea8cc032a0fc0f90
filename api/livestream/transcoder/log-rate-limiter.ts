import type { Clock } from "../../../engine/time/clock.js";

const LINES_PER_MINUTE_MAX = 20;
const MINUTE_MS = 60_000;

/** How many lines of one ffmpeg reach the log in a minute. */
export class LogRateLimiter {
  readonly #clock: Clock;
  #minute = 0;
  #count = 0;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  takes(): boolean {
    const minute = Math.floor(this.#clock.monotonicMs() / MINUTE_MS);
    if (minute !== this.#minute) this.#count = 0;
    this.#minute = minute;
    this.#count += 1;
    return this.#count <= LINES_PER_MINUTE_MAX;
  }
}
