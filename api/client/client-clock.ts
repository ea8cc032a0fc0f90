export type CancelTimer = () => void;

/** The client's only way to know or to wait for time. */
export interface ClientClock {
  /** Milliseconds, with fractions, of a clock that never goes back. */
  monotonicMs(): number;
  after(delayMs: number, action: () => void): CancelTimer;
}

/** A browser's, and Node's. */
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
