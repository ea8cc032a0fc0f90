/** Stops a timer; calling it after the timer has fired does nothing. */
export type CancelTimer = () => void;

/** The only way to know or to wait for time. The system's is below; tests have one that they move by hand. */
export interface Clock {
  /** Milliseconds since 1970 (UTC). May jump when the machine's clock is set: for records, not for intervals. */
  epochMs(): number;
  /** Milliseconds, with fractions, of a clock that never goes back: for intervals. */
  monotonicMs(): number;
  after(delayMs: number, action: () => void): CancelTimer;
  every(periodMs: number, action: () => void): CancelTimer;
}

export class SystemClock implements Clock {
  epochMs(): number {
    return Date.now();
  }

  monotonicMs(): number {
    return performance.now();
  }

  after(delayMs: number, action: () => void): CancelTimer {
    const timer = setTimeout(action, delayMs);
    return () => clearTimeout(timer);
  }

  /** Does not keep the process alive: periodic work is never a reason to go on. */
  every(periodMs: number, action: () => void): CancelTimer {
    const timer = setInterval(action, periodMs);
    timer.unref();
    return () => clearInterval(timer);
  }
}
