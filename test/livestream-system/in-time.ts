import { once } from "node:events";

/** Far above what anything here takes, on a machine that is busy. */
export const WAIT_MAX_MS = 40_000;

/** Rejects when the promise takes longer than anything here may. */
export async function inTime<Value>(promise: Promise<Value>, what: string): Promise<Value> {
  const signal = AbortSignal.timeout(WAIT_MAX_MS);
  const tooLate = once(signal, "abort").then(() => {
    throw new Error(`waited in vain for ${what}`);
  });
  return Promise.race([promise, tooLate]);
}
