export type CancelTimer = () => void;

/** The client's only access to time. */
export interface ClientClock {
  /** Milliseconds, with fractions, of a monotonic clock. */
  monotonicMs(): number;
  after(delayMs: number, action: () => void): CancelTimer;
}

/** The clock of a browser or of Node. */
export const defaultClock: ClientClock = {
  monotonicMs: () => performance.now(),
  after(delayMs, action) {
    const timer = setTimeout(action, delayMs);
    return () => clearTimeout(timer);
  },
};

/** From 0 to below 1. */
export function chance(): number {
  return Math.random();
}
