import type Sqlite from "better-sqlite3";
import { Kysely, Migrator, SqliteDialect } from "kysely";
import { messageOf } from "./fault.js";
import { migrations } from "./migration-list.js";

/** All missing migrations are one transaction, taken at once, so that two processes may open a new file together. */
export async function updateSchema(file: Sqlite.Database, version: number): Promise<void> {
  file.exec("BEGIN IMMEDIATE");
  // Never destroyed: that would close the file, and there is nothing else to release.
  const db = new Kysely<unknown>({ dialect: new SqliteDialect({ database: file }) });
  const migrator = new Migrator({
    db,
    provider: { getMigrations: () => Promise.resolve({ ...migrations }) },
  });
  const { error } = await migrator.migrateToLatest();
  if (error !== undefined) {
    if (file.inTransaction) file.exec("ROLLBACK");
    throw new Error(`its schema could not be brought up to date: ${messageOf(error)}`);
  }
  file.pragma(`user_version = ${version}`);
  file.exec("COMMIT");
}
