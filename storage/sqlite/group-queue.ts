import type { GroupCommit } from "./group-commit.js";
import type { Reply, ThreadRequest } from "./thread-protocol.js";

/** A longer transaction would keep its first requester waiting: this many take about 20 ms. */
const GROUP_REQUESTS_MAX = 500;

const LOCKED = {
  kind: "fault",
  fault: {
    kind: "other",
    code: "SQLITE_BUSY",
    message: "another process has been writing for too long",
  },
} as const;

/**
 * Requests on their way to the database, in the order of their arrival. While another process holds the write lock, those
 * who write wait for it and those who read pass them; a lock that is held for too long is not waited for any more.
 */
export class GroupQueue {
  readonly #commit: GroupCommit;
  readonly #lockMaxMs: number;
  readonly #nowMs: () => number;
  #arrived: ThreadRequest[] = [];
  #blocked: readonly ThreadRequest[] = [];
  #blockedSinceMs: number | undefined;

  constructor(commit: GroupCommit, lockMaxMs: number, nowMs: () => number) {
    this.#commit = commit;
    this.#lockMaxMs = lockMaxMs;
    this.#nowMs = nowMs;
  }

  get isEmpty(): boolean {
    return this.#arrived.length === 0 && this.#blocked.length === 0;
  }

  add(requests: readonly ThreadRequest[]): void {
    this.#arrived.push(...requests);
  }

  /** Runs the next of them as one group. */
  run(): { readonly replies: readonly Reply[]; readonly committed: boolean } {
    const group = [...this.#blocked, ...this.#arrived.splice(0, GROUP_REQUESTS_MAX)];
    const { replies, blocked, committed } = this.#commit.run(group);
    if (committed) this.#blockedSinceMs = undefined;
    this.#blocked = blocked;
    if (blocked.length === 0) return { replies, committed };
    this.#blockedSinceMs ??= this.#nowMs();
    if (this.#nowMs() - this.#blockedSinceMs < this.#lockMaxMs) return { replies, committed };
    this.#blocked = [];
    const refused = blocked.map(({ id }) => ({ id, outcome: LOCKED }));
    return { replies: [...replies, ...refused], committed };
  }
}
