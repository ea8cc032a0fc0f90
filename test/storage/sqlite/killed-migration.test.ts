import assert from "node:assert/strict";
import { copyFile, rm } from "node:fs/promises";
import { dirname, join } from "node:path";
import { test } from "node:test";
import { checkDatabase } from "../../../storage/sqlite/database-check.js";
import { openSqliteFile, SCHEMA_VERSION } from "../../../storage/sqlite/sqlite-file.js";
import { Sqlite } from "../../../storage/sqlite/sqlite-library.js";
import { callRecord, insertOrganizations } from "../sample-records.js";
import { temporaryDatabase, temporaryFile } from "../temporary-file.js";
import { makeOldDatabase } from "./old-database.js";
import { killAtEachStep } from "./rigs/killed-process.js";

const SQLITE_FILE = import.meta.resolve("../../../storage/sqlite/sqlite-file.js");
/** Two migrations are missing: each has several steps, and so does the record of them. */
const OLD_VERSION = SCHEMA_VERSION - 2;

test("an upgrade that is killed has changed nothing or everything, and the next start continues", async (t) => {
  const todaysPath = temporaryFile();
  const today = await temporaryDatabase(t, todaysPath);
  await insertOrganizations(today);
  await today.calls.start(callRecord(), "run");
  const folder = dirname(todaysPath);
  const oldPath = join(folder, "old.db");
  makeOldDatabase(todaysPath, oldPath, OLD_VERSION);
  const filePath = join(folder, "upgraded.db");

  const versionOf = (path: string) => {
    const file = new Sqlite(path);
    const version = file.pragma("user_version", { simple: true });
    file.close();
    return version;
  };
  const seen = new Set<unknown>();
  const stepCount = await killAtEachStep({
    steps: ["exec", "prepare"],
    stride: 5,
    moduleUrl: SQLITE_FILE,
    program: `(await loaded.openSqliteFile(${JSON.stringify(filePath)})).close();`,
    beforeEach: async () => {
      for (const end of ["", "-wal", "-shm"]) await rm(`${filePath}${end}`, { force: true });
      await copyFile(oldPath, filePath);
    },
    onKilled: async (step) => {
      const version = versionOf(filePath);
      seen.add(version);
      assert.ok(
        version === OLD_VERSION || version === SCHEMA_VERSION,
        `step ${step}: ${String(version)}`,
      );
      const { calls, organizations, phoneNumbers } = await openedOnce(filePath);
      assert.deepEqual([calls, organizations, phoneNumbers], [1, 2, 0], `step ${step}`);
      assert.equal(versionOf(filePath), SCHEMA_VERSION);
      assert.deepEqual(checkDatabase(filePath).findings, [], `step ${step}`);
    },
  });
  assert.ok(stepCount > 8, `${stepCount} steps`);
  assert.ok(seen.has(OLD_VERSION), "it was killed before the upgrade took effect");
});

/** The rows that the next start finds. */
async function openedOnce(filePath: string) {
  (await openSqliteFile(filePath)).close();
  const { counts } = checkDatabase(filePath);
  const rowsOf = (name: string) => counts.find(({ table }) => table === name)?.rows;
  return {
    calls: rowsOf("calls"),
    organizations: rowsOf("organizations"),
    phoneNumbers: rowsOf("phoneNumbers"),
  };
}
