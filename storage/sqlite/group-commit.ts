import type Sqlite from "better-sqlite3";
import { LRUCache } from "lru-cache";
import { ParleyError } from "../parley-error.js";
import type { Fault } from "../statements/fault.js";
import type { Statement, StatementResult } from "../statements/statement-port.js";
import { isLockErrorCode } from "../statements/storage-error.js";
import { faultOf } from "./sqlite-fault.js";
import type { SqliteFile } from "./sqlite-file.js";
import type { Outcome, Reply, ThreadRequest } from "./thread-protocol.js";

export interface GroupResult {
  /** The replies, one for each request that is not blocked, in the same order. */
  readonly replies: readonly Reply[];
  /** Requests that another process's lock blocks, in order: nothing of them has happened, and they may be run again. */
  readonly blocked: readonly ThreadRequest[];
  /** False if nothing was written, or the write failed. */
  readonly committed: boolean;
}

/** A request with compiled statements, or the reason why they cannot be compiled. */
interface PreparedRequest {
  readonly request: ThreadRequest;
  readonly statements: readonly PreparedStatement[];
  readonly writes: boolean;
  readonly refusal: Outcome | undefined;
}

const LEFT_OUT: StatementResult = { rows: [], changes: 0 };

/** The transaction itself is lost (disk full, commit refused): nothing in it has happened. */
class GroupLostError extends ParleyError {
  override readonly name = "GroupLostError";
  readonly code = "transaction_lost";
}

/**
 * Runs requests in order, all in one transaction: the price of a commit is paid once for everything that arrived
 * during the previous one. A refused statement undoes only its own request.
 */
export class GroupCommit {
  readonly #file: SqliteFile;
  readonly #cache: StatementCache;
  readonly #refusal: () => Fault | undefined;

  /** `refusal` is called before any write, and returns why writing is not allowed. */
  constructor(file: SqliteFile, refusal: () => Fault | undefined = () => undefined) {
    this.#file = file;
    this.#cache = new StatementCache(file);
    this.#refusal = refusal;
  }

