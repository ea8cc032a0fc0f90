import assert from "node:assert/strict";
import { test } from "node:test";
import { updateSchema } from "../../../storage/sqlite/schema-update.js";
import { SCHEMA_VERSION } from "../../../storage/sqlite/sqlite-file.js";
import { Sqlite } from "../../../storage/sqlite/sqlite-library.js";

/** Updates the schema of a file that no release has created, and returns the error and the file's state. */
async function tried(statements: string) {
  const file = new Sqlite(":memory:");
  file.exec(statements);
  const objectsOf = () => file.prepare("select name from sqlite_schema").pluck().all();
  const before = objectsOf();
  const error: unknown = await updateSchema(file, SCHEMA_VERSION).catch((cause) => cause);
  const version = file.pragma("user_version", { simple: true });
  const after = { version, isLeft: !file.inTransaction && before.join() === objectsOf().join() };
  file.close();
  return { error, after };
}

test("a file with a conflicting table is refused with SQLite's message, and not changed", async () => {
  const { error, after } = await tried("create table organizations (theirs)");
  assert.match(String(error), /SqliteError: table .?organizations.? already exists/);
  assert.deepEqual(after, { version: 0, isLeft: true });
});

test("a file with migrations in another order is refused with a message, and not changed", async () => {
  const { error, after } = await tried(`
    create table kysely_migration (name varchar(255) not null primary key, timestamp varchar(255) not null);
    insert into kysely_migration values ('002-audit-trail', '2026-01-01T00:00:00.000Z')`);
  assert.match(String(error), /^Error: its schema could not be brought up to date: corrupted/);
  assert.deepEqual(after, { version: 0, isLeft: true });
});
