import type { Pool, PoolClient, QueryResult } from "pg";
import { errorOf, type Fault } from "../statements/fault.js";
import type {
  Results,
  Statement,
  StatementResult,
  StorageStats,
} from "../statements/statement-port.js";
import {
  isStoreErrorCode,
  StorageOverloadedError,
  StorageStoppedError,
} from "../statements/storage-error.js";
import {
  beginMarked,
  type CommitMark,
  PURGED_ROWS_MAX,
  purgeMarks,
  UncertainCommits,
} from "./commit-mark.js";
import { faultOfPostgres, isCollision, isLostConnection } from "./postgres-fault.js";
import { parametersOf } from "./postgres-values.js";

/** The most waiting requests, some seconds of work for ten connections; further ones are refused. */
export const POSTGRES_REQUESTS_WAITING_MAX = 10_000;
/** Attempts of a transaction that conflicts with others. */
const TRIES_MAX = 5;
/**
 * The health checks between two purges of old marks, fewer while old marks are left; a server checks every two seconds.
 */
const CHECKS_PER_PURGE = 15;

const BEGIN_READING = "begin isolation level repeatable read read only";
const READING = /^select\b(?![^]*\bfor no key update$)/;

export interface PostgresClientOptions {
  /**
   * A commit whose response was lost is looked up later, which requires a health check every few seconds, as a
   * server makes.
   */
  readonly resolvesUncertainCommits: boolean;
  readonly requestsWaitingMax?: number;
}

/**
 * Runs requests on a pool of connections, each in its own transaction. A request that was rejected because the
 * database is unreachable has changed nothing and may be retried. Only a request of a single statement may have
 * taken effect; those that the stores retry are idempotent.
 */
export class PostgresClient {
  readonly #pool: Pool;
  readonly #uncertainCommits: UncertainCommits;
  readonly #requestsWaitingMax: number;
  #waitingCount = 0;
  #commitCount = 0;
  #checksUntilPurge = CHECKS_PER_PURGE;
  #writeFault: Fault | undefined;
  #closing: Promise<void> | undefined;
  #onDrained: (() => void) | undefined;

  constructor(pool: Pool, options: PostgresClientOptions) {
    this.#pool = pool;
    this.#uncertainCommits = new UncertainCommits(pool, options.resolvesUncertainCommits);
    this.#requestsWaitingMax = options.requestsWaitingMax ?? POSTGRES_REQUESTS_WAITING_MAX;
  }

