import { syncBuiltinESMExports } from "node:module";
import os from "node:os";
import type { TestContext } from "node:test";

/** The system's report about its processors, for the duration of the test. */
export function measuredLoad(context: TestContext, load: number, processors: number): void {
  const { loadavg, availableParallelism } = os;
  const say = (said: Pick<typeof os, "loadavg" | "availableParallelism">) => {
    Object.assign(os, said);
    syncBuiltinESMExports();
  };
  say({ loadavg: () => [load, 0, 0], availableParallelism: () => processors });
  context.after(() => say({ loadavg, availableParallelism }));
}
