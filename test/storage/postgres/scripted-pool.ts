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

const NOTHING: Answer = { rows: [], rowCount: 0, command: "" };

/** Connections to a server that says what a test has it say; `asked` is all that it was told, in order. */
export class ScriptedPool {
  readonly asked: string[] = [];
  /** How connections were given back. */
  readonly givenBack: ("kept" | "closed")[] = [];
  isEnded = false;
  answer: (sql: string) => Answer | Promise<Answer> = () => NOTHING;

  readonly query = async (sql: string, values?: readonly unknown[]): Promise<unknown> => {
    this.asked.push(sql);
    const beginsMarked = sql.startsWith("begin; insert");
    const answer = { ...NOTHING, ...(await this.answer(sql)), values };
    return beginsMarked ? [{}, { rows: [{ id: "mark", atMs: 0 }] }] : answer;
  };

  readonly connect = async () => ({
    query: this.query,
    release: (isBroken = false) => void this.givenBack.push(isBroken ? "closed" : "kept"),
  });

  async end(): Promise<void> {
    this.isEnded = true;
  }

  /** As those know it who ask it. */
  get pool(): Pool {
    // Only what is called.
    return this as unknown as Pool;
  }
}
