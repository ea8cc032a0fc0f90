import { SystemClock } from "../../engine/time/clock.js";
import { WAIT_MAX_MS } from "../doubles/changes.js";

/**
 * So many times the condition is checked in consecutive turns of the event loop; then a timer checks it, so that
 * waiting takes no CPU from the code under test.
 */
const EAGER_LOOKS = 50;
const LOOK_EVERY_MS = 2;

const clock = new SystemClock();

/**
 * Resolves with the first result that is not undefined. For conditions without an event, such as a write that the
 * server does not wait for.
 */
export async function eventually<Value>(
  what: string,
  look: () => Value | undefined | Promise<Value | undefined>,
  timeoutMs = WAIT_MAX_MS,
): Promise<Value> {
  const beganMs = performance.now();
  for (let looks = 1; ; looks += 1) {
    const found = await look();
    if (found !== undefined) return found;
    if (performance.now() - beganMs > timeoutMs)
      throw new Error(`timed out while waiting for ${what}`);
    await new Promise<void>((resolve) => {
      if (looks < EAGER_LOOKS) setImmediate(resolve);
      else clock.after(LOOK_EVERY_MS, resolve);
    });
  }
}
