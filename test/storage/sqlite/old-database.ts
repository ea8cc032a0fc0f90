import type BetterSqlite3 from "better-sqlite3";
import { Sqlite } from "../../../storage/sqlite/sqlite-library.js";
import { notedMigrations, releasedMigrations } from "../schema/releases.js";

/** Maintained by triggers: copying the counted rows fills these tables. */
const COUNTED = new Set(["callTotals", "auditTotals"]);

/** Columns under their former names, with the current ones. */
const RENAMED = new Map([["publicOrigins", "allowedOrigins"]]);

/**
 * Creates a database as left by the release with only the first migrations. Its rows are those of today's database, as
 * far as that release had tables and columns for them.
 */
export function makeOldDatabase(todaysPath: string, oldPath: string, migrationCount: number): void {
  const file = new Sqlite(oldPath);
  const first = releasedMigrations("sqlite").slice(0, migrationCount);
  for (const { sql } of first) file.exec(sql);
  file.exec(notedMigrations(first));
  file.pragma("foreign_keys = OFF");
  file.pragma(`user_version = ${migrationCount}`);
  file.prepare("attach database ? as today").run(todaysPath);
  for (const table of textsOf(file, TABLES)) {
    if (COUNTED.has(table) || table.startsWith("kysely_")) continue;
    const columns = textsOf(file, `select name from pragma_table_info('${table}')`);
    const todays = columns.map((column) => RENAMED.get(column) ?? column);
    file.exec(
      `insert into main.${table} (${columns.join()}) select ${todays.join()} from today.${table}`,
    );
  }
  file.close();
}

const TABLES = "select name from main.sqlite_schema where type = 'table'";

function textsOf(file: BetterSqlite3.Database, query: string): readonly string[] {
  return file.prepare(query).pluck().all().map(String);
}
