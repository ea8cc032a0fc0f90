import { ParleyError } from "../parley-error.js";
import { ForeignKeyViolationError } from "./foreign-key-violation.js";
import {
  isStoreErrorCode,
  StorageError,
  StorageOverloadedError,
  StorageUnwritableError,
} from "./storage-error.js";
import { UniqueViolationError } from "./unique-violation.js";

/** Why a statement was refused, in a form that can be sent between threads. Never contains values of rows. */
export type Fault =
  | { readonly kind: "unique"; readonly table: string; readonly columns: string }
  | { readonly kind: "foreignKey" }
  | { readonly kind: "other"; readonly code: string; readonly message: string };

/** Runs on the call thread: converts a fault to the error for the requester. */
export function errorOf(fault: Fault): Error {
  switch (fault.kind) {
    case "unique":
      return new UniqueViolationError(fault.table, fault.columns);
    case "foreignKey":
      return new ForeignKeyViolationError();
    case "other":
      return isStoreErrorCode(fault.code)
        ? new StorageUnwritableError(fault.code, fault.message)
        : new StorageError(fault.code, fault.message);
  }
}

/** The fault that `errorOf` converts back to the same error. */
export function toWireError(error: unknown): Fault {
  if (error instanceof UniqueViolationError) {
    return { kind: "unique", table: error.table, columns: error.columns };
  }
  if (error instanceof ForeignKeyViolationError) return { kind: "foreignKey" };
  // An error that is retryable here is retryable there too.
  if (error instanceof StorageOverloadedError) {
    return { kind: "other", code: "SQLITE_BUSY", message: error.message };
  }
  return { kind: "other", ...faultCodeOf(error) };
}

/** The code of SQLite or the operating system, `ERROR` if there is none. */
export function faultCodeOf(error: unknown): { readonly code: string; readonly message: string } {
  if (error instanceof StorageError) return { code: error.databaseCode, message: error.message };
  const isOurs = error instanceof ParleyError;
  const code = error instanceof Error && !isOurs && "code" in error ? error.code : undefined;
  return { code: typeof code === "string" ? code : "ERROR", message: messageOf(error) };
}

export function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : "a value that is not an Error was thrown";
}
