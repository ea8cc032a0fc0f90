import { resolve } from "node:path";
import { BucketFault } from "../../engine/bucket/bucket.js";
import { storageAdvice } from "../../storage/sqlite/storage-advice.js";
import { RequestFailed, StorageUnavailable } from "../../storage/statements/storage-failure.js";
import { BackendUnavailable } from "../http/backend/open-backend.js";
import { CannotListen } from "../http/server.js";

/** The server cannot start for a reason that an operator can mend; the message says which, and how. */
export class StartFault extends Error {
  override readonly name = "StartFault";
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

/** A StartFault where the operator can do something about it, else the error as it is. */
export function asStartFault(error: unknown, databaseFile: string): unknown {
  const databasePath = resolve(databaseFile);
  if (
    error instanceof StorageUnavailable ||
    error instanceof BucketFault ||
    error instanceof CannotListen ||
    error instanceof BackendUnavailable
  ) {
    return new StartFault(error.message, { cause: error });
  }
  if (error instanceof RequestFailed) {
    return new StartFault(storageAdvice(databasePath, error), { cause: error });
  }
  if (!isOfTheFolder(error)) return error;
  // A failed mkdir names the folder; every other call names a file in it.
  const path = error.syscall === "mkdir" ? databasePath : (error.path ?? databasePath);
  const { code, message } = error;
  return new StartFault(storageAdvice(path, { code, message }), { cause: error });
}

function isOfTheFolder(error: unknown): error is NodeJS.ErrnoException & { readonly code: string } {
  if (!(error instanceof Error && "code" in error)) return false;
  return OF_THE_FOLDER.has(error.code) || ("syscall" in error && error.syscall === "mkdir");
}
