import assert from "node:assert/strict";
import { test } from "node:test";
import { comparedWords } from "../../../bench/faults/compared-words.js";

const SAID = "the table is free. Come at noon.";

test("words that all come once are neither lost nor twice", () => {
  assert.deepEqual(comparedWords(SAID, SAID), { lost: 0, twice: 0, brokenOff: 0 });
});

test("a cut word that is repeated does not count twice", () => {
  const heard = "t the table is free. C Come at noon.";
  assert.deepEqual(comparedWords(SAID, heard), { lost: 0, twice: 0, brokenOff: 2 });
});

test("a whole word that comes again is said twice", () => {
  const heard = "the table the table is free. Come at noon.";
  assert.deepEqual(comparedWords(SAID, heard), { lost: 0, twice: 2, brokenOff: 0 });
});

test("a word whose rest never comes is lost", () => {
  const heard = "the tab is free. Come at noon.";
  assert.deepEqual(comparedWords(SAID, heard), { lost: 1, twice: 1, brokenOff: 0 });
});
