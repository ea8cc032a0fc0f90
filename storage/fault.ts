import { ForeignKeyViolation } from "./foreign-key-violation.js";
import { SqliteError } from "./sqlite-library.js";
import { RequestFailed } from "./storage-failure.js";
import type { Fault } from "./thread-protocol.js";
import { UniqueViolation } from "./unique-violation.js";

const UNIQUE_MESSAGE = /^UNIQUE constraint failed: (.+)$/;

/** On the storage thread: what an error becomes before it is sent. */
export function faultOf(error: unknown): Fault {
  if (!(error instanceof SqliteError)) return otherFault(error);
  if (error.code === "SQLITE_CONSTRAINT_FOREIGNKEY") return { kind: "foreignKey" };
  const columns = UNIQUE_MESSAGE.exec(error.message)?.[1];
  if (columns !== undefined) return uniqueFault(columns);
  return { kind: "other", code: error.code, message: error.message };
}

/** On the session thread: what the requester is given. */
export function errorOf(fault: Fault): Error {
  switch (fault.kind) {
    case "unique":
      return new UniqueViolation(fault.table, fault.columns);
    case "foreignKey":
      return new ForeignKeyViolation();
    case "other":
      return new RequestFailed(fault.code, fault.message);
  }
}

/** SQLite lists the columns of a broken rule as `table.column, table.column`. */
function uniqueFault(listed: string): Fault {
  const names = listed.split(", ").map((name) => name.split("."));
  return {
    kind: "unique",
    table: names[0]?.[0] ?? "",
    columns: names.map((parts) => parts[1] ?? "").join(","),
  };
}

function otherFault(error: unknown): Fault {
  return { kind: "other", ...faultCodeOf(error) };
}

/** The name that SQLite or the operating system has for it, `ERROR` where there is none. */
export function faultCodeOf(error: unknown): { readonly code: string; readonly message: string } {
  const code = error instanceof Error && "code" in error ? error.code : undefined;
  return { code: typeof code === "string" ? code : "ERROR", message: messageOf(error) };
}

export function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : "something was thrown that is no error";
}
