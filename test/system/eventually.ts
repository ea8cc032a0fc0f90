import { SystemClock } from "../../engine/time/clock.js";
import { WAIT_MAX_MS } from "../doubles/changes.js";

/** Asked as soon as others have had their turn so often; then, so that the waiting takes no core from what is waited for, by a timer. */
const EAGER_LOOKS = 50;
const LOOK_EVERY_MS = 2;

const clock = new SystemClock();

/**
 * The first answer that is not undefined. For what no event tells, such as a write that the server does not wait for.
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
    if (performance.now() - beganMs > timeoutMs) throw new Error(`waited in vain for ${what}`);
    await new Promise<void>((resolve) => {
      if (looks < EAGER_LOOKS) setImmediate(resolve);
      else clock.after(LOOK_EVERY_MS, resolve);
    });
  }
}
