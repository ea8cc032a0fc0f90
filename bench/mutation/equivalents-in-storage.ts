import type { EquivalentMutant } from "./equivalent-mutant.js";

/** Faults of what is stored that nobody can see. */
export const IN_STORAGE: readonly EquivalentMutant[] = [
  {
    sourcePath: "storage/postgres/copy/copy-to-postgres.ts",
    code: "return Math.abs(one - other) <= SUM_TOLERANCE * Math.max(1, Math.abs(one));",
    original: "<=",
    replacement: "<",
    reason: "a difference of exactly the billionth part is none that adding in another order makes",
  },
  {
    sourcePath: "storage/postgres/copy/copy-to-postgres.ts",
    code: "const pool = newPool(url, 1);",
    original: "1",
    replacement: "2",
    reason: "it is asked for one statement at a time, and then closed",
  },
];
