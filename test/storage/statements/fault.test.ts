import assert from "node:assert/strict";
import { test } from "node:test";
import { errorOf, faultAgain } from "../../../storage/statements/fault.js";
import { ForeignKeyViolation } from "../../../storage/statements/foreign-key-violation.js";
import {
  isWorthRepeating,
  RequestFailed,
  StorageOverloaded,
  StorageUnwritable,
} from "../../../storage/statements/storage-failure.js";
import { UniqueViolation } from "../../../storage/statements/unique-violation.js";

test("a refusal that goes on to another thread or process is the same one there", () => {
  for (const error of [
    new UniqueViolation("shelves", "room,place"),
    new ForeignKeyViolation(),
    new RequestFailed("SQLITE_ERROR", "no such table: nowhere"),
    new StorageUnwritable("SQLITE_FULL", "database or disk is full"),
  ]) {
    assert.deepEqual(errorOf(faultAgain(error)), error);
  }
});

test("a store that takes no more is worth asking again there, too", () => {
  const error = errorOf(faultAgain(new StorageOverloaded(10)));
  assert.ok(isWorthRepeating(error), error.message);
  assert.match(error.message, /10 requests waiting/);
});

test("what is no refusal of the store keeps its words, and is not worth repeating", () => {
  const error = errorOf(faultAgain(new TypeError("a mistake")));
  assert.ok(error instanceof RequestFailed);
  assert.deepEqual([error.code, error.message], ["ERROR", "a mistake"]);
  assert.equal(isWorthRepeating(error), false);
});
