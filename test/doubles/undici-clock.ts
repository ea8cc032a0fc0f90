import { createRequire } from "node:module";
import * as v from "valibot";

const load = createRequire(import.meta.url);
const timers = v.parse(v.object({ tick: v.function() }), load("undici/lib/util/timers.js"));

/** Lets so much time pass for undici's own time-outs, which keep no Clock; for all of this process, and at once. */
export function passInUndici(ms: number): void {
  timers.tick(ms);
}
