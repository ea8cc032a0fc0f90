import type { Pool } from "pg";
import * as v from "valibot";
import { StorageStopped } from "../storage-failure.js";

/** Times that one is asked for, which a server does every two seconds. */
const ASKED_MAX = 60;

interface LostCommit {
  readonly id: string;
  readonly cause: unknown;
  readonly resolve: () => void;
  readonly reject: (error: unknown) => void;
  askedCount: number;
}

/** What PostgreSQL calls a transaction of which nothing was written down before it crashed. */
const IN_THE_FUTURE = "22023";

const States = v.tuple([v.object({ state: v.nullable(v.string()) })]);

/**
 * Transactions whose connection was lost while they were committed: nobody knows whether they were, until the database is there
 * again and says so. Storing such a turn again without asking could store it twice.
 */
export class LostCommits {
  readonly #pool: Pool;
  readonly #isAsked: boolean;
  #lost: LostCommit[] = [];
  #isGivenUp = false;
  #settling: Promise<void> | undefined;

  constructor(pool: Pool, isAsked: boolean) {
    this.#pool = pool;
    this.#isAsked = isAsked;
  }

  /**
   * Resolves when it turns out that the transaction was committed; rejects with `cause` when it was not, and with
   * `StorageStopped` when nobody will know.
   */
  wasCommitted(id: string, cause: unknown): Promise<void> {
    if (!this.#isAsked || this.#isGivenUp) return Promise.reject(notKnown(cause));
    return new Promise((resolve, reject) => {
      this.#lost.push({ id, cause, resolve, reject, askedCount: 0 });
    });
  }

  /** Rejects when the database cannot be reached; what it can tell by then is settled. */
  async settle(): Promise<void> {
    for (const commit of this.#lost) commit.askedCount += 1;
    await this.#ask();
  }

  /**
   * As `settle`, to be awaited before each write: after a crash PostgreSQL gives the numbers of transactions that it had not
   * written down to the next ones, and then tells what became of those.
   */
  async settleBeforeWriting(): Promise<void> {
    if (this.#lost.length === 0) return;
    this.#settling ??= this.#ask().finally(() => {
      this.#settling = undefined;
    });
    await this.#settling;
  }

  async #ask(): Promise<void> {
    for (const commit of this.#lost.slice()) {
      const sql = "select pg_xact_status($1::xid8) as state";
      try {
        const [{ state }] = v.parse(States, (await this.#pool.query(sql, [commit.id])).rows);
        if (state === "in progress") continue;
        this.#forget(commit);
        if (state === "committed") commit.resolve();
        else if (state === "aborted") commit.reject(commit.cause);
        else commit.reject(notKnown(commit.cause));
      } catch (error) {
        if (isInTheFuture(error)) {
          this.#forget(commit);
          commit.reject(commit.cause);
          continue;
        }
        if (commit.askedCount >= ASKED_MAX) {
          this.#forget(commit);
          commit.reject(notKnown(commit.cause));
        }
        throw error;
      }
    }
  }

  giveUp(): void {
    this.#isGivenUp = true;
    for (const { reject, cause } of this.#lost.splice(0)) reject(notKnown(cause));
  }

  #forget(commit: LostCommit): void {
    this.#lost = this.#lost.filter((each) => each !== commit);
  }
}

function isInTheFuture(error: unknown): boolean {
  return error instanceof Error && "code" in error && error.code === IN_THE_FUTURE;
}

function notKnown(cause: unknown): StorageStopped {
  return new StorageStopped("the database was lost while it committed", { cause });
}
