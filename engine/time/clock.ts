/** Stops a timer; calling it after the timer has fired does nothing. */
export type CancelTimer = () => void;

/** The only source of time and timers. The system's clock is below; tests have one that they advance by hand. */
export interface Clock {
  /** Milliseconds since 1970 (UTC). May jump when the machine's clock is set: use it for records, not for intervals. */
  epochMs(): number;
  /** Milliseconds, with fractions, of a clock that never goes back: use it for intervals. */
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

  /** Does not keep the process alive: periodic work alone is no reason to continue. */
  every(periodMs: number, action: () => void): CancelTimer {
    const timer = setInterval(action, periodMs);
    timer.unref();
    return () => clearInterval(timer);
  }
}
