import assert from "node:assert/strict";
import { copyFileSync, mkdirSync, readFileSync } from "node:fs";
import { dirname } from "node:path";
import { test } from "node:test";
import { missingParts } from "../../../storage/sqlite/open-store-file.js";
import { Sqlite } from "../../../storage/sqlite/sqlite-library.js";
import { temporaryFile } from "../temporary-file.js";

test("the missing tables are named, of those that every release has", () => {
  const path = temporaryFile();
  mkdirSync(dirname(path));
  assert.equal(missingParts(path), "is not there");
  const file = new Sqlite(path);
  const told: (string | undefined)[] = [];
  for (const table of ["others", "organizations", "calls"]) {
    file.exec(`create table ${table} (id)`);
    told.push(missingParts(path));
  }
  file.close();
  assert.deepEqual(told, [
    "is empty: it has no table organizations, calls",
    "is empty: it has no table calls",
    undefined,
  ]);
});

test("looking for tables does not change the log of a killed server", () => {
  const path = temporaryFile();
  mkdirSync(dirname(path));
  const server = new Sqlite(path);
  server.pragma("journal_mode = WAL");
  server.exec("create table organizations (id); create table calls (id)");
  const killed = temporaryFile();
  mkdirSync(dirname(killed));
  for (const end of ["", "-wal"]) copyFileSync(`${path}${end}`, `${killed}${end}`);
  server.close();
  const log = readFileSync(`${killed}-wal`);
  assert.ok(log.length > 0);
  assert.equal(missingParts(killed), undefined);
  assert.deepEqual(readFileSync(`${killed}-wal`), log);
});
