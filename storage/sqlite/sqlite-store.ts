import { resolve } from "node:path";
import { type Fault, messageOf } from "../statements/fault.js";
import { sqliteDialect } from "../statements/statement-dialect.js";
import type {
  Results,
  Statement,
  StorageStats,
  StoreBackend,
  StoreCondition,
  StoreFault,
} from "../statements/statement-port.js";
import { StorageStoppedError, StorageUnavailableError } from "../statements/storage-error.js";
import type { FileSettings } from "./open-store-file.js";
import { storageAdvice } from "./storage-advice.js";
import { storageThread } from "./storage-thread.js";
import { ThreadClient } from "./thread-client.js";

/** A file that the storage thread has open. */
export class SqliteStore implements StoreBackend {
  readonly writers = "one";
  readonly dialect = sqliteDialect(this);
  readonly #client: ThreadClient;
  readonly #filePath: string;
  #reader: Promise<ThreadClient> | undefined;
  #isClosed = false;

  /**
   * Rejects with `StorageUnavailableError` if the file cannot be used. `onFailure` is called once if the thread
   * dies.
   */
  static async open(
    settings: FileSettings,
    onFailure: (error: Error) => void,
  ): Promise<SqliteStore> {
    const filePath = resolve(settings.filePath);
    const opened = ThreadClient.open(storageThread(), { ...settings, filePath }, { onFailure });
    const client = await opened.catch((cause: unknown) => {
      throw new StorageUnavailableError(messageOf(cause), { cause });
    });
    return new SqliteStore(client, filePath);
  }

  private constructor(client: ThreadClient, filePath: string) {
    this.#client = client;
    this.#filePath = filePath;
  }

  get stats(): StorageStats {
    return this.#client.stats;
  }

  get isSoleServer(): boolean {
    return this.#client.lockWasThere;
  }

  get writeFault(): StoreFault | undefined {
    return storeFault(this.#client.writeFault, this.#filePath);
  }

  send(statements: readonly Statement[], guarded: boolean): Promise<Results> {
    return this.#client.send(statements, guarded);
  }

  async read(statements: readonly Statement[]): Promise<Results> {
    if (this.#isClosed) throw new StorageStoppedError("storage is closed");
    this.#reader ??= this.#openReader();
    return (await this.#reader).send(statements, false);
  }

  async checkHealth(): Promise<StoreCondition> {
    const { fault, warning } = await this.#client.checkHealth();
    return { fault: storeFault(fault, this.#filePath) ?? this.writeFault, warning };
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    const reader = await this.#reader?.catch(() => undefined);
    await reader?.close();
    await this.#client.close();
  }

  /** Opened by the first read: many processes never search. After a failure, the next read opens another one. */
  #openReader(): Promise<ThreadClient> {
    const forget = () => {
      this.#reader = undefined;
    };
    const settings = { filePath: this.#filePath, isReader: true };
    const opened = ThreadClient.open(storageThread("reads"), settings, { onFailure: forget });
    opened.catch(forget);
    return opened;
  }
}

const REASONS: readonly (readonly [RegExp, string])[] = [
  [/^SQLITE_FULL/, "the disk of the database is full"],
  [/^SQLITE_(?:BUSY|LOCKED)/, "another program keeps the database locked"],
  [/^FILE_GONE/, "the database's file was deleted or moved away"],
  [/^FILE_REPLACED/, "the database's file was replaced by another"],
  [/^SCHEMA_NEWER/, "the database was migrated by a newer version"],
];

const RESTART =
  "put the same file back (nothing is lost then), or restart the server on what is there now";

/** The storage thread's fault as text. */
export function storeFault(fault: Fault | undefined, filePath: string): StoreFault | undefined {
  if (fault?.kind !== "other") return undefined;
  const { code, message } = fault;
  const known = REASONS.find(([pattern]) => pattern.test(code))?.[1];
  const reason = known ?? `the database cannot be written (${code})`;
  if (code.startsWith("FILE_")) return { reason, advice: `${message}: ${RESTART}` };
  if (code === "SCHEMA_NEWER") {
    return { reason, advice: `${filePath}: ${message}; restart the server with that version` };
  }
  return { reason, advice: storageAdvice(filePath, { code, message }) };
}
