import { resolve } from "node:path";
import { BucketError } from "../../engine/bucket/bucket.js";
import { ParleyError } from "../../storage/parley-error.js";
import { storageAdvice } from "../../storage/sqlite/storage-advice.js";
import { faultCodeOf } from "../../storage/statements/fault.js";
import { StorageError, StorageUnavailableError } from "../../storage/statements/storage-error.js";
import { BackendUnavailableError } from "../http/backend/open-backend.js";
import { ListenError } from "../http/server.js";

/** The server cannot start for a reason that an operator can mend; the message says which, and how. */
export class StartError extends ParleyError {
  override readonly name = "StartError";
  readonly code = "start_failed";
}

/** What the operating system refuses to do with the data folder; anything else is a bug, whose stack is worth having. */
const OF_THE_FOLDER: ReadonlySet<unknown> = new Set([
  "EACCES",
  "EPERM",
  "EROFS",
  "ENOSPC",
  "EDQUOT",
  "EEXIST",
  "ENOTDIR",
  "EISDIR",
]);

/** A StartError where the operator can do something about it, else the error as it is. */
export function asStartError(error: unknown, databaseFile: string): unknown {
  const databasePath = resolve(databaseFile);
  if (
    error instanceof StorageUnavailableError ||
    error instanceof BucketError ||
    error instanceof ListenError ||
    error instanceof BackendUnavailableError
  ) {
    return new StartError(error.message, { cause: error });
  }
  if (error instanceof StorageError) {
    return new StartError(storageAdvice(databasePath, faultCodeOf(error)), { cause: error });
  }
  if (!isOfTheFolder(error)) return error;
  // A failed mkdir names the folder; every other call names a file in it.
  const path = error.syscall === "mkdir" ? databasePath : (error.path ?? databasePath);
  const { code, message } = error;
  return new StartError(storageAdvice(path, { code, message }), { cause: error });
}

function isOfTheFolder(error: unknown): error is NodeJS.ErrnoException & { readonly code: string } {
  if (!(error instanceof Error && "code" in error)) return false;
  return OF_THE_FOLDER.has(error.code) || ("syscall" in error && error.syscall === "mkdir");
}
