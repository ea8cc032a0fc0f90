import type { TimerName } from "../../engine/conversation/events.js";
import type { CancelTimer, Clock } from "../../engine/time/clock.js";

/** The timers of a call that run, on a virtual clock. */
export class SimulatedTimers extends Map<TimerName, CancelTimer> {
  readonly #clock: Clock;
  readonly #onFired: (timer: TimerName) => void;

  constructor(clock: Clock, onFired: (timer: TimerName) => void) {
    super();
    this.#clock = clock;
    this.#onFired = onFired;
  }

  start(timer: TimerName, delayMs: number): void {
    this.get(timer)?.();
    const fire = () => {
      this.delete(timer);
      this.#onFired(timer);
    };
    this.set(timer, this.#clock.after(delayMs, fire));
  }

  stop(timer: TimerName): void {
    this.get(timer)?.();
    this.delete(timer);
  }

  stopAll(): void {
    for (const timer of this.keys()) this.stop(timer);
  }
}
