import type { CancelTimer, Clock } from "../time/clock.js";

/** No machine is so late of itself: the thread, or the whole machine, had other work. */
const LATE_MAX_MS = 50;
/** In this time what has come meanwhile is read, and decoded. */
const READING_MS = 100;

/**
 * Calls `action` after `delayMs`, or a little later where the thread was busy when it was due: what the timer waits for may have
 * come meanwhile, and be the next that is read.
 */
export function afterReading(clock: Clock, delayMs: number, action: () => void): CancelTimer {
  const dueAtMs = clock.monotonicMs() + delayMs;
  let cancel = clock.after(delayMs, () => {
    if (clock.monotonicMs() - dueAtMs <= LATE_MAX_MS) return action();
    cancel = clock.after(READING_MS, action);
  });
  return () => cancel();
}
