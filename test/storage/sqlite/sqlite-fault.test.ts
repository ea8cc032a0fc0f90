import assert from "node:assert/strict";
import { test } from "node:test";
import { faultOf } from "../../../storage/sqlite/sqlite-fault.js";
import { Sqlite, SqliteError } from "../../../storage/sqlite/sqlite-library.js";
import { errorOf } from "../../../storage/statements/fault.js";
import { ForeignKeyViolationError } from "../../../storage/statements/foreign-key-violation.js";
import { StorageError } from "../../../storage/statements/storage-error.js";
import { UniqueViolationError } from "../../../storage/statements/unique-violation.js";

/** Returns the error that SQLite throws for the statement, in a database with two tables. */
function thrownFor(sql: string): unknown {
  const file = new Sqlite(":memory:");
  try {
    file.pragma("foreign_keys = ON");
    file.exec(`create table shelves (id text primary key, room text, place integer, unique (room, place));
      create table books (shelf text references shelves (id));
      insert into shelves values ('a', 'hall', 1)`);
    file.exec(sql);
    return undefined;
  } catch (error) {
    return error;
  } finally {
    file.close();
  }
}

test("an existing value is reported with its table and columns", () => {
  const one = faultOf(thrownFor("insert into shelves values ('a', 'attic', 1)"));
  assert.deepEqual(one, { kind: "unique", table: "shelves", columns: "id" });
  const two = faultOf(thrownFor("insert into shelves values ('b', 'hall', 1)"));
  assert.deepEqual(two, { kind: "unique", table: "shelves", columns: "room,place" });
  const error = errorOf(two);
  assert.ok(error instanceof UniqueViolationError);
  assert.deepEqual([error.table, error.columns], ["shelves", "room,place"]);
});

test("a row with a missing reference is distinguished from every other fault", () => {
  const fault = faultOf(thrownFor("insert into books values ('none')"));
  assert.deepEqual(fault, { kind: "foreignKey" });
  assert.ok(errorOf(fault) instanceof ForeignKeyViolationError);
});

test("another fault keeps its code and its message", () => {
  const fault = faultOf(thrownFor("insert into nowhere values (1)"));
  assert.deepEqual(fault, {
    kind: "other",
    code: "SQLITE_ERROR",
    message: "no such table: nowhere",
  });
  const error = errorOf(fault);
  assert.ok(error instanceof StorageError);
  assert.match(error.message, /no such table: nowhere/);
  const full = new SqliteError("database or disk is full", "SQLITE_FULL");
  assert.deepEqual(faultOf(full), {
    kind: "other",
    code: "SQLITE_FULL",
    message: "database or disk is full",
  });
});

test("an error that is not SQLite's has the system's code, or none", () => {
  const system = Object.assign(new Error("no space"), { code: "ENOSPC" });
  assert.deepEqual(faultOf(system), { kind: "other", code: "ENOSPC", message: "no space" });
  const numbered = Object.assign(new Error("odd"), { code: 5 });
  assert.deepEqual(faultOf(numbered), { kind: "other", code: "ERROR", message: "odd" });
  const message = "a value that is not an Error was thrown";
  assert.deepEqual(faultOf("a text"), { kind: "other", code: "ERROR", message });
});
