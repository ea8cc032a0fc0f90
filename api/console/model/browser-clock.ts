/** The browser's time: the only place of the console that reads it. */
export function nowMs(): number {
  return Date.now();
}

/** Gives back how to take it back. */
export function after(delayMs: number, act: () => void): () => void {
  const timer = setTimeout(act, delayMs);
  return () => clearTimeout(timer);
}
