import assert from "node:assert/strict";
import { test } from "node:test";
import { safeText } from "../../../engine/vendors/vendor-fault.js";

test("a key is hidden wherever it stands; what is too short to be one is a word", () => {
  assert.equal(safeText("abcd, and\nabcd", "abcd"), "[key], and [key]");
  assert.equal(safeText("abc", "abc"), "abc");
  assert.equal(safeText("abcd", undefined), "abcd");
});
