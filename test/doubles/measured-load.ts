import { syncBuiltinESMExports } from "node:module";
import os from "node:os";
import type { TestContext } from "node:test";

/** What the system says of its processors, for the time of the test. */
export function measuredLoad(context: TestContext, load: number, processors: number): void {
  const { loadavg, availableParallelism } = os;
  const say = (said: Pick<typeof os, "loadavg" | "availableParallelism">) => {
    Object.assign(os, said);
    syncBuiltinESMExports();
  };
  say({ loadavg: () => [load, 0, 0], availableParallelism: () => processors });
  context.after(() => say({ loadavg, availableParallelism }));
}