  run(requests: readonly ThreadRequest[]): GroupResult {
    const prepared = requests.map((request) => this.#prepare(request));
    if (!prepared.some((request) => request.writes)) return this.#readOnly(prepared);
    const refusal = this.#refusal();
    if (refusal !== undefined) return this.#readOnly(prepared, { kind: "fault", fault: refusal });
    try {
      // The write lock is taken before the first read: a transaction that has read cannot become a writer after another
      // process has written.
      this.#file.exec("BEGIN IMMEDIATE");
    } catch (error) {
      return this.#readOnly(prepared, { kind: "fault", fault: faultOf(error) });
    }
    try {
      const replies = prepared.map((request) => this.#reply(request));
      this.#file.exec("COMMIT");
      return { replies, blocked: [], committed: true };
    } catch (error) {
      if (this.#file.inTransaction) this.#file.exec("ROLLBACK");
      const cause = error instanceof GroupLostError ? error.cause : error;
      // Reads run again: the earlier ones may have seen the lost writes.
      return this.#readOnly(prepared, { kind: "fault", fault: faultOf(cause) });
    }
  }

  /** A request that only reads does not wait for blocked writers. */
  #readOnly(prepared: readonly PreparedRequest[], writers?: Outcome): GroupResult {
    const replies: Reply[] = [];
    const blocked: ThreadRequest[] = [];
    for (const each of prepared) {
      const { request, writes } = each;
      const outcome = writes && writers !== undefined ? writers : this.#reply(each).outcome;
      if (isLockFault(outcome)) blocked.push(request);
      else replies.push({ id: request.id, outcome });
    }
    return { replies, blocked, committed: false };
  }

  #prepare(request: ThreadRequest): PreparedRequest {
    try {
      const statements = request.statements.map(({ sql }) => this.#cache.prepare(sql));
      const writes = statements.some((statement) => !statement.readonly);
      return { request, statements, writes, refusal: undefined };
    } catch (error) {
      const refusal: Outcome = { kind: "fault", fault: faultOf(error) };
      return { request, statements: [], writes: false, refusal };
    }
  }

  #reply(prepared: PreparedRequest): Reply {
    return { id: prepared.request.id, outcome: prepared.refusal ?? this.#outcome(prepared) };
  }

  #outcome({ request, statements, writes }: PreparedRequest): Outcome {
    try {
      const [only] = statements;
      if (only !== undefined && statements.length === 1 && !request.guarded) {
        return { kind: "done", results: [execute(only, request.statements[0])] };
      }
      return this.#together(request, statements);
    } catch (error) {
      if (writes && !this.#file.inTransaction) throw new GroupLostError("", { cause: error });
      return { kind: "fault", fault: faultOf(error) };
    }
  }

  /** Outside a transaction, a savepoint is one: several reads see one state of the database. */
  #together(request: ThreadRequest, statements: readonly PreparedStatement[]): Outcome {
    this.#file.exec("SAVEPOINT request");
    try {
      const results: StatementResult[] = [];
      let lastChanges = 0;
      for (const [index, statement] of statements.entries()) {
        const source = request.statements[index];
        const isLeftOut = source?.onlyAfterChange === true && lastChanges === 0;
        const result = isLeftOut ? LEFT_OUT : execute(statement, source);
        if (!statement.readonly) lastChanges = result.changes;
        if (index === 0 && request.guarded && result.changes === 0) {
          this.#file.exec("ROLLBACK TO request; RELEASE request");
          return { kind: "notApplied" };
        }
        results.push(result);
      }
      this.#file.exec("RELEASE request");
      return { kind: "done", results };
    } catch (error) {
      if (this.#file.inTransaction) this.#file.exec("ROLLBACK TO request; RELEASE request");
      throw error;
    }
  }
}

function execute(prepared: PreparedStatement, statement: Statement | undefined): StatementResult {
  const parameters = [...(statement?.parameters ?? [])];
  if (prepared.reader) {
    const rows = prepared.all(...parameters);
    return { rows, changes: rows.length };
  }
  return { rows: [], changes: prepared.run(...parameters).changes };
}

function isLockFault(outcome: Outcome): boolean {
  return (
    outcome.kind === "fault" &&
    outcome.fault.kind === "other" &&
    isLockErrorCode(outcome.fault.code)
  );
}

export type PreparedStatement = Sqlite.Statement;

/**
 * The most compiled statements kept. The stores have about a hundred kinds of statements; lists of ids of every length
 * add some more.
 */
const PREPARED_STATEMENTS_MAX = 300;

/** Compiling a statement costs more than running it, so used ones are kept. */
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

  /** Throws if the SQL is invalid. */
  prepare(sql: string): PreparedStatement {
    const known = this.#prepared.get(sql);
    if (known !== undefined) return known;
    const statement: PreparedStatement = this.#file.prepare(sql);
    this.#prepared.set(sql, statement);
    return statement;
  }
}

/** A longer transaction would delay its first requester: this many take about 20 ms. */
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
 * Requests on their way to the database, in the order of their arrival. While another process holds the write
 * lock, writers wait for it and readers pass them; a lock that is held for too long fails the writers.
 */
export class GroupQueue {
  readonly #commit: GroupCommit;
  readonly #lockMaxMs: number;
  readonly #nowMs: () => number;
  readonly #requestsMax: number;
  #arrived: ThreadRequest[] = [];
  #blocked: readonly ThreadRequest[] = [];
  #blockedSinceMs: number | undefined;

  constructor(
    commit: GroupCommit,
    lockMaxMs: number,
    nowMs: () => number,
    requestsMax = GROUP_REQUESTS_MAX,
  ) {
    this.#commit = commit;
    this.#lockMaxMs = lockMaxMs;
    this.#nowMs = nowMs;
    this.#requestsMax = requestsMax;
  }

  get isEmpty(): boolean {
    return this.#arrived.length === 0 && this.#blocked.length === 0;
  }

  add(requests: readonly ThreadRequest[]): void {
    this.#arrived.push(...requests);
  }

  /** Runs the next waiting requests as one group. */
  run(): { readonly replies: readonly Reply[]; readonly committed: boolean } {
    const group = [...this.#blocked, ...this.#arrived.splice(0, this.#requestsMax)];
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
