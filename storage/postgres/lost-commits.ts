import type { Pool } from "pg";
import { StorageStopped } from "../statements/storage-failure.js";
import { type CommitMark, outcomeOf } from "./commit-mark.js";

/** Times that one is asked for, which a server does every two seconds. */
const ASKED_MAX = 60;

interface LostCommit {
  readonly mark: CommitMark;
  readonly cause: unknown;
  readonly resolve: () => void;
  readonly reject: (error: unknown) => void;
  askedCount: number;
}

/**
 * Transactions whose connection was lost while they were committed: nobody knows whether they were, until the database is there
 * again and shows their marks. Storing such a turn again without asking could store it twice.
 */
export class LostCommits {
  readonly #pool: Pool;
  readonly #isAsked: boolean;
  #lost: LostCommit[] = [];
  #isGivenUp = false;

  constructor(pool: Pool, isAsked: boolean) {
    this.#pool = pool;
    this.#isAsked = isAsked;
  }

  /**
   * Resolves when it turns out that the transaction was committed; rejects with `cause` when it was not, and with
   * `StorageStopped` when nobody will know.
   */
  wasCommitted(mark: CommitMark, cause: unknown): Promise<void> {
    if (!this.#isAsked || this.#isGivenUp) return Promise.reject(notKnown(cause));
    return new Promise((resolve, reject) => {
      this.#lost.push({ mark, cause, resolve, reject, askedCount: 0 });
    });
  }

  /** Rejects when the database cannot be reached; what it can tell by then is settled. */
  async settle(): Promise<void> {
    for (const commit of this.#lost) commit.askedCount += 1;
    for (const commit of this.#lost.slice()) await this.#ask(commit);
  }

  async #ask(commit: LostCommit): Promise<void> {
    const { mark, cause, resolve, reject, askedCount } = commit;
    try {
      const outcome = await outcomeOf(this.#pool, mark);
      if (outcome === "underWay") return;
      this.#forget(commit);
      if (outcome === "committed") resolve();
      else reject(outcome === "undone" ? cause : notKnown(cause));
    } catch (error) {
      if (askedCount >= ASKED_MAX) {
        this.#forget(commit);
        reject(notKnown(cause));
      }
      throw error;
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

function notKnown(cause: unknown): StorageStopped {
  return new StorageStopped("the database was lost while it committed", { cause });
}
