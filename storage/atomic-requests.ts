import type { Compilable } from "kysely";
import type { ThreadClient } from "./thread-client.js";
import type { Statement } from "./thread-protocol.js";

export interface QueryOutcome<Row> {
  readonly rows: readonly Row[];
  /** Rows inserted, updated or deleted; of a query that gives rows, how many. */
  readonly changes: number;
}

export type QueryOutcomes<Queries extends readonly Compilable[]> = {
  readonly [Index in keyof Queries]: Queries[Index] extends Compilable<infer Row>
    ? QueryOutcome<Row>
    : never;
};

/** Several queries as one whole: all of them take effect, or none, and no other request comes between them. */
export class AtomicRequests {
  readonly #client: ThreadClient;

  constructor(client: ThreadClient) {
    this.#client = client;
  }

  async run<const Queries extends readonly Compilable[]>(
    queries: Queries,
  ): Promise<QueryOutcomes<Queries>> {
    const results = await this.#client.send(queries.map(statementOf), false);
    // The thread gives one result a statement, in order.
    return results as QueryOutcomes<Queries>;
  }

  /** As `run`, but when the guard touches no row nothing happens at all. Says whether it did. */
  async runIf(guard: Compilable, queries: readonly Compilable[]): Promise<boolean> {
    const results = await this.#client.send([guard, ...queries].map(statementOf), true);
    return results !== undefined;
  }
}

function statementOf(query: Compilable): Statement {
  const { sql, parameters } = query.compile();
  return { sql, parameters };
}
