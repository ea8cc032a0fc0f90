import { resolve } from "node:path";
import { messageOf } from "../statements/fault.js";
import type {
  Results,
  Statement,
  StorageStats,
  StoreBackend,
} from "../statements/statement-port.js";
import { StorageUnavailable } from "../statements/storage-failure.js";
import type { StoreCondition, StoreFault } from "../statements/store-condition.js";
import { sqliteDialect } from "./sqlite-dialect.js";
import { storageThread } from "./storage-thread.js";
import { ThreadClient } from "./thread-client.js";
import type { FileSettings } from "./thread-protocol.js";
import { storeFault } from "./watch/store-fault.js";

/** A file that the storage thread has open. */
export class SqliteStore implements StoreBackend {
  readonly writers = "one";
  readonly dialect = sqliteDialect(this);
  readonly #client: ThreadClient;
  readonly #filePath: string;

  /** Rejects with `StorageUnavailable` when the file cannot be used. `onFailure` is called once if the thread dies. */
  static async open(
    settings: FileSettings,
    onFailure: (error: Error) => void,
  ): Promise<SqliteStore> {
    const filePath = resolve(settings.filePath);
    const opened = ThreadClient.open(storageThread(), { ...settings, filePath }, { onFailure });
    const client = await opened.catch((cause: unknown) => {
      throw new StorageUnavailable(messageOf(cause), { cause });
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

  async look(): Promise<StoreCondition> {
    const { fault, warning } = await this.#client.look();
    return { fault: storeFault(fault, this.#filePath) ?? this.writeFault, warning };
  }

  close(): Promise<void> {
    return this.#client.close();
  }
}
