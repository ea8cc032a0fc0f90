import { existsSync } from "node:fs";
import { dirname } from "node:path";
import { makeDataFolder } from "../data-folder.js";
import { StorageUnavailableError } from "../statements/storage-error.js";
import { FileIdentity } from "./file-identity.js";
import { Sqlite, SqliteError } from "./sqlite-library.js";

/**
 * Claims a database for one server: a second one would close the calls in progress of the first as abandoned. The
 * operating system releases it when the process dies, however it dies. A separate file, since commands may use the
 * database meanwhile.
 */
export class ServerClaim {
  /** False if the lock may have been removed under a live server. */
  readonly lockWasThere: boolean;
  readonly #databasePath: string;
  #files: OpenFile;
  #identity: FileIdentity;

  /** Throws `StorageUnavailableError` if another server has the database. */
  static take(databasePath: string): ServerClaim {
    makeDataFolder(dirname(databasePath));
    const lockWasThere = existsSync(lockPathOf(databasePath));
    return new ServerClaim(databasePath, hold(databasePath), lockWasThere);
  }

  private constructor(databasePath: string, held: OpenFile, lockWasThere: boolean) {
    this.#databasePath = databasePath;
    this.#files = held;
    this.#identity = new FileIdentity(lockPathOf(databasePath));
    this.lockWasThere = lockWasThere;
  }

  /** Takes the lock again if its file was removed. Throws `StorageUnavailableError` if another server has it by now. */
  renew(): void {
    if (this.#identity.fault() === undefined) return;
    const held = hold(this.#databasePath);
    this.#files.close();
    this.#files = held;
    this.#identity = new FileIdentity(lockPathOf(this.#databasePath));
  }

  close(): void {
    this.#files.close();
  }
}

function lockPathOf(databasePath: string): string {
  return `${databasePath}.lock`;
}

function hold(databasePath: string): OpenFile {
  const held = openFile(lockPathOf(databasePath));
  if (held !== undefined) return held;
  throw new StorageUnavailableError(
    `another server runs on ${databasePath}: stop that one first, or give this one a folder of its own`,
  );
}

export interface OpenFile {
  close(): void;
}

/**
 * Locks a file, creating it if it is missing, until it is closed or the process dies. Returns undefined if another
 * process holds the lock. A SQLite database is the only portable lock in Node.
 */
export function openFile(path: string): OpenFile | undefined {
  const file = new Sqlite(path, { timeout: 0 });
  try {
    file.exec("BEGIN EXCLUSIVE");
    return file;
  } catch (error) {
    file.close();
    if (!(error instanceof SqliteError) || !error.code.startsWith("SQLITE_BUSY")) throw error;
    return undefined;
  }
}
