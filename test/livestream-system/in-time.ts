import { once } from "node:events";

/** Far longer than any wait of these tests, even on a busy machine. */
export const WAIT_MAX_MS = 40_000;

/** Rejects if the promise takes longer than WAIT_MAX_MS. */
export async function inTime<Value>(promise: Promise<Value>, what: string): Promise<Value> {
  const signal = AbortSignal.timeout(WAIT_MAX_MS);
  const tooLate = once(signal, "abort").then(() => {
    throw new Error(`timed out while waiting for ${what}`);
  });
  return Promise.race([promise, tooLate]);
}
