import type { Pool, PoolClient } from "pg";
import * as v from "valibot";
import { faultCodeOf } from "../statements/fault.js";
import { StorageStoppedError } from "../statements/storage-error.js";

/** A row that exists only if its transaction was committed. */
export interface CommitMark {
  readonly id: string;
  /** When the mark's transaction began, by the database's clock. */
  readonly atMs: number;
}

type CommitOutcome = "committed" | "undone" | "underWay" | "forgotten";

/**
 * Far longer than the time until a server looks a mark up: only a server that was suspended meanwhile finds its
 * mark gone.
 */
const KEPT_MS = 600_000;
/** Well before a mark may be purged. */
const ANSWERED_MAX_MS = KEPT_MS / 2;
/** Rows deleted per statement. */
export const PURGED_ROWS_MAX = 10_000;
/** The wait for a transaction that is still open; no other request uses this connection meanwhile. */
const LOCK_MAX = "100ms";

/** PostgreSQL's code for a lock timeout. */
const LOCKED = "55P03";

/** Begins a transaction in one message; its second result is the mark. */
const BEGIN_MARKED = `begin; insert into "commitMarks" default values returning "id", "atMs"`;

/**
 * Inserts a mark that says "undone" if there is none, so that a second lookup after a lost response gives the same
 * result. While the transaction is open, its own mark blocks this.
 */
const CLAIM = `insert into "commitMarks" as mark ("id", "isUndone") values ($1, true)
  on conflict ("id") do update set "isUndone" = mark."isUndone"
  returning "isUndone", (extract(epoch from clock_timestamp()) * 1000)::bigint as "nowMs"`;

const PURGE = `delete from "commitMarks" where "id" in (
  select "id" from "commitMarks"
  where "atMs" < (extract(epoch from clock_timestamp()) * 1000)::bigint - ${KEPT_MS}
  order by "atMs" limit ${PURGED_ROWS_MAX} for update skip locked)`;

const Begun = v.tuple([
  v.object({}),
  v.object({ rows: v.tuple([v.object({ id: v.string(), atMs: v.number() })]) }),
]);
const Claimed = v.tuple([v.object({ isUndone: v.boolean(), nowMs: v.number() })]);

export async function beginMarked(client: Pick<PoolClient, "query">): Promise<CommitMark> {
  const results: unknown = await client.query(BEGIN_MARKED);
  return v.parse(Begun, results)[1].rows[0];
}

/** Rejects if the database is unreachable. "forgotten": the mark is so old that it may have been purged. */
export async function outcomeOf(pool: Pool, { id, atMs }: CommitMark): Promise<CommitOutcome> {
  const client = await pool.connect();
  try {
    await client.query(`begin; set local lock_timeout = '${LOCK_MAX}'`);
    const [{ isUndone, nowMs }] = v.parse(Claimed, (await client.query(CLAIM, [id])).rows);
    await client.query("commit");
    client.release();
    if (!isUndone) return "committed";
    return nowMs - atMs > ANSWERED_MAX_MS ? "forgotten" : "undone";
  } catch (error) {
    // Closing the connection rolls back what it has begun.
    client.release(true);
    if (faultCodeOf(error).code === LOCKED) return "underWay";
    throw error;
  }
}

/** Deletes the oldest marks, which no server looks up any more; returns their number. */
export async function purgeMarks(pool: Pick<Pool, "query">): Promise<number | null> {
  return (await pool.query(PURGE)).rowCount;
}

/** Lookups per mark: a server makes one every two seconds. */
const LOOKUPS_MAX = 60;

interface UncertainCommit {
  readonly mark: CommitMark;
  readonly cause: unknown;
  readonly resolve: () => void;
  readonly reject: (error: unknown) => void;
  lookupCount: number;
}

/**
 * Transactions whose connection broke during the commit. Their outcome is unknown until the database is reachable and
 * shows their marks. Storing such a turn again without a lookup could store it twice.
 */
export class UncertainCommits {
  readonly #pool: Pool;
  readonly #isResolvable: boolean;
  #uncertain: UncertainCommit[] = [];
  #isClosed = false;

  constructor(pool: Pool, isResolvable: boolean) {
    this.#pool = pool;
    this.#isResolvable = isResolvable;
  }

  /**
   * Resolves if the transaction was committed; rejects with `cause` if it was not, and with `StorageStoppedError`
   * if the outcome stays unknown.
   */
  wasCommitted(mark: CommitMark, cause: unknown): Promise<void> {
    if (!this.#isResolvable || this.#isClosed) return Promise.reject(unknownOutcome(cause));
    return new Promise((resolve, reject) => {
      this.#uncertain.push({ mark, cause, resolve, reject, lookupCount: 0 });
    });
  }

  /** Rejects if the database is unreachable; lookups that succeeded by then are resolved. */
  async settle(): Promise<void> {
    for (const commit of this.#uncertain) commit.lookupCount += 1;
    for (const commit of this.#uncertain.slice()) await this.#findMark(commit);
  }

  async #findMark(commit: UncertainCommit): Promise<void> {
    const { mark, cause, resolve, reject, lookupCount } = commit;
    try {
      const outcome = await outcomeOf(this.#pool, mark);
      if (outcome === "underWay") return;
      this.#forget(commit);
      if (outcome === "committed") resolve();
      else reject(outcome === "undone" ? cause : unknownOutcome(cause));
    } catch (error) {
      if (lookupCount >= LOOKUPS_MAX) {
        this.#forget(commit);
        reject(unknownOutcome(cause));
      }
      throw error;
    }
  }

  close(): void {
    this.#isClosed = true;
    for (const { reject, cause } of this.#uncertain.splice(0)) reject(unknownOutcome(cause));
  }

  #forget(commit: UncertainCommit): void {
    this.#uncertain = this.#uncertain.filter((each) => each !== commit);
  }
}

function unknownOutcome(cause: unknown): StorageStoppedError {
  return new StorageStoppedError("the database connection was lost during a commit", { cause });
}
