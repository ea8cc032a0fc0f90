import assert from "node:assert/strict";
import { rm } from "node:fs/promises";
import { dirname, join } from "node:path";
import { type TestContext, test } from "node:test";
import { openDatabase } from "../../../storage/database.js";
import { ServerClaim } from "../../../storage/sqlite/server-claim.js";
import { SCHEMA_VERSION } from "../../../storage/sqlite/sqlite-file.js";
import { Sqlite } from "../../../storage/sqlite/sqlite-library.js";
import { StorageUnavailableError } from "../../../storage/statements/storage-error.js";
import { insertOrganizations } from "../sample-records.js";
import { temporaryDatabase, temporaryFile } from "../temporary-file.js";
import { makeOldDatabase } from "./old-database.js";

const OLD_VERSION = SCHEMA_VERSION - 1;

/** A server of the previous version: it holds the database's lock, and writes in its own schema. */
async function earlierServer(context: TestContext) {
  const todaysPath = temporaryFile();
  await insertOrganizations(await temporaryDatabase(context, todaysPath));
  const filePath = join(dirname(todaysPath), "old.db");
  makeOldDatabase(todaysPath, filePath, OLD_VERSION);
  const file = new Sqlite(filePath);
  file.pragma("journal_mode = WAL");
  const claim = ServerClaim.take(filePath);
  let beatCount = 0;
  return {
    filePath,
    beat: () => {
      beatCount += 1;
      file.prepare("insert into runs (id, heartbeatAtMs) values (?, 1)").run(`beat ${beatCount}`);
      return beatCount;
    },
    version: () => file.pragma("user_version", { simple: true }),
    stop: () => {
      claim.close();
      file.close();
    },
  };
}

test("neither a server nor a command of this version migrates the database of a running server", async (t) => {
  const earlier = await earlierServer(t);
  const { filePath } = earlier;
  earlier.beat();
  await assert.rejects(
    openDatabase({ filePath }),
    (error) =>
      error instanceof StorageUnavailableError &&
      /is of an earlier version, and a server runs on it: restart the server/.test(error.message),
  );
  await assert.rejects(openDatabase({ filePath, isServer: true }), /another server runs on/);
  assert.equal(earlier.version(), OLD_VERSION);
  const beatCount = earlier.beat();
  earlier.stop();
  const upgraded = await openDatabase({ filePath, isServer: true });
  assert.equal((await upgraded.calls.otherRuns("")).size, beatCount, "nothing of it is lost");
  assert.equal((await upgraded.organizations.list()).length, 2);
  await upgraded.close();
});

test("a command that runs first migrates the database of a stopped server, and releases it", async (t) => {
  const earlier = await earlierServer(t);
  const { filePath } = earlier;
  earlier.stop();
  const command = await openDatabase({ filePath });
  assert.deepEqual(await command.phoneNumbers.list(), []);
  const server = await openDatabase({ filePath, isServer: true });
  await server.close();
  await command.close();
});

test("a database that must exist is not created: a file that is missing, empty, or without tables is refused", async () => {
  const filePath = temporaryFile();
  const isRefused = (words: RegExp) => (error: unknown) =>
    error instanceof StorageUnavailableError && words.test(error.message);
  const start = () => openDatabase({ filePath, isServer: true, mustExist: true });
  await assert.rejects(start(), isRefused(/parley\.db is not there; DATABASE_START says/));
  new Sqlite(filePath).close();
  await assert.rejects(start(), isRefused(/is not there|is empty: it has no table organizations/));
  const file = new Sqlite(filePath);
  file.exec("create table letters (text)");
  file.close();
  await assert.rejects(start(), isRefused(/is empty: it has no table organizations, calls/));
  await assert.rejects(
    openDatabase({ filePath, mustExist: true }),
    isRefused(/start the server once/),
  );
  await rm(filePath);
  await (await openDatabase({ filePath, isServer: true })).close();
  await (await start()).close();
});
