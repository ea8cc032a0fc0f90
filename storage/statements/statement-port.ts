import type { Dialect } from "kysely";
import type { BusMessages } from "../nodes/message-bus.js";

/** One SQL statement with its values, as Kysely compiles it. */
export interface Statement {
  readonly sql: string;
  readonly parameters: readonly unknown[];
  /** It is skipped if the last statement before it that could change rows has changed none. */
  readonly onlyAfterChange?: true;
}

export interface StatementResult {
  readonly rows: readonly unknown[];
  /** Rows inserted, updated or deleted; for a statement with `returning`, the rows returned. */
  readonly changes: number;
}

/** One result per statement, in order; undefined if the guard touched no row. */
export type Results = readonly StatementResult[] | undefined;

/** Runs statements on SQLite or PostgreSQL. */
export interface StatementPort {
  /**
   * `one`: nothing can come between two statements of a request. `many`: only rows that a transaction has locked are
   * safe.
   */
  readonly writers: "one" | "many";
  /**
   * Runs the statements atomically. If `guarded`, the first one is a condition: if it touches no row, nothing of
   * the request happens, and the result is undefined.
   */
  send(statements: readonly Statement[], guarded: boolean): Promise<Results>;
  /**
   * Runs statements that only read and may take some ms. Writes, such as those of calls, do not wait for them, but one read
   * may wait for another.
   */
  read(statements: readonly Statement[]): Promise<Results>;
}

export interface StorageStats {
  readonly requestsWaiting: number;
  /** The number of requests in the last group. */
  readonly lastGroupSize: number;
  readonly groupsCommitted: number;
}

/** The part of a backend that `Database` uses. */
export interface StoreBackend extends StatementPort {
  /** Runs Kysely's queries through this port. */
  readonly dialect: Dialect;
  readonly stats: StorageStats;
  /** Absent if a database has one server, and in processes that use another process's database. */
  readonly messageBus?: BusMessages;
  /** Whether no other server can be using the database, as far as its lock shows. */
  readonly isSoleServer: boolean;
  /** Why the last write failed, if the request was not to blame. */
  readonly writeFault: StoreFault | undefined;
  checkHealth(): Promise<StoreCondition>;
  close(): Promise<void>;
}

/** Why nothing can be stored. */
export interface StoreFault {
  /** Shown by the readiness check, so it contains no path and no name. */
  readonly reason: string;
  /** For the operator's log: which database, and what to do. */
  readonly advice: string;
}

export interface StoreCondition {
  /** Undefined while everything can be stored. */
  readonly fault: StoreFault | undefined;
  /** A warning for the operator, while calls continue. */
  readonly warning: string | undefined;
}
