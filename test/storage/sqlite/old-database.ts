import type BetterSqlite3 from "better-sqlite3";
import { Kysely, Migrator, SqliteDialect } from "kysely";
import { migrations } from "../../../storage/sqlite/migration-list.js";
import { Sqlite } from "../../../storage/sqlite/sqlite-library.js";

/** Kept by triggers, so that copying the rows that they count fills them. */
const COUNTED = new Set(["callTotals", "auditTotals"]);

/**
 * Makes a database as the release with only the first migrations left it. Its rows are those of today's database, as
 * far as that release had tables and columns for them.
 */
export async function makeOldDatabase(
  todaysPath: string,
  oldPath: string,
  migrationCount: number,
): Promise<void> {
  const file = new Sqlite(oldPath);
  const inOrder = Object.entries(migrations).sort(([one], [other]) => one.localeCompare(other));
  const first = Object.fromEntries(inOrder.slice(0, migrationCount));
  const db = new Kysely<unknown>({ dialect: new SqliteDialect({ database: file }) });
  const migrator = new Migrator({
    db,
    provider: { getMigrations: () => Promise.resolve(first) },
  });
  const { error } = await migrator.migrateToLatest();
  if (error !== undefined) throw error;
  file.pragma("foreign_keys = OFF");
  file.pragma(`user_version = ${migrationCount}`);
  file.prepare("attach database ? as today").run(todaysPath);
  for (const table of textsOf(file, TABLES)) {
    if (COUNTED.has(table) || table.startsWith("kysely_")) continue;
    const columns = textsOf(file, `select name from pragma_table_info('${table}')`).join(", ");
    file.exec(`insert into main.${table} (${columns}) select ${columns} from today.${table}`);
  }
  file.close();
}

const TABLES = "select name from main.sqlite_schema where type = 'table'";

function textsOf(file: BetterSqlite3.Database, query: string): readonly string[] {
  return file.prepare(query).pluck().all().map(String);
}
