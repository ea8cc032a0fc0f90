import assert from "node:assert/strict";
import { mkdirSync, statfsSync, writeFileSync } from "node:fs";
import { dirname } from "node:path";
import { test } from "node:test";
import { storageAdvice } from "../../../storage/sqlite/storage-advice.js";
import { temporaryFile } from "../temporary-file.js";

/** start-failures.test.ts tests starts on files that are really damaged. */
test("a full disk is reported with the free space", () => {
  const filePath = temporaryFile();
  mkdirSync(dirname(filePath));
  const full = /^the disk of .*parley\.db is full \(\d+ MiB left\): make room, then start again$/;
  assert.match(storageAdvice(filePath, { code: "SQLITE_FULL", message: "full" }), full);
  assert.match(storageAdvice(filePath, { code: "ENOSPC", message: "no space" }), full);
});

test("the free space is the file system's, in MiB", () => {
  const filePath = temporaryFile();
  mkdirSync(dirname(filePath));
  const { bavail, bsize } = statfsSync(dirname(filePath));
  const advice = storageAdvice(filePath, { code: "ENOSPC", message: "no space" });
  const toldMib = Number(/\((\d+) MiB left\)/.exec(advice)?.[1]);
  const leftMib = (bavail * bsize) / 2 ** 20;
  // Other programs write meanwhile.
  assert.ok(Math.abs(toldMib - leftMib) < leftMib / 2, `${toldMib} of ${leftMib}`);
});

test("a missing folder that could not be created is reported", () => {
  const filePath = temporaryFile();
  assert.equal(
    storageAdvice(filePath, { code: "ENOENT", message: "" }),
    `the folder ${dirname(filePath)} is not there and cannot be made: make it, or set DATA_DIR`,
  );
});

test("a fault without a better explanation keeps its original message", () => {
  const filePath = temporaryFile();
  mkdirSync(dirname(filePath));
  writeFileSync(filePath, "");
  assert.equal(
    storageAdvice(filePath, { code: "SQLITE_IOERR_READ", message: "disk I/O error" }),
    `${filePath} cannot be used: disk I/O error (SQLITE_IOERR_READ)`,
  );
});

test("SQLite's error about the database itself is reported with advice on recovery", () => {
  const filePath = temporaryFile();
  mkdirSync(dirname(filePath));
  const advised = (code: string) => storageAdvice(filePath, { code, message: "as SQLite says" });
  const restore = "move it away with its -wal and -shm files, and put a backup in its place";
  assert.equal(
    advised("SQLITE_NOTADB"),
    `the database ${filePath} is not a SQLite database, or was overwritten: ${restore}`,
  );
  for (const code of ["SQLITE_CORRUPT", "SQLITE_CORRUPT_INDEX"]) {
    assert.equal(
      advised(code),
      `the database ${filePath} is damaged or was cut off (as SQLite says): ${restore}, or save what can be read with SQLite's .recover`,
    );
  }
  for (const code of ["SQLITE_BUSY", "SQLITE_BUSY_SNAPSHOT", "SQLITE_LOCKED_SHAREDCACHE"]) {
    assert.equal(
      advised(code),
      `the database ${filePath} is locked: another program has been writing to it for seconds; end that one, then start again`,
    );
  }
});

test("an object in the place of the file or of its folder is reported before the fault", () => {
  const filePath = temporaryFile();
  const folder = dirname(filePath);
  const fault = { code: "SQLITE_CANTOPEN", message: "unable to open" };
  writeFileSync(folder, "a letter");
  assert.equal(
    storageAdvice(filePath, fault),
    `${folder} is a file, and should be a folder: move it away, or set DATA_DIR`,
  );
  for (const ending of ["", "-wal", "-shm", ".lock"]) {
    const path = temporaryFile();
    mkdirSync(`${path}${ending}`, { recursive: true });
    assert.equal(
      storageAdvice(path, fault),
      `${path}${ending} is a folder, and should be a file: move it away`,
    );
  }
});
