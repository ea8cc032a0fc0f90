import { DatabaseError, type Pool } from "pg";

/** What the server answers a statement, or why it refuses it. */
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

/** Connections to a server that says what a test has it say; `asked` is all that it was told, in order. */
export class ScriptedPool {
  readonly asked: string[] = [];
  /** How connections were given back. */
  readonly givenBack: ("kept" | "closed")[] = [];
  isEnded = false;
  answer: (sql: string, values?: unknown) => Answer | Promise<Answer> = () => NOTHING;

  readonly query = async (sql: string, values?: readonly unknown[]): Promise<unknown> => {
    this.asked.push(sql);
    return await this.#answered(sql, values);
  };

  /** Its statements are asked at once and answered in order; after one that failed, all are refused until the transaction is over. */
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

  /** As those know it who ask it. */
  get pool(): Pool {
    // Only what is called.
    return this as unknown as Pool;
  }
}
