import type { EquivalentMutant } from "./equivalent-mutant.js";

const LEFT_OUT_ANYWAY = "what is undefined is left out of an update by the builder of queries";
const ALWAYS_ANSWERED = "a statement that was run always has its result";

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
  ...["name", "sealedCredentials"].map((field) => ({
    sourcePath: "storage/tenancy/provider-store.ts",
    code: `...(${field} === undefined ? {} : { ${field} }),`,
    original: `${field} === undefined`,
    replacement: "false",
    reason: LEFT_OUT_ANYWAY,
  })),
  ...["models", "settings"].map((field) => ({
    sourcePath: "storage/tenancy/provider-store.ts",
    code: `...(${field} === undefined ? {} : { ${field}: writeJson(${field}) }),`,
    original: `${field} === undefined`,
    replacement: "false",
    reason: `of nothing JSON makes nothing, and ${LEFT_OUT_ANYWAY}`,
  })),
  ...["summary", "sentiment"].map((field) => ({
    sourcePath: "storage/calls/call-store.ts",
    code: `...(${field} === undefined ? {} : { ${field} }),`,
    original: `${field} === undefined`,
    replacement: "false",
    reason: LEFT_OUT_ANYWAY,
  })),
  {
    sourcePath: "storage/calls/call-lists.ts",
    code: "const total = first?.total ?? (await callCount(db, orgId, page).executeTakeFirst())?.count ?? 0;",
    original: "0",
    replacement: "1",
    reason: "a sum is always one row",
  },
  {
    sourcePath: "storage/statements/atomic-requests.ts",
    code: "return (results[turn.length]?.changes ?? 0) > 0;",
    original: "0",
    replacement: "1",
    reason: ALWAYS_ANSWERED,
  },
  {
    sourcePath: "storage/statements/statement-dialect.ts",
    code: "numAffectedRows: BigInt(result?.changes ?? 0),",
    original: "0",
    replacement: "1",
    reason: ALWAYS_ANSWERED,
  },
  {
    sourcePath: "storage/sqlite/served-file.ts",
    code: "if (this.#isScheduled)",
    original: "this.#isScheduled",
    replacement: "false",
    reason: "a further turn of the loop finds nothing more to run",
  },
  {
    sourcePath: "storage/calls/call-lists.ts",
    code: "return { items: calls.rows.map(recordOf), total: Number(totals.rows[0]?.count ?? 0) };",
    original: "0",
    replacement: "1",
    reason: "a count is always one row",
  },
  {
    sourcePath: "storage/calls/abandoned-calls.ts",
    code: "const lastSignMs = Math.max(lastSavedAtMs, heartbeatAtMs ?? 0);",
    original: "0",
    replacement: "1",
    reason: "no call was saved as early as that",
  },
  {
    sourcePath: "storage/statements/record-changes.ts",
    code: "this.#count += 1;",
    original: "1",
    replacement: "2",
    reason: "it is only asked whether the count is still the one that it was",
  },
  {
    sourcePath: "storage/statements/atomic-requests.ts",
    code: "return { compile: () => query.compile(), onlyAfterChange: true };",
    original: "true",
    replacement: "false",
    reason: "it is only asked whether it is there",
  },
  {
    sourcePath: "storage/tenancy/agent-store.ts",
    code: "...(agent.sealedToolHeaders === undefined",
    original: "agent.sealedToolHeaders === undefined",
    replacement: "false",
    reason: LEFT_OUT_ANYWAY,
  },
];
