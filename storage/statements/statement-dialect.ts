import {
  type CompiledQuery,
  type DatabaseConnection,
  type DatabaseIntrospector,
  type Dialect,
  type DialectAdapter,
  type Driver,
  type Kysely,
  PostgresAdapter,
  PostgresIntrospector,
  PostgresQueryCompiler,
  type QueryCompiler,
  type QueryResult,
  SqliteAdapter,
  SqliteIntrospector,
  SqliteQueryCompiler,
} from "kysely";
import type { StatementPort } from "./statement-port.js";

const NO_TRANSACTIONS =
  "open transactions are not supported, because they block all others: pass the statements to atomically()";

/** Kysely's parts for one kind of database. */
export type DialectParts = Pick<
  Dialect,
  "createQueryCompiler" | "createAdapter" | "createIntrospector"
>;

/** Lets Kysely build the SQL and runs it through the port. */
export class StatementDialect implements Dialect {
  readonly #connection: PortConnection;
  readonly #parts: DialectParts;

  constructor(port: Pick<StatementPort, "send">, parts: DialectParts) {
    this.#connection = new PortConnection(port);
    this.#parts = parts;
  }

  createDriver(): Driver {
    return new PortDriver(this.#connection);
  }

  createQueryCompiler(): QueryCompiler {
    return this.#parts.createQueryCompiler();
  }

  createAdapter(): DialectAdapter {
    return this.#parts.createAdapter();
  }

  createIntrospector(db: Kysely<unknown>): DatabaseIntrospector {
    return this.#parts.createIntrospector(db);
  }
}

/** Requests need no connection of their own: the port isolates them. */
class PortDriver implements Driver {
  readonly #connection: PortConnection;

  constructor(connection: PortConnection) {
    this.#connection = connection;
  }

  async init(): Promise<void> {}

  acquireConnection(): Promise<DatabaseConnection> {
    return Promise.resolve(this.#connection);
  }

  beginTransaction(): Promise<void> {
    return Promise.reject(new Error(NO_TRANSACTIONS));
  }

  commitTransaction(): Promise<void> {
    return Promise.reject(new Error(NO_TRANSACTIONS));
  }

  rollbackTransaction(): Promise<void> {
    return Promise.reject(new Error(NO_TRANSACTIONS));
  }

  async releaseConnection(): Promise<void> {}

  /** The owner of the port closes what is below it. */
  async destroy(): Promise<void> {}
}

class PortConnection implements DatabaseConnection {
  readonly #port: Pick<StatementPort, "send">;

  constructor(port: Pick<StatementPort, "send">) {
    this.#port = port;
  }

  async executeQuery<R>({ sql, parameters }: CompiledQuery): Promise<QueryResult<R>> {
    const [result] = (await this.#port.send([{ sql, parameters }], false)) ?? [];
    return {
      // The tables' types define the rows, as with every Kysely driver.
      rows: (result?.rows ?? []) as R[],
      numAffectedRows: BigInt(result?.changes ?? 0),
    };
  }

  streamQuery(): never {
    throw new Error("storage does not stream: read in pages");
  }
}

/** Lets Kysely build SQL for PostgreSQL; the owner of the connections runs it. */
export function postgresDialect(port: Pick<StatementPort, "send">): StatementDialect {
  return new StatementDialect(port, {
    createQueryCompiler: () => new PostgresQueryCompiler(),
    createAdapter: () => new PostgresAdapter(),
    createIntrospector: (db: Kysely<unknown>) => new PostgresIntrospector(db),
  });
}

/** Lets Kysely build SQL for SQLite; the owner of the file runs it. */
export function sqliteDialect(port: Pick<StatementPort, "send">): StatementDialect {
  return new StatementDialect(port, {
    createQueryCompiler: () => new SqliteQueryCompiler(),
    createAdapter: () => new SqliteAdapter(),
    createIntrospector: (db: Kysely<unknown>) => new SqliteIntrospector(db),
  });
}
