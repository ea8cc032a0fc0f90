import type { Database as SqliteDatabase } from "better-sqlite3";
import { Kysely, Migrator, SqliteDialect } from "kysely";
import * as v from "valibot";
import { migrationNames } from "../schema/migrations.js";
import { migrationsOf } from "../schema/schema.js";
import { messageOf } from "../statements/fault.js";
import { StorageUnavailableError } from "../statements/storage-error.js";
import { SqliteError } from "./sqlite-library.js";

/**
 * All missing migrations are one transaction, which takes the lock first, so that two processes may open a new
 * file together. Rejects with `StorageUnavailableError`, and leaves the file unchanged, if a newer release created
 * it.
 */
export async function updateSchema(file: SqliteDatabase, version: number): Promise<void> {
  file.exec("BEGIN IMMEDIATE");
  refuseNewer(file, version);
  // Never destroyed: that would close the file, and there is nothing else to release.
  const db = new Kysely<unknown>({ dialect: new SqliteDialect({ database: file }) });
  const migrator = new Migrator({
    db,
    provider: { getMigrations: () => Promise.resolve(migrationsOf("sqlite")) },
  });
  const { error } = await migrator.migrateToLatest();
  if (error !== undefined) {
    if (file.inTransaction) file.exec("ROLLBACK");
    if (error instanceof SqliteError) throw error;
    throw new Error(`its schema could not be brought up to date: ${messageOf(error)}`);
  }
  file.pragma(`user_version = ${version}`);
  file.exec("COMMIT");
}

/** Whether a server of the release that created it may be running on it. */
export function isOlderRelease(file: SqliteDatabase, version: number): boolean {
  const found = Number(file.pragma("user_version", { simple: true }));
  return found < version && appliedMigrations(file).length > 0;
}

const Names = v.array(v.string());

/** The transaction ends with the connection, which `openSqliteFile` closes. */
function refuseNewer(file: SqliteDatabase, version: number): void {
  const found = Number(file.pragma("user_version", { simple: true }));
  const unknown = appliedMigrations(file).filter(
    (name) => !migrationNames("sqlite").includes(name),
  );
  if (found <= version && unknown.length === 0) return;
  const more = unknown.length === 0 ? "" : `, and does not know ${unknown.join(", ")}`;
  throw new StorageUnavailableError(
    `the database ${file.name} was made by a newer version of Parley: its schema is ${found}, this version has ${version}${more}. Start that version again, or restore a backup from before the upgrade`,
  );
}

function appliedMigrations(file: SqliteDatabase): readonly string[] {
  const sql = "select name from sqlite_schema where name = 'kysely_migration'";
  if (file.prepare(sql).get() === undefined) return [];
  return v.parse(Names, file.prepare("select name from kysely_migration").pluck().all());
}
