import { DatabaseError, type Pool } from "pg";

/** The server's response to a statement. */
interface Answer {
  readonly rows?: readonly unknown[];
  readonly rowCount?: number | null;
  readonly command?: string;
}

export function saidByServer(code: string, about: Partial<DatabaseError> = {}): DatabaseError {
  return Object.assign(new DatabaseError("as the server says", 0, "error"), { code, ...about });
}

const IN_FAILED_TRANSACTION = "25P02";
const OUTSIDE = /^(?:begin|commit|rollback)/;
const NOTHING: Answer = { rows: [], rowCount: 0, command: "" };

/** Connections to a server whose responses the test determines; `asked` contains all statements, in order. */
export class ScriptedPool {
  readonly asked: string[] = [];
  /** How connections were returned to the pool. */
  readonly givenBack: ("kept" | "closed")[] = [];
  isEnded = false;
  answer: (sql: string, values?: unknown) => Answer | Promise<Answer> = () => NOTHING;

  readonly query = async (sql: string, values?: readonly unknown[]): Promise<unknown> => {
    this.asked.push(sql);
    return await this.#answered(sql, values);
  };

  /**
   * Statements are accepted at once and answered in order. After one that failed, all are refused until the transaction
   * is over.
   */
  readonly connect = async () => {
    let last: Promise<unknown> = Promise.resolve();
    let hasFailed = false;
    const answerInTurn = async (before: Promise<unknown>, sql: string, values: unknown) => {
      await Promise.allSettled([before]);
      if (OUTSIDE.test(sql)) hasFailed = false;
      if (hasFailed) throw saidByServer(IN_FAILED_TRANSACTION);
      try {
        return await this.#answered(sql, values);
      } catch (error) {
        hasFailed = true;
        throw error;
      }
    };
    return {
      query: (sql: string, values?: readonly unknown[]): Promise<unknown> => {
        this.asked.push(sql);
        last = answerInTurn(last, sql, values);
        return last;
      },
      release: (isBroken = false) => void this.givenBack.push(isBroken ? "closed" : "kept"),
    };
  };

  async end(): Promise<void> {
    this.isEnded = true;
  }

  async #answered(sql: string, values: unknown): Promise<unknown> {
    const answer = { ...NOTHING, ...(await this.answer(sql, values)), values };
    return sql.startsWith("begin; insert") ? [{}, { rows: [{ id: "mark", atMs: 0 }] }] : answer;
  }

  /** The pool in the type that the code under test expects. */
  get pool(): Pool {
    // Implements only the methods that are called.
    return this as unknown as Pool;
  }
}
