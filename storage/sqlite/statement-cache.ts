import type Sqlite from "better-sqlite3";
import { LRUCache } from "lru-cache";
import type { SqliteFile } from "./sqlite-file.js";

export type PreparedStatement = Sqlite.Statement;

/** The stores have about a hundred shapes of statements; lists of ids of every length make some more. */
const PREPARED_STATEMENTS_MAX = 300;

/** Compiling a statement costs more than running it, so those in use are kept. */
export class StatementCache {
  readonly #file: SqliteFile;
  readonly #prepared: LRUCache<string, PreparedStatement>;

  constructor(file: SqliteFile, preparedMax = PREPARED_STATEMENTS_MAX) {
    this.#file = file;
    this.#prepared = new LRUCache({ max: preparedMax });
  }

  get size(): number {
    return this.#prepared.size;
  }

  /** Throws when the SQL is wrong. */
  prepare(sql: string): PreparedStatement {
    const known = this.#prepared.get(sql);
    if (known !== undefined) return known;
    const statement: PreparedStatement = this.#file.prepare(sql);
    this.#prepared.set(sql, statement);
    return statement;
  }
}
