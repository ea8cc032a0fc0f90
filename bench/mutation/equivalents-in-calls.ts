import type { EquivalentMutant } from "./equivalent-mutant.js";

export const IN_CALLS: readonly EquivalentMutant[] = [
  {
    sourcePath: "engine/calls/opening/call-entry.ts",
    code: "#longestWaitMs = 0;",
    original: "0",
    replacement: "1",
    reason: "it is told from five seconds on, and before them nobody sees it",
  },
  {
    sourcePath: "engine/calls/opening/call-entry.ts",
    code: "this.#longestWaitMs = Math.max(this.#longestWaitMs, save.report?.totalMs ?? 0);",
    original: "0",
    replacement: "1",
    reason: "it is told from five seconds on, and before them nobody sees it",
  },
];
