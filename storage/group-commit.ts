import { faultOf } from "./fault.js";
import type { SqliteFile } from "./sqlite-file.js";
import { type PreparedStatement, StatementCache } from "./statement-cache.js";
import type {
  Outcome,
  Reply,
  Statement,
  StatementResult,
  ThreadRequest,
} from "./thread-protocol.js";

export interface GroupResult {
  /** The replies, one for each request, in the same order. */
  readonly replies: readonly Reply[];
  /** False when nothing was to be written, or when the group was lost. */
  readonly committed: boolean;
}

/** A request whose statements are compiled, or the reason why they cannot be. */
interface PreparedRequest {
  readonly request: ThreadRequest;
  readonly statements: readonly PreparedStatement[];
  readonly writes: boolean;
  readonly refusal: Outcome | undefined;
}

/** The transaction itself is gone (disk full, commit refused): nothing that was done in it has happened. */
class GroupLost extends Error {
  override readonly name = "GroupLost";
}

/**
 * Runs requests in order, all in one transaction: the price of a commit is paid once for everything that arrived while the
 * last one was under way. A refused statement undoes only its own request.
 */
export class GroupCommit {
  readonly #file: SqliteFile;
  readonly #cache: StatementCache;

  constructor(file: SqliteFile) {
    this.#file = file;
    this.#cache = new StatementCache(file);
  }

  run(requests: readonly ThreadRequest[]): GroupResult {
    const prepared = requests.map((request) => this.#prepare(request));
    if (!prepared.some((request) => request.writes)) {
      return { replies: prepared.map((request) => this.#reply(request)), committed: false };
    }
    try {
      // Taken before the first read: a transaction that has read may not become a writer after another process has written.
      this.#file.exec("BEGIN IMMEDIATE");
    } catch (error) {
      return { replies: this.#refuseWriters(prepared, error), committed: false };
    }
    try {
      const replies = prepared.map((request) => this.#reply(request));
      this.#file.exec("COMMIT");
      return { replies, committed: true };
    } catch (error) {
      if (this.#file.inTransaction) this.#file.exec("ROLLBACK");
      const cause = error instanceof GroupLost ? error.cause : error;
      return { replies: prepared.map((request) => failed(request, cause)), committed: false };
    }
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

  #refuseWriters(prepared: readonly PreparedRequest[], error: unknown): Reply[] {
    return prepared.map((request) =>
      request.writes ? failed(request, error) : this.#reply(request),
    );
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
      if (writes && !this.#file.inTransaction) throw new GroupLost("", { cause: error });
      return { kind: "fault", fault: faultOf(error) };
    }
  }

  /** Outside a transaction, a savepoint is one: several reads see one state of the database. */
  #together(request: ThreadRequest, statements: readonly PreparedStatement[]): Outcome {
    this.#file.exec("SAVEPOINT request");
    try {
      const results: StatementResult[] = [];
      for (const [index, statement] of statements.entries()) {
        const result = execute(statement, request.statements[index]);
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

function failed({ request }: PreparedRequest, error: unknown): Reply {
  return { id: request.id, outcome: { kind: "fault", fault: faultOf(error) } };
}
