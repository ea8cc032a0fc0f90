import assert from "node:assert/strict";
import { mkdirSync } from "node:fs";
import { dirname } from "node:path";
import { test } from "node:test";
import { Sqlite } from "../../../../storage/sqlite/sqlite-library.js";
import { whatIsMissing } from "../../../../storage/sqlite/watch/expected-tables.js";
import { temporaryFile } from "../../temporary-file.js";

test("a database says which of the tables are missing that every release has", () => {
  const path = temporaryFile();
  mkdirSync(dirname(path));
  assert.equal(whatIsMissing(path), "is not there");
  const file = new Sqlite(path);
  const told: (string | undefined)[] = [];
  for (const table of ["others", "organizations", "calls"]) {
    file.exec(`create table ${table} (id)`);
    told.push(whatIsMissing(path));
  }
  file.close();
  assert.deepEqual(told, [
    "is empty: it has no table organizations, calls",
    "is empty: it has no table calls",
    undefined,
  ]);
});
