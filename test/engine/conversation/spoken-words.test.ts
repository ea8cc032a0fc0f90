import assert from "node:assert/strict";
import { test } from "node:test";
import { isSameWords, spokenWords, wordsOf } from "../../../engine/conversation/lexicon.js";

test("a word is compared without marks, capitals and apostrophes, and ends where it stands", () => {
  assert.deepEqual(spokenWords("“Don’t,” he said: 42!"), [
    { word: "dont", end: 6 },
    { word: "he", end: 11 },
    { word: "said", end: 16 },
    { word: "42", end: 20 },
  ]);
  assert.deepEqual(wordsOf("你好 world"), ["你", "好", "world"]);
  assert.deepEqual(wordsOf("' ’ '' rock"), ["rock"]);
});

test("the same words in the same order are the same", () => {
  assert.ok(isSameWords("...", "..."));
  assert.ok(isSameWords("It's me.", "its, ME"));
  assert.ok(!isSameWords("it is me", "me it is"));
  assert.ok(!isSameWords("no", "no no"));
});
