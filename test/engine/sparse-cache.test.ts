import assert from "node:assert/strict";
import { test } from "node:test";
import { sparseCache } from "../../engine/sparse-cache.js";

test("as many entries are kept as may be, and the one unused for longest goes first", () => {
  const cache = sparseCache<string, number>(3);
  for (const [index, key] of ["a", "b", "c"].entries()) cache.set(key, index);
  assert.equal(cache.size, 3);
  assert.equal(cache.get("a"), 0);
  cache.set("d", 3);
  assert.deepEqual([...cache.keys()].toSorted(), ["a", "c", "d"]);
});
