import assert from "node:assert/strict";
import { test } from "node:test";
import { errorOf, faultCodeOf, toWireError } from "../../../storage/statements/fault.js";
import { ForeignKeyViolationError } from "../../../storage/statements/foreign-key-violation.js";
import {
  isRetryable,
  StorageError,
  StorageOverloadedError,
  StorageUnwritableError,
} from "../../../storage/statements/storage-error.js";
import { UniqueViolationError } from "../../../storage/statements/unique-violation.js";

test("a refusal that is sent to another thread or process is the same error there", () => {
  for (const error of [
    new UniqueViolationError("shelves", "room,place"),
    new ForeignKeyViolationError(),
    new StorageError("SQLITE_ERROR", "no such table: nowhere"),
    new StorageUnwritableError("SQLITE_FULL", "database or disk is full"),
  ]) {
    assert.deepEqual(errorOf(toWireError(error)), error);
  }
});

test("an overloaded database is retryable there, too", () => {
  const error = errorOf(toWireError(new StorageOverloadedError(10)));
  assert.ok(isRetryable(error), error.message);
  assert.match(error.message, /10 requests waiting/);
});

test("another error keeps its message, and is not retryable", () => {
  const error = errorOf(toWireError(new TypeError("a mistake")));
  assert.ok(error instanceof StorageError);
  assert.deepEqual([error.code, error.message], ["storage_failed", "a mistake"]);
  assert.equal(isRetryable(error), false);
});

test("a fault has the system's code, or ERROR without one", () => {
  const full = Object.assign(new Error("no room"), { code: "ENOSPC" });
  const numbered = Object.assign(new Error("no name"), { code: 28 });
  const noError = "a value that is not an Error was thrown";
  for (const [thrown, code, message] of [
    [full, "ENOSPC", "no room"],
    [numbered, "ERROR", "no name"],
    [new Error("plain"), "ERROR", "plain"],
    [{ code: "ENOSPC" }, "ERROR", noError],
    [undefined, "ERROR", noError],
  ]) {
    assert.deepEqual(faultCodeOf(thrown), { code, message });
  }
});
