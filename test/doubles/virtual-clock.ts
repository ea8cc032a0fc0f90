import type { CancelTimer, Clock } from "../../engine/time/clock.js";

interface DueTimer {
  dueMs: number;
  readonly order: number;
  readonly periodMs: number | undefined;
  readonly action: () => void;
}

/** A clock that stands still until a test moves it; it steps from due time to due time, as real time would. */
export class VirtualClock implements Clock {
  #nowMs: number;
  #wallOffsetMs = 0;
  #order = 0;
  readonly #timers = new Set<DueTimer>();

  constructor(startMs = 1_800_000_000_000) {
    this.#nowMs = startMs;
  }

  epochMs(): number {
    return this.#nowMs + this.#wallOffsetMs;
  }

  monotonicMs(): number {
    return this.#nowMs;
  }

  /** The machine's clock is set, or the machine wakes up: no interval has passed, and no timer is due. */
  stepWallClock(byMs: number): void {
    this.#wallOffsetMs += byMs;
  }

  /** The process was suspended and continues: the time has passed, and every timer that was due meanwhile is late. */
  stall(durationMs: number): void {
    this.#nowMs += durationMs;
    this.advance(0);
  }

  get pendingTimerCount(): number {
    return this.#timers.size;
  }

  after(delayMs: number, action: () => void): CancelTimer {
    return this.#add({
      dueMs: this.#nowMs + Math.max(0, delayMs),
      order: this.#order++,
      periodMs: undefined,
      action,
    });
  }

  every(periodMs: number, action: () => void): CancelTimer {
    return this.#add({ dueMs: this.#nowMs + periodMs, order: this.#order++, periodMs, action });
  }

  advance(durationMs: number): void {
    const endMs = this.#nowMs + durationMs;
    for (let next = this.#nextDue(endMs); next !== undefined; next = this.#nextDue(endMs)) {
      this.#nowMs = Math.max(this.#nowMs, next.dueMs);
      if (next.periodMs === undefined) this.#timers.delete(next);
      else next.dueMs += next.periodMs;
      next.action();
    }
    this.#nowMs = endMs;
  }

  #add(timer: DueTimer): CancelTimer {
    this.#timers.add(timer);
    return () => this.#timers.delete(timer);
  }

  #nextDue(endMs: number): DueTimer | undefined {
    let earliest: DueTimer | undefined;
    for (const timer of this.#timers) {
      if (timer.dueMs > endMs) continue;
      if (
        earliest === undefined ||
        timer.dueMs < earliest.dueMs ||
        (timer.dueMs === earliest.dueMs && timer.order < earliest.order)
      ) {
        earliest = timer;
      }
    }
    return earliest;
  }
}
