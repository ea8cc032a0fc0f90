import type { Fault } from "../../statements/fault.js";
import type { StoreFault } from "../../statements/store-condition.js";
import { storageAdvice } from "../storage-advice.js";

const REASONS: readonly (readonly [RegExp, string])[] = [
  [/^SQLITE_FULL/, "the disk of the database is full"],
  [/^SQLITE_(?:BUSY|LOCKED)/, "another program keeps the database locked"],
  [/^FILE_GONE/, "the database's file was deleted or moved away"],
  [/^FILE_REPLACED/, "the database's file was replaced by another"],
  [/^SCHEMA_NEWER/, "the database was brought up to date by a newer version"],
];

const RESTART =
  "put the same file back (nothing is lost then), or restart the server on what is there now";

/** In words, from what the storage thread says. */
export function storeFault(fault: Fault | undefined, filePath: string): StoreFault | undefined {
  if (fault?.kind !== "other") return undefined;
  const { code, message } = fault;
  const known = REASONS.find(([pattern]) => pattern.test(code))?.[1];
  const reason = known ?? `the database cannot be written (${code})`;
  if (code.startsWith("FILE_")) return { reason, advice: `${message}: ${RESTART}` };
  if (code === "SCHEMA_NEWER") {
    return { reason, advice: `${filePath}: ${message}; restart the server with that version` };
  }
  return { reason, advice: storageAdvice(filePath, { code, message }) };
}
