import assert from "node:assert/strict";
import { type TestContext, test } from "node:test";
import { newPool } from "../../../storage/postgres/postgres-pool.js";
import {
  newerSchema,
  POSTGRES_SCHEMA_VERSION,
  requireTables,
  updatePostgresSchema,
} from "../../../storage/postgres/postgres-schema.js";
import { StorageUnavailableError } from "../../../storage/statements/storage-error.js";
import { saidByServer } from "./scripted-pool.js";
import { type Row, ScriptedServer } from "./scripted-server.js";

const VERSION = POSTGRES_SCHEMA_VERSION;

/** A database whose schema the test determines; `refuse` is called before every response. */
async function databaseOf(context: TestContext) {
  const server = await ScriptedServer.start(context);
  const pool = newPool(server.url, 1);
  context.after(() => pool.end());
  const database = {
    state: undefined as Row | undefined,
    hasTables: true,
    migrated: [] as readonly string[],
    refuse: (_sql: string): void => undefined,
  };
  server.answer = ({ sql }) => {
    database.refuse(sql);
    if (sql.startsWith("select to_regclass")) return [{ found: database.hasTables }];
    if (sql.includes('from "schemaState"') && !database.hasTables) throw saidByServer("42P01");
    if (sql.includes('from "schemaState"')) return database.state ? [database.state] : [];
    if (!/^select .*from "kysely_migration"(?!_)/.test(sql)) return [];
    return database.migrated.map((name) => ({ name, timestamp: "2026-01-01T00:00:00.000Z" }));
  };
  const update = () => updatePostgresSchema(pool, server.address);
  return { server, pool, database, update };
}

test("an empty database gets every migration, and then a row with its version", async (t) => {
  for (const hasTables of [false, true]) {
    const { server, database, update } = await databaseOf(t);
    database.hasTables = hasTables;
    await update();
    const made = server.asked.filter((sql) =>
      /^create table "(?:plans|nodes|commitMarks)"/.test(sql),
    );
    assert.equal(new Set(made).size, 3);
    const { sql, values } = server.told.at(-1) ?? { sql: "", values: [] };
    assert.match(sql, /^insert into "schemaState" \("only", "version", "oldestBeside"\)/);
    assert.match(sql, /where "schemaState"."version" < excluded."version"$/);
    assert.deepEqual(values, [`${VERSION}`, "1"]);
  }
});

test("a database of this version, or of a compatible newer one, is not changed", async (t) => {
  const { server, pool, database, update } = await databaseOf(t);
  for (const state of [
    { version: VERSION, oldestBeside: 1 },
    { version: VERSION + 5, oldestBeside: VERSION },
  ]) {
    database.state = state;
    await update();
    assert.equal(await newerSchema(pool), undefined);
  }
  for (const sql of server.asked) assert.match(sql, /^select /);
  database.state = { version: VERSION - 1, oldestBeside: 1 };
  await update();
  assert.match(server.asked.at(-1) ?? "", /^insert into "schemaState"/);
});

test("a database of an incompatible newer version is refused", async (t) => {
  const { server, pool, database, update } = await databaseOf(t);
  database.state = { version: VERSION + 2, oldestBeside: VERSION + 1 };
  const message = `its schema is ${VERSION + 2}, which needs ${VERSION + 1} or later; this version has ${VERSION}`;
  assert.deepEqual(await newerSchema(pool), { kind: "other", code: "SCHEMA_NEWER", message });
  await assert.rejects(update(), (error) => {
    assert.ok(error instanceof StorageUnavailableError);
    assert.equal(
      error.message,
      `PostgreSQL at ${server.address} was made by a newer version of Parley: ${message}. Start that version again, or restore a backup from before the upgrade`,
    );
    return true;
  });
});

test("a failed migration is reported with the server's message, or Kysely's", async (t) => {
  const { server, database, update } = await databaseOf(t);
  database.refuse = (sql) => {
    if (sql.startsWith('create table "plans"')) throw saidByServer("42501");
  };
  await assert.rejects(update(), { name: "error", code: "42501" });
  database.refuse = () => undefined;
  database.migrated = ["900-from-the-future"];
  await assert.rejects(update(), (error) => {
    assert.ok(error instanceof StorageUnavailableError);
    const words = `PostgreSQL at ${server.address}: its schema could not be brought up to date: corrupted`;
    assert.ok(error.message.startsWith(words), error.message);
    return true;
  });
});

test("if a database must exist, one without tables is refused", async (t) => {
  const { server, pool, database } = await databaseOf(t);
  await requireTables(pool, server.address);
  database.hasTables = false;
  assert.equal(await newerSchema(pool), undefined, "an empty database does not count as newer");
  await assert.rejects(requireTables(pool, server.address), (error) => {
    assert.ok(error instanceof StorageUnavailableError);
    assert.match(error.message, /^PostgreSQL at 127\.0\.0\.1:\d+\/calls has no tables of Parley: /);
    return true;
  });
});
