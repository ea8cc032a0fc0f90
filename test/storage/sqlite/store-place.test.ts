import assert from "node:assert/strict";
import { copyFile, rename, rm } from "node:fs/promises";
import { test } from "node:test";
import { openDatabase } from "../../../storage/database.js";
import { Sqlite } from "../../../storage/sqlite/sqlite-library.js";
import {
  StorageUnavailableError,
  StorageUnwritableError,
} from "../../../storage/statements/storage-error.js";
import { planRecord } from "../sample-records.js";
import { createDatabaseFile, temporaryDatabase, temporaryFile } from "../temporary-file.js";

async function opened(context: Parameters<typeof temporaryDatabase>[0]) {
  const filePath = temporaryFile();
  await createDatabaseFile(filePath);
  const database = await temporaryDatabase(context, filePath);
  await database.plans.insertIfAbsent(planRecord());
  assert.deepEqual(await database.checkHealth(), { fault: undefined, warning: undefined });
  return { database, filePath };
}

test("a database that was moved away accepts no writes and is reported as missing, until it is back", async (t) => {
  const { database, filePath } = await opened(t);
  await rename(filePath, `${filePath}.away`);
  const { fault } = await database.checkHealth();
  assert.equal(fault?.reason, "the database's file was deleted or moved away");
  assert.match(fault.advice, /parley\.db was deleted or moved away: put the same file back/);
  await assert.rejects(database.calls.heartbeat("run", 1), StorageUnwritableError);
  assert.deepEqual(await database.plans.list(), [planRecord()], "it can still be read");
  await rename(`${filePath}.away`, filePath);
  await database.calls.heartbeat("run", 1);
  assert.equal((await database.checkHealth()).fault, undefined);
});

test("another file in its place is noticed, even one with the same content", async (t) => {
  const { database, filePath } = await opened(t);
  await copyFile(filePath, `${filePath}.copy`);
  await rename(`${filePath}.copy`, filePath);
  const { fault } = await database.checkHealth();
  assert.equal(fault?.reason, "the database's file was replaced by another");
  await assert.rejects(database.calls.heartbeat("run", 1), { databaseCode: "FILE_REPLACED" });
});

test("a removed write-ahead log is noticed, because data written to it would be lost", async (t) => {
  const { database, filePath } = await opened(t);
  await rm(`${filePath}-wal`);
  assert.match((await database.checkHealth()).fault?.advice ?? "", /parley\.db-wal was deleted/);
  await assert.rejects(database.calls.heartbeat("run", 1), StorageUnwritableError);
});

test("a schema that a newer version has migrated under a running server is noticed", async (t) => {
  const { database, filePath } = await opened(t);
  const newer = new Sqlite(filePath);
  newer.pragma("user_version = 99");
  newer.close();
  const { fault } = await database.checkHealth();
  assert.equal(fault?.reason, "the database was migrated by a newer version");
  assert.match(fault.advice, /schema was migrated to 99 by a newer version; this one has \d+/);
  assert.ok(fault.advice.startsWith(`${filePath}: `), fault.advice);
  await database.calls.heartbeat("run", 1);
});

test("a server whose lock file was removed takes the lock again at its next health check", async () => {
  const filePath = temporaryFile();
  const first = await openDatabase({ filePath, isServer: true });
  assert.equal(first.isSoleServer, false, "there was no lock before");
  await rm(`${filePath}.lock`);
  assert.equal((await first.checkHealth()).warning, undefined);
  await assert.rejects(openDatabase({ filePath, isServer: true }), StorageUnavailableError);
  await first.close();
  const next = await openDatabase({ filePath, isServer: true });
  assert.equal(next.isSoleServer, true);
  await next.close();
});

test("a server whose lost lock another server has taken reports that", async () => {
  const filePath = temporaryFile();
  const first = await openDatabase({ filePath, isServer: true });
  await rm(`${filePath}.lock`);
  const second = await openDatabase({ filePath, isServer: true });
  assert.equal(second.isSoleServer, false);
  assert.match((await first.checkHealth()).warning ?? "", /another server runs on/);
  await second.close();
  assert.equal((await first.checkHealth()).warning, undefined, "it has the lock again");
  await first.close();
});
