import assert from "node:assert/strict";
import { test } from "node:test";
import { matchedFrom } from "../../../engine/conversation/echo.js";

/** Which of the heard words are found among those that were played, from the first on. */
function foundOf(heard: string, played: string): number {
  const words = played.split(" ");
  const places = words.map((word) => ({
    word,
    endsAtMs: 0,
    beginsSentence: false,
    endsSentence: false,
  }));
  return matchedFrom(heard.split(" "), places, 0).count;
}

test("two of the agent's words are passed over, and with each other word one more", () => {
  assert.equal(foundOf("a d", "a b c d"), 2);
  assert.equal(foundOf("a e", "a b c d e"), 1);
  assert.equal(foundOf("a other e", "a b c d e"), 2);
  assert.equal(foundOf("a other f", "a b c d e f"), 1);
});

test("a piece of a word at the end, or at the beginning, is that word, and none in the middle", () => {
  assert.equal(foundOf("a er", "a number b"), 2);
  assert.equal(foundOf("numb b", "number b"), 2);
  assert.equal(foundOf("a numb b", "a number b"), 2);
});

test("a number in digits takes the words behind the first that says it, while nothing else stands between them", () => {
  assert.equal(foundOf("to four hundred twenty seven dollars", "to 427 in"), 6);
  assert.equal(foundOf("to four hundred friday dollars", "to 427 in"), 3);
  assert.equal(foundOf("hundred dollars", "427 in"), 0);
  assert.equal(foundOf("is two one three four eight", "is 48213"), 4);
  assert.equal(foundOf("two one two eight six seven", "212 867"), 6);
  assert.equal(foundOf("427 in", "four hundred twenty seven in"), 1);
});
