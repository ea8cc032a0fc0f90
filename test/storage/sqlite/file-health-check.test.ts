import assert from "node:assert/strict";
import { mkdirSync, rmSync, writeFileSync } from "node:fs";
import { dirname } from "node:path";
import { type TestContext, test } from "node:test";
import { FileHealthCheck } from "../../../storage/sqlite/file-health-check.js";
import { ServerClaim } from "../../../storage/sqlite/server-claim.js";
import { openSqliteFile, SCHEMA_VERSION } from "../../../storage/sqlite/sqlite-file.js";
import { Sqlite } from "../../../storage/sqlite/sqlite-library.js";
import { temporaryFile } from "../temporary-file.js";
import { openFilesIn } from "./open-files.js";

const GARBAGE = "this is a letter, not a database".repeat(100);
const WELL = { fault: undefined, warning: undefined };

async function lookedAt(context: TestContext) {
  const filePath = temporaryFile();
  const claim = ServerClaim.take(filePath);
  context.after(() => claim.close());
  const file = await openSqliteFile(filePath, () => assert.fail("a new file needs no claim"));
  context.after(() => file.close());
  const look = new FileHealthCheck({ file, filePath, schemaVersion: SCHEMA_VERSION, claim });
  assert.deepEqual(look.report(), WELL);
  return { filePath, file, look };
}

test("a lock that another server has taken, or that is invalid, is a warning, and not a fault", async (context) => {
  const { filePath, look } = await lookedAt(context);
  const lockPath = `${filePath}.lock`;
  rmSync(lockPath);
  const other = ServerClaim.take(filePath);
  assert.match(look.report().warning ?? "", /^another server runs on/);
  assert.equal(look.report().fault, undefined);
  other.close();
  assert.deepEqual(look.report(), WELL);
  rmSync(lockPath);
  writeFileSync(lockPath, GARBAGE);
  assert.equal(look.report().warning, "file is not a database");
  rmSync(lockPath);
  assert.deepEqual(look.report(), WELL, "the lock is taken again");
});

test("a newer schema is a fault; the same or an older one is not", async (context) => {
  const { file, look } = await lookedAt(context);
  for (const version of [SCHEMA_VERSION - 1, SCHEMA_VERSION]) {
    file.pragma(`user_version = ${version}`);
    assert.deepEqual(look.report(), WELL);
  }
  file.pragma(`user_version = ${SCHEMA_VERSION + 1}`);
  const { fault } = look.report();
  assert.equal(fault?.kind === "other" && fault.code, "SCHEMA_NEWER");
});

test("SQLite's errors about the file are faults, and errors of the program are thrown", () => {
  const filePath = temporaryFile();
  mkdirSync(dirname(filePath));
  writeFileSync(filePath, GARBAGE);
  const file = new Sqlite(filePath);
  const look = new FileHealthCheck({ file, filePath, schemaVersion: 1, claim: undefined });
  assert.deepEqual(look.report(), {
    fault: { kind: "other", code: "SQLITE_NOTADB", message: "file is not a database" },
    warning: undefined,
  });
  file.close();
  assert.throws(() => look.report(), TypeError);
  assert.throws(() => ServerClaim.take(`${filePath}/below`), { code: "EEXIST" });
  writeFileSync(`${filePath}.lock`, GARBAGE);
  assert.throws(() => ServerClaim.take(filePath), { code: "SQLITE_NOTADB" });
  assert.deepEqual(openFilesIn(dirname(filePath)), []);
});
