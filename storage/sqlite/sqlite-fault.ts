import { type Fault, faultCodeOf } from "../statements/fault.js";
import { SqliteError } from "./sqlite-library.js";

const UNIQUE_MESSAGE = /^UNIQUE constraint failed: (.+)$/;

/** Runs on the storage thread: converts an error before it is sent. */
export function faultOf(error: unknown): Fault {
  if (!(error instanceof SqliteError)) return { kind: "other", ...faultCodeOf(error) };
  if (error.code === "SQLITE_CONSTRAINT_FOREIGNKEY") return { kind: "foreignKey" };
  const columns = UNIQUE_MESSAGE.exec(error.message)?.[1];
  if (columns !== undefined) return uniqueFault(columns);
  return { kind: "other", code: error.code, message: error.message };
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
