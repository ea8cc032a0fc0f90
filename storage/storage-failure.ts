/**
 * Storage failed for another reason than a unique rule or a foreign key: a full disk, a long lock, wrong SQL, a
 * backup's file that exists.
 */
export class RequestFailed extends Error {
  override readonly name = "RequestFailed";
  /** SQLite's extended result code, for example `SQLITE_FULL`, or that of the operating system, or `ERROR`. */
  readonly code: string;

  constructor(code: string, message: string) {
    super(message);
    this.code = code;
  }
}

/** More requests wait than storage is ready to keep; nothing of the refused one has happened. */
export class StorageOverloaded extends Error {
  override readonly name = "StorageOverloaded";

  constructor(waitingMax: number) {
    super(`storage has ${waitingMax} requests waiting and takes no more`);
  }
}

/**
 * Storage is closed or its thread has died. Whether a request that was waiting has taken effect is not known, except that
 * each one has done so as a whole or not at all.
 */
export class StorageStopped extends Error {
  override readonly name = "StorageStopped";

  constructor(message: string, options: ErrorOptions = {}) {
    super(message, options);
  }
}

/** The database could not be opened, for a reason that an operator can do something about; the message says it. */
export class StorageUnavailable extends Error {
  override readonly name = "StorageUnavailable";
}
