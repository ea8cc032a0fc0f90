import assert from "node:assert/strict";
import { stat, writeFile } from "node:fs/promises";
import { test } from "node:test";
import { openDatabase } from "../../../storage/database.js";
import { openSqliteFile, SCHEMA_VERSION } from "../../../storage/sqlite/sqlite-file.js";
import { Sqlite } from "../../../storage/sqlite/sqlite-library.js";
import { planRecord } from "../sample-records.js";
import { temporaryDatabase, temporaryFile } from "../temporary-file.js";

test("a file that does not exist is created with the whole schema, for its owner only", async (context) => {
  const filePath = temporaryFile();
  const file = await openSqliteFile(filePath);
  context.after(() => file.close());
  const tables = file.prepare("select name from sqlite_schema where type = 'table'").pluck().all();
  for (const table of ["plans", "organizations", "agents", "calls", "dailyUsage"]) {
    assert.ok(tables.includes(table), table);
  }
  assert.equal((await stat(filePath)).mode & 0o777, 0o600);
  assert.equal((await stat(`${filePath}-wal`)).mode & 0o777, 0o600);
});

test("the file is opened with a write-ahead log, foreign keys, and limits for waiting and for the log", async (context) => {
  const file = await openSqliteFile(temporaryFile());
  context.after(() => file.close());
  const settings = {
    journal_mode: "wal",
    synchronous: 1,
    foreign_keys: 1,
    busy_timeout: 5000,
    wal_autocheckpoint: 4096,
    journal_size_limit: 67_108_864,
    // In KiB if it is negative.
    cache_size: -16_384,
    temp_store: 2,
    mmap_size: 0,
  };
  for (const [name, value] of Object.entries(settings)) {
    assert.equal(file.pragma(name, { simple: true }), value, name);
  }
});

test("opening again changes nothing and loses nothing", async (context) => {
  const filePath = temporaryFile();
  const first = await openDatabase({ filePath });
  await first.plans.insertIfAbsent(planRecord());
  await first.close();
  const schemaOf = () => {
    const file = new Sqlite(filePath, { readonly: true });
    const schema = file.prepare("select sql from sqlite_schema order by name").all();
    file.close();
    return schema;
  };
  const before = schemaOf();
  const { plans } = await temporaryDatabase(context, filePath);
  assert.deepEqual(await plans.list(), [planRecord()]);
  assert.deepEqual(schemaOf(), before);
});

test("the version in the file's header is the number of migrations", async (context) => {
  const file = await openSqliteFile(temporaryFile());
  context.after(() => file.close());
  assert.equal(file.pragma("user_version", { simple: true }), SCHEMA_VERSION);
  const noted = file.prepare("select count(*) from kysely_migration").pluck().get();
  assert.equal(noted, SCHEMA_VERSION);
});

test("a file of a release that did not number its schema is migrated", async (context) => {
  const filePath = temporaryFile();
  await (await openDatabase({ filePath })).close();
  const file = new Sqlite(filePath);
  file.pragma("user_version = 0");
  file.exec("alter table agents drop column sttModelId");
  file.exec("alter table agents drop column fallbacks");
  file.exec("drop table dialTargets");
  file.exec("alter table agents drop column allowedOrigins");
  file.exec("alter table users drop column isOperator");
  file.exec("drop table phoneNumbers");
  file.exec("alter table runs drop column uptimeMs");
  file.exec("alter table calls drop column beganUptimeMs");
  file.exec("drop table encryptionKeyCheck");
  file.exec("drop index callsFromNumber");
  file.exec("drop index callsToNumber");
  for (const column of ["direction", "fromNumber", "toNumber"]) {
    file.exec(`alter table calls drop column ${column}`);
  }
  file.exec("alter table sessionHistory drop column summary");
  file.exec("delete from kysely_migration where name >= '005-'");
  file.close();
  const { dialTargets } = await temporaryDatabase(context, filePath);
  assert.deepEqual(await dialTargets.list(), []);
});

test("two threads may open the same new file at once", async (context) => {
  const filePath = temporaryFile();
  const [file, { plans }] = await Promise.all([
    openSqliteFile(filePath),
    temporaryDatabase(context, filePath),
  ]);
  context.after(() => file.close());
  await plans.insertIfAbsent(planRecord());
  assert.equal(file.prepare("select count(*) from plans").pluck().get(), 1);
});

test("a file of a newer release is refused and not changed", async () => {
  const filePath = temporaryFile();
  await (await openDatabase({ filePath })).close();
  const file = new Sqlite(filePath);
  file.exec("insert into kysely_migration (name, timestamp) values ('999-from-the-future', '')");
  file.pragma(`user_version = ${SCHEMA_VERSION + 1}`);
  file.close();
  await assert.rejects(
    openDatabase({ filePath }),
    /^StorageUnavailableError: the database .*parley\.db was made by a newer version of Parley: its schema is \d+, this version has \d+, and does not know 999-from-the-future\. Start that version again, or restore a backup/,
  );
});

test("a file that is not a database is refused", async () => {
  const filePath = temporaryFile();
  const file = await openSqliteFile(filePath);
  file.close();
  await writeFile(filePath, "this is a letter, not a database".repeat(100));
  await assert.rejects(
    openDatabase({ filePath }),
    /parley\.db is not a SQLite database, or was overwritten: move it away with its -wal and -shm files, and put a backup/,
  );
});
