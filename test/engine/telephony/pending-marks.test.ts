import assert from "node:assert/strict";
import { test } from "node:test";
import { PendingMarks } from "../../../engine/telephony/media-stream.js";

test("a mark is heard unless a clear went out after it, and is told once", () => {
  const marks = new PendingMarks();
  marks.add("first");
  marks.add("second");
  assert.equal(marks.reached("first"), true);
  assert.equal(marks.reached("first"), undefined);
  marks.clear();
  marks.add("third");
  assert.deepEqual([marks.reached("second"), marks.reached("third")], [false, true]);
  marks.add("fourth");
  marks.clear();
  marks.clear();
  assert.equal(marks.reached("fourth"), false);
  assert.equal(marks.reached("never"), undefined);
});

test("256 marks are awaited, and the one that was set the longest ago is forgotten for the next", () => {
  const marks = new PendingMarks();
  for (let count = 0; count < 256; count += 1) marks.add(`m${count}`);
  marks.add("m0");
  marks.add("last");
  assert.equal(marks.reached("m1"), undefined);
  assert.deepEqual(
    ["m0", "m2", "m255", "last"].map((name) => marks.reached(name)),
    [true, true, true, true],
  );
});

test("a mark's name is 1 to 64 letters, digits or _.:-", () => {
  const marks = new PendingMarks();
  for (const name of ["a", "m".repeat(64), "g1-s2_3.4:5"]) {
    marks.add(name);
    assert.equal(marks.reached(name), true);
  }
  for (const name of ["", "m".repeat(65), "a b", '"', "ä"]) {
    assert.throws(() => marks.add(name), RangeError, name);
    assert.equal(marks.reached(name), undefined);
  }
});
