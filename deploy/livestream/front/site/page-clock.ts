export type CancelTimer = () => void;

/** The page's only access to time and timers. */
export interface PageClock {
  /** Milliseconds since 1970 (UTC) by the viewer's machine. */
  epochMs(): number;
  after(delayMs: number, action: () => void): CancelTimer;
  every(periodMs: number, action: () => void): CancelTimer;
}

export const browserClock: PageClock = {
  epochMs: () => Date.now(),
  after(delayMs, action) {
    const timer = setTimeout(action, delayMs);
    return () => clearTimeout(timer);
  },
  every(periodMs, action) {
    const timer = setInterval(action, periodMs);
    return () => clearInterval(timer);
  },
};
