import { createRequire } from "node:module";
import * as v from "valibot";

const load = createRequire(import.meta.url);
const timers = v.parse(v.object({ tick: v.function() }), load("undici/lib/util/timers.js"));

/** Advances undici's own timeouts, which do not use a Clock; for the whole process, and immediately. */
export function passInUndici(ms: number): void {
  timers.tick(ms);
}
