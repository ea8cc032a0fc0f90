import assert from "node:assert/strict";
import { readdir, readFile, stat, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { test } from "node:test";
import { backupInThread } from "../../../../storage/sqlite/backup/backup-start.js";
import type { DatabaseReport } from "../../../../storage/sqlite/database-check.js";
import { Sqlite } from "../../../../storage/sqlite/sqlite-library.js";
import { insertOrganizations, NOON_MS, planRecord } from "../../sample-records.js";
import { temporaryDatabase, temporaryFile } from "../../temporary-file.js";

function backup(sourcePath: string, targetPath: string): Promise<DatabaseReport> {
  return backupInThread({ sourcePath, targetPath });
}

test("a database that is being written to is copied in one snapshot", async (context) => {
  const filePath = temporaryFile();
  const database = await temporaryDatabase(context, filePath);
  await insertOrganizations(database);
  const messages = [{ role: "user", content: "word ".repeat(2000) }] as const;
  let written = 0;
  const write = async () => {
    await database.history.replace({ orgId: "org", key: `key ${written}` }, [], messages, NOON_MS);
    written += 1;
  };
  for (let count = 0; count < 200; count += 1) await write();
  const copyPath = join(dirname(filePath), "copy.db");
  const before = written;
  const copying = { isOver: false };
  const copied = backup(filePath, copyPath).finally(() => {
    copying.isOver = true;
  });
  while (!copying.isOver) await write();
  await copied;
  assert.ok(written > before, "requests were answered while it ran");

  const copy = new Sqlite(copyPath);
  context.after(() => copy.close());
  assert.equal(copy.pragma("integrity_check", { simple: true }), "ok");
  const kept = copy.prepare("select count(*) from sessionHistory").pluck().get();
  assert.ok(typeof kept === "number" && kept >= before && kept <= written, `${String(kept)} kept`);
});

test("the copy is a complete database, readable by its owner only, without leftovers next to it", async (context) => {
  const filePath = temporaryFile();
  const database = await temporaryDatabase(context, filePath);
  await database.plans.insertIfAbsent(planRecord());
  const copyPath = temporaryFile();
  await assert.rejects(
    backup(filePath, copyPath),
    { databaseCode: "ENOENT" },
    "the folder is not created",
  );
  const beside = join(dirname(filePath), "copy.db");
  await backup(filePath, beside);
  assert.equal((await stat(beside)).mode & 0o777, 0o600);
  const names = await readdir(dirname(filePath));
  assert.deepEqual(
    names.filter((name) => name.startsWith("copy")),
    ["copy.db"],
  );
  const { plans } = await temporaryDatabase(context, beside);
  assert.deepEqual(await plans.list(), [planRecord()]);
});

test("a file that exists is never overwritten", async (context) => {
  const filePath = temporaryFile();
  await temporaryDatabase(context, filePath);
  const letter = join(dirname(filePath), "letter.txt");
  await writeFile(letter, "dear reader");
  await assert.rejects(backup(filePath, letter), /already exists/);
  await assert.rejects(backup(filePath, filePath), /already exists/);
  assert.equal(await readFile(letter, "utf8"), "dear reader");
  const twice = await Promise.allSettled([
    backup(filePath, `${letter}.db`),
    backup(filePath, `${letter}.db`),
  ]);
  assert.equal(twice.filter(({ status }) => status === "fulfilled").length, 1);
});
