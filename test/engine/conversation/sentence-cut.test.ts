import assert from "node:assert/strict";
import { test } from "node:test";
import { forcedCut, lastClauseEnd, lastJoint } from "../../../engine/conversation/sentences.js";

test("a clause ends before a conjunction that is whole by the place that is looked at last", () => {
  const text = "I came and he went";
  const behindAnd = text.indexOf(" he");
  assert.equal(lastClauseEnd(text, 0, behindAnd), text.indexOf(" and"));
  assert.equal(lastClauseEnd(text, 0, behindAnd - 1), -1);
});

test("a language without spaces is cut between two words, not in one", () => {
  const text = "สวัสดีครับวันนี้อากาศ";
  const behindHello = "สวัสดีครับ".length;
  assert.equal(forcedCut(text, 0, behindHello + 2), behindHello);
});

test("a forced cut is after the last clause or otherwise before the last word", () => {
  const words = "We come to you tomor";
  assert.equal(forcedCut(words, 0, words.length), words.indexOf(" tomor"));
  const clauses = "We are on our way; we come tomor";
  assert.equal(forcedCut(clauses, 0, clauses.length), clauses.indexOf(" we come"));
});

test("a dash separates two clauses, but not before the text after it is known", () => {
  const text = "I came—he went";
  const behindDash = text.indexOf("he");
  assert.equal(lastClauseEnd(text, 0, text.length), behindDash);
  assert.equal(lastClauseEnd(text, 0, behindDash), -1);
});

test("where no clause ends, a speaker may pause before a word that joins", () => {
  const text = "the keys that hang behind the door";
  assert.equal(lastJoint(text, 0, text.length), text.indexOf(" that"));
  assert.equal(lastJoint("the keys hang behind the door", 0, 29), -1);
});

test("a character that is longer than a sentence may be is cut, never inside a pair", () => {
  const marked = `a${"\u0301".repeat(400)}`;
  assert.equal(forcedCut(marked, 0, 200), 200);
  const joined = "👩\u200d".repeat(100);
  assert.deepEqual(
    [9, 10, 11].map((to) => forcedCut(joined, 0, to)),
    [9, 9, 11],
  );
});

test("a clause that ends in the first half of what must be cut is no place to cut it", () => {
  const text = "If you like it, we come tomorrow to see y";
  assert.equal(forcedCut(text, 0, 40), text.lastIndexOf(" "));
});

test("the half, the words and the characters of what must be cut count from its beginning", () => {
  const before = "x".repeat(20);
  const words = `${before}We come to you tomor`;
  assert.equal(forcedCut(words, 20, words.length), words.indexOf(" tomor"));
  const joined = `${before}${"👩\u200d".repeat(100)}`;
  assert.equal(forcedCut(joined, 20, 30), 29);
  const thai = `${before}สวัสดีครับวันนี้`;
  assert.equal(forcedCut(thai, 20, 32), 30);
});

test("a space in the middle is not a cut, one at the end is", () => {
  assert.equal(forcedCut("aaaaa bbbb", 0, 10), 10);
  assert.equal(forcedCut("aaaaaa bbb", 0, 10), 6);
});

test("what ends in another script is not cut between words that are written together", () => {
  assert.equal(forcedCut("สวัสดีครับวันabc", 0, 13), 10);
  assert.equal(forcedCut("สวัสดีครับวันa", 0, 14), 14);
  assert.equal(forcedCut("aaaaaa-bbbb", 0, 11), 11);
});

test("one word alone is cut where it must be, and a mark may stand alone before it", () => {
  assert.equal(forcedCut("สวัสดี", 0, 6), 6);
  assert.equal(forcedCut("-สวัสดี", 0, 7), 1);
});

test("a character of several marks goes with the next piece, from its beginning on", () => {
  assert.equal(forcedCut("ba\u0301\u0301", 0, 3), 1);
});

test("a joint is within the range, whatever spaces follow it", () => {
  assert.equal(lastJoint("the keys for  me", 0, 13), 8);
  assert.equal(lastJoint("keys that hang", 4, 14), -1);
  assert.equal(lastJoint("keys that hang", 3, 14), 4);
});