  get stats(): StorageStats {
    return {
      requestsWaiting: this.#waitingCount,
      lastGroupSize: Math.min(1, this.#commitCount),
      groupsCommitted: this.#commitCount,
    };
  }

  /** Why the last write failed, if the database is to blame. */
  get writeFault(): Fault | undefined {
    return this.#writeFault;
  }

  /** See `StatementPort`. */
  async send(statements: readonly Statement[], guarded: boolean): Promise<Results> {
    if (this.#closing !== undefined) throw new StorageStoppedError("storage is closed");
    if (this.#waitingCount >= this.#requestsWaitingMax) {
      throw new StorageOverloadedError(this.#requestsWaitingMax);
    }
    const isReading = statements.every(({ sql }) => READING.test(sql));
    this.#waitingCount += 1;
    try {
      const results = await this.#run(statements, guarded, isReading);
      if (!isReading) this.#writeFault = undefined;
      return results;
    } catch (error) {
      if (error instanceof StorageStoppedError) throw error;
      const fault = faultOfPostgres(error);
      if (!isReading && fault.kind === "other" && isStoreErrorCode(fault.code))
        this.#writeFault = fault;
      throw errorOf(fault);
    } finally {
      this.#waitingCount -= 1;
      if (this.#waitingCount === 0) this.#onDrained?.();
    }
  }

  /**
   * Looks up the outcome of commits whose response was lost, and now and then deletes marks that are no longer
   * needed; rejects if the database is unreachable.
   */
  async settleUncertainCommits(): Promise<void> {
    await this.#uncertainCommits.settle();
    this.#checksUntilPurge -= 1;
    if (this.#checksUntilPurge > 0) return;
    this.#checksUntilPurge = CHECKS_PER_PURGE;
    if ((await purgeMarks(this.#pool)) === PURGED_ROWS_MAX) this.#checksUntilPurge = 1;
  }

  /** Refuses new requests, waits for those in progress, then closes the connections. */
  close(): Promise<void> {
    this.#closing ??= this.#close();
    return this.#closing;
  }

  async #close(): Promise<void> {
    this.#uncertainCommits.close();
    if (this.#waitingCount > 0) {
      await new Promise<void>((resolve) => {
        this.#onDrained = resolve;
      });
    }
    await this.#pool.end();
  }

  async #run(
    statements: readonly Statement[],
    guarded: boolean,
    isReading: boolean,
  ): Promise<Results> {
    const [only] = statements;
    if (only !== undefined && statements.length === 1 && !guarded) {
      const { sql, parameters } = only;
      const result = await this.#pool.query(sql, parametersOf(parameters));
      if (!isReading) this.#commitCount += 1;
      return [{ rows: result.rows, changes: result.rowCount ?? 0 }];
    }
    for (let tryNumber = 1; ; tryNumber += 1) {
      try {
        return isReading ? await this.#read(statements) : await this.#write(statements, guarded);
      } catch (error) {
        if (!isCollision(error) || tryNumber === TRIES_MAX) throw error;
      }
    }
  }

  /** Several reads in one request see one state of the database. */
  #read(statements: readonly Statement[]): Promise<Results> {
    return this.#onConnection(async (client) => {
      const begun = client.query(BEGIN_READING);
      const read = runStatements(client, statements, false);
      const committed = client.query("commit");
      return (await inOrder(begun, read, committed))[1];
    });
  }

  async #write(statements: readonly Statement[], guarded: boolean): Promise<Results> {
    const commit: { mark?: CommitMark; results?: Results } = {};
    try {
      return await this.#onConnection(async (client) => {
        const begun = beginMarked(client);
        const written = runStatements(client, statements, guarded);
        const [mark, results] = await inOrder(begun, written);
        if (results === undefined) {
          await client.query("rollback");
          return undefined;
        }
        commit.mark = mark;
        commit.results = results;
        await client.query("commit");
        this.#commitCount += 1;
        return results;
      });
    } catch (error) {
      if (commit.mark === undefined || !isLostConnection(error)) throw error;
      await this.#uncertainCommits.wasCommitted(commit.mark, error);
      return commit.results;
    }
  }

  /** After a failure, the connection is rolled back before its return, or closed. */
  async #onConnection<T>(work: (client: PoolClient) => Promise<T>): Promise<T> {
    const client = await this.#pool.connect();
    try {
      const result = await work(client);
      client.release();
      return result;
    } catch (error) {
      if (isLostConnection(error)) client.release(true);
      else {
        await client.query("rollback").then(
          () => client.release(),
          () => client.release(true),
        );
      }
      throw error;
    }
  }
}

const CHANGES: ReadonlySet<string> = new Set(["INSERT", "UPDATE", "DELETE"]);

/**
 * Sends the statements of a transaction without waiting for each response, as defined by `StatementPort`; it waits only
 * if the previous result decides whether the next statement is sent. Returns undefined if a guard has touched no row:
 * everything after it is rolled back, and its failures do not matter.
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

/**
 * Waits for all statements of one connection; rejects with the first error, which is why the later ones were
 * refused.
 */
export async function inOrder<Promises extends readonly Promise<unknown>[]>(
  ...promises: Promises
): Promise<{ -readonly [Index in keyof Promises]: Awaited<Promises[Index]> }> {
  await Promise.allSettled(promises);
  return Promise.all(promises);
}
