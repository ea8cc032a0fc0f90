import type { Dialect } from "kysely";
import type { BusMessages } from "../nodes/message-bus.js";

/** One SQL statement with its values, as Kysely compiles it. */
export interface Statement {
  readonly sql: string;
  readonly parameters: readonly unknown[];
  /** It is left out when the last statement before it that could change rows has changed none. */
  readonly onlyAfterChange?: true;
}

export interface StatementResult {
  readonly rows: readonly unknown[];
  /** Rows inserted, updated or deleted; of a statement with `returning`, the rows returned. */
  readonly changes: number;
}

/** One result a statement, in order; undefined when the guard touched no row. */
export type Results = readonly StatementResult[] | undefined;

/** Runs statements on SQLite or PostgreSQL. */
export interface StatementPort {
  /** One: nothing can come between two statements of a request. Many: only what a transaction has locked is safe. */
  readonly writers: "one" | "many";
  /**
   * Runs the statements as one whole: all of them take effect, or none. When `guarded`, the first one is a condition: if it
   * touches no row, nothing of the request happens, and the result is undefined.
   */
  send(statements: readonly Statement[], guarded: boolean): Promise<Results>;
}

export interface StorageStats {
  readonly requestsWaiting: number;
  /** Requests in the group that was answered last. */
  readonly lastGroupSize: number;
  readonly groupsCommitted: number;
}

/** What `Database` needs of what keeps its rows. */
export interface StoreBackend extends StatementPort {
  /** Has Kysely's queries run through this port. */
  readonly dialect: Dialect;
  readonly stats: StorageStats;
  /** Absent where a database has one server, and in the processes that have theirs by way of another. */
  readonly messageBus?: BusMessages;
  /** Whether no other server can be at work on it, as far as its lock shows. */
  readonly isSoleServer: boolean;
  /** Why what was last to be written could not be, where the request was not to blame. */
  readonly writeFault: StoreFault | undefined;
  checkHealth(): Promise<StoreCondition>;
  close(): Promise<void>;
}

/** Why nothing can be stored. */
export interface StoreFault {
  /** Shown by the readiness check, so it has no path and no name. */
  readonly reason: string;
  /** For the operator's log: which database, and what to do. */
  readonly advice: string;
}

export interface StoreCondition {
  /** Undefined while everything is stored. */
  readonly fault: StoreFault | undefined;
  /** What an operator should know, though calls go on. */
  readonly warning: string | undefined;
}
