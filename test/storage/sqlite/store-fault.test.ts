import assert from "node:assert/strict";
import { test } from "node:test";
import { storeFault } from "../../../storage/sqlite/sqlite-store.js";
import { temporaryFile } from "../temporary-file.js";

const filePath = temporaryFile();
const told = (code: string) => storeFault({ kind: "other", code, message: "it said so" }, filePath);

test("the reason why nothing can be written is reported as text, from the storage thread's report", () => {
  const reasons = [
    "SQLITE_FULL",
    "SQLITE_BUSY_SNAPSHOT",
    "SQLITE_LOCKED",
    "FILE_GONE",
    "FILE_REPLACED",
    "SCHEMA_NEWER",
    "SQLITE_IOERR_WRITE",
  ].map((code) => told(code)?.reason);
  assert.deepEqual(reasons, [
    "the disk of the database is full",
    "another program keeps the database locked",
    "another program keeps the database locked",
    "the database's file was deleted or moved away",
    "the database's file was replaced by another",
    "the database was migrated by a newer version",
    "the database cannot be written (SQLITE_IOERR_WRITE)",
  ]);
});

test("the advice depends on the fault, and other errors are no fault of the database", () => {
  for (const code of ["FILE_GONE", "FILE_REPLACED"]) {
    assert.match(told(code)?.advice ?? "", /^it said so: put the same file back/);
  }
  const newer = `${filePath}: it said so; restart the server with that version`;
  assert.equal(told("SCHEMA_NEWER")?.advice, newer);
  assert.match(told("SQLITE_BUSY")?.advice ?? "", /is locked: another program has been writing/);
  assert.equal(storeFault({ kind: "foreignKey" }, filePath), undefined);
  assert.equal(storeFault(undefined, filePath), undefined);
});
