import type { Clock } from "./clock.js";

/** Waits for the work for at most `timeoutMs`. Resolves with false if it takes longer; rejects if the work rejects. */
export async function within(
  clock: Clock,
  timeoutMs: number,
  work: Promise<unknown>,
): Promise<boolean> {
  let cancel = () => {};
  const deadline = new Promise<false>((resolve) => {
    cancel = clock.after(timeoutMs, () => resolve(false));
  });
  try {
    return await Promise.race([work.then(() => true), deadline]);
  } finally {
    cancel();
  }
}
