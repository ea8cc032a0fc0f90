import {
  type CompiledQuery,
  type DatabaseConnection,
  type Dialect,
  type DialectAdapter,
  type Driver,
  type Kysely,
  type QueryResult,
  SqliteAdapter,
  SqliteIntrospector,
  SqliteQueryCompiler,
} from "kysely";
import type { ThreadClient } from "./thread-client.js";

const NO_TRANSACTIONS =
  "storage has no open transactions, which would keep everybody else waiting: give the statements to atomically()";

/** Lets Kysely build the SQL here and has it run on the storage thread. */
export class ThreadDialect implements Dialect {
  readonly #connection: ThreadConnection;

  constructor(client: ThreadClient) {
    this.#connection = new ThreadConnection(client);
  }

  createDriver(): Driver {
    return new ThreadDriver(this.#connection);
  }

  createQueryCompiler(): SqliteQueryCompiler {
    return new SqliteQueryCompiler();
  }

  createAdapter(): DialectAdapter {
    return new SqliteAdapter();
  }

  createIntrospector(db: Kysely<unknown>): SqliteIntrospector {
    return new SqliteIntrospector(db);
  }
}

/** Requests need no connection of their own: the thread keeps them apart. */
class ThreadDriver implements Driver {
  readonly #connection: ThreadConnection;

  constructor(connection: ThreadConnection) {
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

  /** The thread is closed by who has started it. */
  async destroy(): Promise<void> {}
}

class ThreadConnection implements DatabaseConnection {
  readonly #client: ThreadClient;

  constructor(client: ThreadClient) {
    this.#client = client;
  }

  async executeQuery<R>({ sql, parameters }: CompiledQuery): Promise<QueryResult<R>> {
    const [result] = (await this.#client.send([{ sql, parameters }], false)) ?? [];
    return {
      // The tables' types say what rows look like, as with every driver of Kysely.
      rows: (result?.rows ?? []) as R[],
      numAffectedRows: BigInt(result?.changes ?? 0),
    };
  }

  streamQuery(): never {
    throw new Error("storage does not stream: read in pages");
  }
}
