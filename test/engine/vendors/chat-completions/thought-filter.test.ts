import assert from "node:assert/strict";
import { test } from "node:test";
import { ThoughtFilter } from "../../../../engine/vendors/chat-completions/chat-completions.js";

/** The output for a reply that arrives in these pieces, and for its end. */
function said(...pieces: readonly string[]): readonly string[] {
  const filter = new ThoughtFilter();
  return [...pieces.map((piece) => filter.take(piece)), filter.end()];
}

test("thoughts are not said, however the reply is cut", () => {
  const reply = "\n<think>\nHours? <b>Nine</b> to </five.\n</think>\n\nFrom <nine> to five.";
  for (let size = 1; size <= reply.length; size++) {
    const pieces = reply.match(new RegExp(`[^]{1,${size}}`, "g")) ?? [];
    assert.equal(said(...pieces).join(""), "From <nine> to five.", `pieces of ${size}`);
  }
});

test("a reply without thoughts is said as it comes", () => {
  assert.deepEqual(said("Yes", "<think>", " no"), ["Yes", "<think>", " no", ""]);
  assert.deepEqual(said(" ", "Yes", " "), ["", " Yes", " ", ""]);
  assert.deepEqual(said("</think>", "Yes"), ["</think>", "Yes", ""]);
});

test("what may be the beginning of thoughts is held back until it is known, and no longer", () => {
  assert.deepEqual(said("<", "3"), ["", "<3", ""]);
  assert.deepEqual(said("<thi", "nking>"), ["", "<thinking>", ""]);
  assert.deepEqual(said("<think"), ["", "<think"]);
  assert.deepEqual(said(" "), ["", " "]);
});

test("blanks without end are said", () => {
  assert.deepEqual(said(" ".repeat(64), " "), ["", " ".repeat(65), ""]);
});

test("reasoning without an end is a reply without words, and so is reasoning with nothing after it", () => {
  assert.deepEqual(said("<think>", "one", "two </thi"), ["", "", "", ""]);
  assert.deepEqual(said("<think>one</think>", "\n\n"), ["", "", ""]);
});

test("reasoning after reasoning is text", () => {
  assert.deepEqual(said("<think></think>", "<think>x"), ["", "<think>x", ""]);
});
