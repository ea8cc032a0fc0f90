import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";

setFlagsFromString("--expose-gc");
const collect: () => void = runInNewContext("gc");

/** Resolves when all that nothing holds any more is gone. */
export async function collectGarbage(): Promise<void> {
  // A weakly held object of one turn of the event loop is released in a later one.
  await new Promise(setImmediate);
  collect();
  await new Promise(setImmediate);
  collect();
}
