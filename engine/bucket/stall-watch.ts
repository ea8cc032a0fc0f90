import type { CancelTimer, Clock } from "../time/clock.js";

/** Aborts what makes no progress for so long. */
export class StallWatch {
  readonly #clock: Clock;
  readonly #stallMaxMs: number;
  readonly #abort = new AbortController();
  #cancel: CancelTimer = () => {};

  constructor(clock: Clock, stallMaxMs: number) {
    this.#clock = clock;
    this.#stallMaxMs = stallMaxMs;
    this.touch();
  }

  get signal(): AbortSignal {
    return this.#abort.signal;
  }

  /** Progress was made. */
  touch(): void {
    this.#cancel();
    this.#cancel = this.#clock.after(this.#stallMaxMs, () =>
      this.#abort.abort(new Error(`nothing moved for ${this.#stallMaxMs / 1_000} seconds`)),
    );
  }

  /** Nothing is waited for until the next `touch`. */
  rest(): void {
    this.#cancel();
  }
}
