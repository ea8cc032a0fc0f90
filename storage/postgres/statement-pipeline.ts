import type { PoolClient, QueryResult } from "pg";
import type { Results, Statement, StatementResult } from "../statements/statement-port.js";
import { parametersOf } from "./postgres-values.js";

const CHANGES: ReadonlySet<string> = new Set(["INSERT", "UPDATE", "DELETE"]);

/**
 * Sends the statements of a transaction without waiting for the answer of each, as `StatementPort` says: what came of the one
 * before is waited for only where it decides whether the next is asked. Undefined when a guard has touched no row: what was
 * sent behind it is to be rolled back, and why that failed, if it did, is no matter.
 */
export async function runStatements(
  client: Pick<PoolClient, "query">,
  statements: readonly Statement[],
  guarded: boolean,
): Promise<Results> {
  const results: StatementResult[] = [];
  let sent: Promise<QueryResult>[] = [];
  let lastChanges = 0;
  const answer = async (): Promise<boolean> => {
    for (const outcome of await Promise.allSettled(sent)) {
      if (outcome.status === "rejected") throw outcome.reason;
      const { rows, rowCount, command } = outcome.value;
      const changes = rowCount ?? 0;
      if (CHANGES.has(command)) lastChanges = changes;
      if (guarded && results.length === 0 && changes === 0) return false;
      results.push({ rows, changes });
    }
    sent = [];
    return true;
  };
  for (const { sql, parameters, onlyAfterChange } of statements) {
    if (onlyAfterChange === true) {
      if (!(await answer())) return undefined;
      if (lastChanges === 0) {
        results.push({ rows: [], changes: 0 });
        continue;
      }
    }
    sent.push(client.query(sql, parametersOf(parameters)));
  }
  return (await answer()) ? results : undefined;
}

/** All of what was asked on one connection; rejects as the first of them that did, since that is why the others were refused. */
export async function inOrder<Asked extends readonly Promise<unknown>[]>(
  ...asked: Asked
): Promise<{ -readonly [Place in keyof Asked]: Awaited<Asked[Place]> }> {
  await Promise.allSettled(asked);
  return Promise.all(asked);
}
