import { type Compilable, type Insertable, type Kysely, sql } from "kysely";
import type { Tables } from "../tables.js";
import type { RecordChanges } from "./record-changes.js";
import type { Statement, StatementPort } from "./statement-port.js";

export interface QueryOutcome<Row> {
  readonly rows: readonly Row[];
  /** Rows inserted, updated or deleted; for a query that returns rows, their number. */
  readonly changes: number;
}

export type QueryOutcomes<Queries extends readonly Compilable[]> = {
  readonly [Index in keyof Queries]: Queries[Index] extends Compilable<infer Row>
    ? QueryOutcome<Row>
    : never;
};

/** A query that is skipped if the last change before it has touched no row. */
interface AfterChange extends Compilable {
  readonly onlyAfterChange: true;
}

export function afterChange(query: Compilable): AfterChange {
  return { compile: () => query.compile(), onlyAfterChange: true };
}

type LimitedTable =
  | "agents"
  | "apiKeys"
  | "callLists"
  | "knowledgeDocuments"
  | "providers"
  | "telephonyAccounts"
  | "users"
  | "webhookEndpoints";

export interface LimitedInsert<Table extends LimitedTable> {
  readonly table: Table;
  readonly row: Insertable<Tables[Table]>;
  /** null for rows of the platform. */
  readonly orgId: string | null;
  /** The maximum number of the organization's rows in the table, including this one. */
  readonly max: number;
  /** Rows with a value in this column do not count. */
  readonly countsWhileNull?: keyof Tables[Table] & string;
}

/** Several queries as one unit: all of them take effect, or none, and no other request comes between them. */
export class AtomicRequests {
  readonly #port: StatementPort;
  readonly #changes: RecordChanges;

  constructor(port: StatementPort, changes: RecordChanges) {
    this.#port = port;
    this.#changes = changes;
  }

  async run<const Queries extends readonly Compilable[]>(
    queries: Queries,
  ): Promise<QueryOutcomes<Queries>> {
    const results = await this.#port.send(queries.map(statementOf), false);
    // The port returns one result per statement, in order.
    return results as QueryOutcomes<Queries>;
  }

  /** Like `run`, for queries that only read; see `read` of `StatementPort`. */
  async read<const Queries extends readonly Compilable[]>(
    queries: Queries,
  ): Promise<QueryOutcomes<Queries>> {
    const results = await this.#port.read(queries.map(statementOf));
    // The port returns one result per statement, in order.
    return results as QueryOutcomes<Queries>;
  }

  /** Like `run`; caches of these records are invalidated when it settles. */
  change<const Queries extends readonly Compilable[]>(
    queries: Queries,
  ): Promise<QueryOutcomes<Queries>> {
    return this.#changes.after(this.run(queries));
  }

  /** Like `run`, but if the guard touches no row nothing happens. Returns whether it did. */
  async runIf(guard: Compilable, queries: readonly Compilable[]): Promise<boolean> {
    return (await this.changesIf(guard, queries)) !== undefined;
  }

  /**
   * Like `runIf`, but returns how many rows each query has changed, without the guard's; undefined if nothing happened.
   */
  async changesIf(
    guard: Compilable,
    queries: readonly Compilable[],
  ): Promise<readonly number[] | undefined> {
    const results = await this.#port.send([guard, ...queries].map(statementOf), true);
    return results?.slice(1).map(({ changes }) => changes);
  }

  /** Like `changesIf`, but also invalidates caches of these records, like `change`. */
  changeIf(
    guard: Compilable,
    queries: readonly Compilable[],
  ): Promise<readonly number[] | undefined> {
    return this.#changes.after(this.changesIf(guard, queries));
  }

  /** Inserts the row and runs `queries` if its organization has fewer than `max` rows. Returns whether it did. */
  async insertWithin<Table extends LimitedTable>(
    db: Kysely<Tables>,
    { table, row, orgId, max, countsWhileNull }: LimitedInsert<Table>,
    queries: readonly Compilable[],
  ): Promise<boolean> {
    const columns = sql.join(Object.keys(row).map((column) => sql.ref(column)));
    const values = sql.join(Object.values(row));
    const counted =
      countsWhileNull === undefined ? sql`` : sql` and ${sql.ref(countsWhileNull)} is null`;
    const owned = sql`(select count(*) from ${sql.table(table)} where ${sql.ref("orgId")} = ${orgId}${counted})`;
    const insert = sql`insert into ${sql.table(table)} (${columns}) select ${values} where ${owned} < ${max}`;
    const turn = this.turnOf(db, orgId);
    const results = await this.change([...turn, { compile: () => insert.compile(db) }, ...queries]);
    return (results[turn.length]?.changes ?? 0) > 0;
  }

  /** With concurrent writers, transactions of one organization run one after the other from this statement on. */
  turnOf(db: Kysely<Tables>, orgId: string | null): Compilable[] {
    if (this.#port.writers === "one" || orgId === null) return [];
    return [db.selectFrom("organizations").select("id").where("id", "=", orgId).forNoKeyUpdate()];
  }
}

function statementOf(query: Compilable | AfterChange): Statement {
  const { sql: text, parameters } = query.compile();
  return "onlyAfterChange" in query
    ? { sql: text, parameters, onlyAfterChange: true }
    : { sql: text, parameters };
}
