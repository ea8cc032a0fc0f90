/** Far above what any write or close takes; a test that waits so long has failed. */
export const WAIT_MAX_MS = 20_000;

/**
 * The first answer that is not undefined. Asks again whenever others have had their turn: for what no event tells, such
 * as a write that the server does not wait for.
 */
export async function eventually<Value>(
  what: string,
  look: () => Value | undefined | Promise<Value | undefined>,
  timeoutMs = WAIT_MAX_MS,
): Promise<Value> {
  const beganMs = performance.now();
  for (;;) {
    const found = await look();
    if (found !== undefined) return found;
    if (performance.now() - beganMs > timeoutMs) throw new Error(`waited in vain for ${what}`);
    await new Promise(setImmediate);
  }
}
