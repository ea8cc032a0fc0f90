import assert from "node:assert/strict";
import { test } from "node:test";
import { faultOfStatus, safeText } from "../../../engine/vendors/vendor-fault.js";

test("a key is hidden wherever it stands; what is too short to be one is a word", () => {
  assert.equal(safeText("abcd, and\nabcd", "abcd"), "[key], and [key]");
  assert.equal(safeText("abc", "abc"), "abc");
  assert.equal(safeText("abcd", undefined), "abcd");
});

test("what may pass is tried elsewhere or again, and what a vendor refuses is not", () => {
  const statuses = [400, 401, 402, 403, 404, 408, 409, 422, 429, 498, 499, 500, 503, 529, 599];
  const by = (fault: string) => statuses.filter((status) => faultOfStatus(status) === fault);
  assert.deepEqual(by("unauthorized"), [401, 403]);
  assert.deepEqual(by("quotaExceeded"), [402]);
  assert.deepEqual(by("notFound"), [404]);
  assert.deepEqual(by("timeout"), [408]);
  assert.deepEqual(by("rateLimited"), [429, 498]);
  assert.deepEqual(by("unavailable"), [409, 499, 500, 503, 529, 599]);
  assert.deepEqual(by("refused"), [400, 422]);
});
