import type { Clock } from "./clock.js";

/** Waits for the work, but no longer than `timeoutMs`: false when it was not done by then. Rejects as the work does. */
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
