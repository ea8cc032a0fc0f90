import { type Database, joinDatabase } from "../../../storage/database.js";
import type { Statement, StatementResult } from "../../../storage/statements/statement-port.js";

export interface AskedDatabase {
  readonly database: Database;
  /** The statements of each request, in order. */
  readonly asked: (readonly Statement[])[];
  /** The results of the next request, one per statement: the number of changed rows, or the rows found. */
  readonly answers: (number | readonly unknown[])[][];
}

/** Stores as on PostgreSQL, with results that the test determines; other tests use a real PostgreSQL. */
export function askedDatabase(): AskedDatabase {
  const asked: (readonly Statement[])[] = [];
  const answers: (number | readonly unknown[])[][] = [];
  const database = joinDatabase("many", {
    run: async ({ statements }) => {
      asked.push(statements);
      const given = answers.shift() ?? [];
      const results = statements.map((_, index) => resultOf(given[index] ?? 0));
      return { results, fault: undefined, writeFault: undefined };
    },
    checkHealth: async () => ({ fault: undefined, warning: undefined }),
  });
  return { database, asked, answers };
}

function resultOf(answer: number | readonly unknown[]): StatementResult {
  return typeof answer === "number"
    ? { rows: [], changes: answer }
    : { rows: answer, changes: answer.length };
}
