import { mkdirSync } from "node:fs";
import { dirname } from "node:path";
import type { SqliteFile } from "./sqlite-file.js";
import { Sqlite, SqliteError } from "./sqlite-library.js";
import { StorageUnavailable } from "./storage-failure.js";

/**
 * Claims a database for one server: a second one would close the calls in progress of the first as abandoned. Held until
 * the returned file is closed; the operating system lets go of it when the process dies, however it dies. A file of its
 * own, since the command lines may use the database meanwhile. Throws when another server has it.
 */
export function claimForServer(databasePath: string): SqliteFile {
  mkdirSync(dirname(databasePath), { recursive: true });
  const file = new Sqlite(`${databasePath}.lock`, { timeout: 0 });
  try {
    file.exec("BEGIN EXCLUSIVE");
    return file;
  } catch (error) {
    file.close();
    if (!(error instanceof SqliteError) || !error.code.startsWith("SQLITE_BUSY")) throw error;
    throw new StorageUnavailable(
      `another server runs on ${databasePath}: stop that one first, or give this one a folder of its own`,
      { cause: error },
    );
  }
}
