import { type CancelTimer, type Clock, SystemClock } from "../../time/clock.js";

export const FRAME_MS = 20;
/** Callers are spread over the frame's time, as real ones are, instead of all speaking at the same instant. */
const SLOT_MS = 2;
const SLOTS = FRAME_MS / SLOT_MS;
/** After a longer pause of the process the frames in between are lost, not sent in one burst. */
const CATCH_UP_MS_MAX = 1000;

/** Calls every caller of the process once per 20 ms from one timer, without drift: a late tick does not delay the next. */
export class MicrophoneClock {
  readonly #clock: Clock;
  readonly #slots = Array.from({ length: SLOTS }, () => new Set<() => void>());
  #cancelTimer: CancelTimer | undefined;
  /** The number of the next slot since the clock's zero. */
  #next = 0;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** The returned function stops it. */
  add(tick: () => void): () => void {
    const slot = this.#slots.reduce((least, other) => (other.size < least.size ? other : least));
    slot.add(tick);
    if (this.#cancelTimer === undefined) {
      this.#next = Math.ceil(this.#clock.monotonicMs() / SLOT_MS);
      this.#schedule();
    }
    return () => {
      slot.delete(tick);
      if (this.#slots.every(({ size }) => size === 0)) {
        this.#cancelTimer?.();
        this.#cancelTimer = undefined;
      }
    };
  }

  #run(): void {
    const nowMs = this.#clock.monotonicMs();
    const oldest = Math.floor((nowMs - CATCH_UP_MS_MAX) / SLOT_MS);
    this.#next = Math.max(this.#next, oldest);
    while (this.#next * SLOT_MS <= nowMs) {
      for (const tick of this.#slots[this.#next % SLOTS] ?? []) tick();
      this.#next += 1;
    }
    if (this.#cancelTimer !== undefined) this.#schedule();
  }

  #schedule(): void {
    let due = this.#next;
    while (due < this.#next + SLOTS && this.#slots[due % SLOTS]?.size === 0) due += 1;
    const waitMs = Math.max(0, due * SLOT_MS - this.#clock.monotonicMs());
    this.#cancelTimer = this.#clock.after(Math.ceil(waitMs), () => this.#run());
  }
}

/** The clock of all callers of the process. */
export const microphoneClock = new MicrophoneClock(new SystemClock());
