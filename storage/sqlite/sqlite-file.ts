import { closeSync, existsSync, openSync } from "node:fs";
import { dirname } from "node:path";
import type BetterSqlite3 from "better-sqlite3";
import { makeDataFolder } from "../data-folder.js";
import { schemaVersion } from "../schema/migrations.js";
import { Sqlite } from "./sqlite-library.js";

export type SqliteFile = BetterSqlite3.Database;

/** The header of a file that has had every migration contains this number. */
export const SCHEMA_VERSION = schemaVersion("sqlite");

/** How long a statement waits for another process (an administrator's command, a backup) that is writing. */
export const BUSY_TIMEOUT_MS = 5000;

/**
 * Pages kept in memory: enough for the hot indexes of millions of calls, small compared with a hundred calls in
 * progress.
 */
const PAGE_CACHE_KIB = 16 * 1024;

/**
 * With this many pages in the log (16 MiB) SQLite checkpoints during a commit, so the log stays bounded even if
 * the thread is never idle. The thread itself checkpoints earlier, between two groups.
 */
const FORCED_CHECKPOINT_PAGES = 4096;

/** After a long backup had held the log open, the file is truncated to this size. */
const LOG_FILE_BYTES_MAX = 64 * 1024 * 1024;

/**
 * The database contains transcripts and password hashes: only its owner may read it. SQLite gives its side files
 * the same mode.
 */
export const FILE_MODE = 0o600;

/**
 * Opens or creates the database and updates its schema, under the given claim if an earlier release created it.
 * Throws if the file is a newer release's.
 */
export async function openSqliteFile(
  filePath: string,
  claim?: () => { close(): void },
): Promise<SqliteFile> {
  makeDataFolder(dirname(filePath));
  createFile(filePath);
  const file = new Sqlite(filePath, { timeout: BUSY_TIMEOUT_MS });
  try {
    file.pragma("journal_mode = WAL");
    // In WAL mode a killed process loses nothing; only a power cut can cost the last commits, never the file.
    file.pragma("synchronous = NORMAL");
    file.pragma(`cache_size = -${PAGE_CACHE_KIB}`);
    file.pragma("temp_store = MEMORY");
    // Through a memory map, a disk error would end the process; through reads it fails one request.
    file.pragma("mmap_size = 0");
    file.pragma(`wal_autocheckpoint = ${FORCED_CHECKPOINT_PAGES}`);
    file.pragma(`journal_size_limit = ${LOG_FILE_BYTES_MAX}`);
    // Imported on demand: the query builder is hundreds of files, and this thread needs it for nothing else.
    if (file.pragma("user_version", { simple: true }) !== SCHEMA_VERSION) {
      const { isOlderRelease, updateSchema } = await import("./schema-update.js");
      const claimed = isOlderRelease(file, SCHEMA_VERSION) ? claim?.() : undefined;
      try {
        await updateSchema(file, SCHEMA_VERSION);
      } finally {
        claimed?.close();
      }
    }
    file.pragma("foreign_keys = ON");
    return file;
  } catch (error) {
    file.close();
    throw error;
  }
}

/** In WAL mode a reader sees what was committed before its statement, and no writer waits for it. */
export function openReader(filePath: string): SqliteFile {
  const file = new Sqlite(filePath, { readonly: true, timeout: BUSY_TIMEOUT_MS });
  file.pragma(`cache_size = -${PAGE_CACHE_KIB}`);
  file.pragma("temp_store = MEMORY");
  file.pragma("mmap_size = 0");
  return file;
}

/** A file that exists is not even opened: closing it would drop this process's locks on it. */
function createFile(filePath: string): void {
  if (!existsSync(filePath)) closeSync(openSync(filePath, "a", FILE_MODE));
}
