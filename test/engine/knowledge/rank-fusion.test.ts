import assert from "node:assert/strict";
import { test } from "node:test";
import { assert as check, property, string, uniqueArray } from "fast-check";
import { fuseRanks } from "../../../engine/knowledge/rank-fusion.js";

const fuse = (lists: readonly (readonly string[])[], limit: number) =>
  fuseRanks(lists, (item) => item, limit);

test("what both lists have comes before what one has, and the first list decides between equals", () => {
  assert.deepEqual(
    fuse(
      [
        ["a", "b", "c"],
        ["d", "c"],
      ],
      5,
    ),
    ["c", "a", "d", "b"],
  );
  assert.deepEqual(fuse([["a"], ["b"]], 1), ["a"]);
  assert.deepEqual(fuse([[], ["b"]], 5), ["b"]);
  assert.deepEqual(fuse([], 5), []);
});

test("one list keeps its order, and nothing is returned twice", () => {
  const list = uniqueArray(string(), { maxLength: 20 });
  check(
    property(list, list, (one, other) => {
      assert.deepEqual(fuse([one], 100), one);
      const both = fuse([one, other], 100);
      assert.deepEqual(new Set(both), new Set([...one, ...other]));
      assert.equal(new Set(both).size, both.length);
    }),
  );
});
