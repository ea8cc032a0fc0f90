import type { CancelTimer, Clock } from "../../engine/time/clock.js";

interface Playing {
  readonly turnId: number;
  readonly index: number;
  leftMs: number;
}

/** Plays one sentence after another on a clock, can stand still, and tells what was heard to its end. */
export class SimulatedTelephone {
  readonly #clock: Clock;
  readonly #onHeard: (turnId: number, index: number) => void;
  #queue: Playing[] = [];
  #sinceMs = 0;
  #cancel: CancelTimer | undefined;

  constructor(clock: Clock, onHeard: (turnId: number, index: number) => void) {
    this.#clock = clock;
    this.#onHeard = onHeard;
  }

  play(turnId: number, index: number, durationMs: number): void {
    this.#queue.push({ turnId, index, leftMs: durationMs });
    if (this.#queue.length === 1) this.resume();
  }

  hold(): void {
    const current = this.#queue[0];
    if (current !== undefined) current.leftMs -= this.#clock.monotonicMs() - this.#sinceMs;
    this.#cancel?.();
    this.#cancel = undefined;
  }

  resume(): void {
    const current = this.#queue[0];
    if (current === undefined || this.#cancel !== undefined) return;
    this.#sinceMs = this.#clock.monotonicMs();
    this.#cancel = this.#clock.after(current.leftMs, () => {
      this.#cancel = undefined;
      this.#queue.shift();
      this.#onHeard(current.turnId, current.index);
      this.resume();
    });
  }

  clear(): void {
    this.#cancel?.();
    this.#cancel = undefined;
    this.#queue = [];
  }
}
