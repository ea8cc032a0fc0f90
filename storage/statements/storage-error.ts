import { ParleyError } from "../parley-error.js";
/**
 * Storage failed for a reason other than a unique rule or a foreign key: a full disk, a long lock, invalid SQL, a
 * backup's file that exists.
 */
export class StorageError extends ParleyError {
  override readonly name: string = "StorageError";
  readonly code: "storage_failed" | "database_unavailable" = "storage_failed";
  /**
   * SQLite's extended result code, for example `SQLITE_FULL`, PostgreSQL's (`PG_53100`), or the operating system's;
   * otherwise `ERROR`.
   */
  readonly databaseCode: string;

  constructor(databaseCode: string, message: string) {
    super(message);
    this.databaseCode = databaseCode;
  }
}

/**
 * Codes of SQLite and PostgreSQL, and our own, for the disk, a lock, the file or the connection to the database:
 * the same request may succeed later.
 */
const STORE_ERROR =
  /^(?:SQLITE_(?:FULL|BUSY|LOCKED|IOERR|READONLY|CANTOPEN|NOMEM)(?:_|$)|FILE_(?:GONE|REPLACED)$|PG_(?:UNREACHABLE|UNTRUSTED|25006|55P03|3D000|(?:08|28|40|53|57|58|XX)\w{3})$)/;
const LOCK_ERROR = /^SQLITE_(?:BUSY|LOCKED)(?:_|$)/;

/** Whether the database is to blame, and not the request. */
export function isStoreErrorCode(code: string): boolean {
  return STORE_ERROR.test(code);
}

/** Whether another process holds a lock. */
export function isLockErrorCode(code: string): boolean {
  return LOCK_ERROR.test(code);
}

/**
 * The disk is full, another process holds the lock, or the file is missing. Nothing of the request has happened, and
 * the same request may succeed once the database works again.
 */
export class StorageUnwritableError extends StorageError {
  override readonly name = "StorageUnwritableError";
  override readonly code = "database_unavailable";
}

/** The maximum number of requests is waiting; nothing of the refused one has happened. */
export class StorageOverloadedError extends ParleyError {
  override readonly name = "StorageOverloadedError";
  readonly code = "overloaded";

  constructor(waitingMax: number) {
    super(`storage has ${waitingMax} requests waiting and accepts no more`);
  }
}

/**
 * Storage is closed or its thread has died. The outcome of a waiting request is unknown, except that it took
 * effect completely or not at all.
 */
export class StorageStoppedError extends ParleyError {
  override readonly name = "StorageStoppedError";
  readonly code = "storage_stopped";

  constructor(message: string, options: ErrorOptions = {}) {
    super(message, options);
  }
}

/** The database could not be opened, for a reason that an operator can fix; the message contains it. */
export class StorageUnavailableError extends ParleyError {
  override readonly name = "StorageUnavailableError";
  readonly code = "storage_unavailable";
}

/** Whether nothing of the request has happened, and a retry may succeed. */
export function isRetryable(error: unknown): boolean {
  return error instanceof StorageUnwritableError || error instanceof StorageOverloadedError;
}
