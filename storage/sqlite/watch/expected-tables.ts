import { statSync } from "node:fs";
import { Sqlite } from "../sqlite-library.js";

/** Every release has these. */
const TABLES = ["organizations", "calls"];

/** What a file lacks that a database of Parley has, as the end of a sentence; undefined when it has everything. */
export function whatIsMissing(filePath: string): string | undefined {
  if (statSync(filePath, { throwIfNoEntry: false }) === undefined) return "is not there";
  const missing = missingTables(filePath);
  return missing.length === 0 ? undefined : `is empty: it has no table ${missing.join(", ")}`;
}

function missingTables(filePath: string): readonly string[] {
  const file = new Sqlite(filePath, { readonly: true });
  try {
    return missingIn((name) => file.prepare(HAS_TABLE).get(name) !== undefined);
  } finally {
    file.close();
  }
}

const HAS_TABLE = "select 1 from sqlite_schema where type = 'table' and name = ?";

/** The tables that every database of Parley has, and this one has not. */
export function missingIn(hasTable: (name: string) => boolean): readonly string[] {
  return TABLES.filter((name) => !hasTable(name));
}
