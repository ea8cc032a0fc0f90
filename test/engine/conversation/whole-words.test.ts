import assert from "node:assert/strict";
import { test } from "node:test";
import * as fc from "fast-check";
import { wholeWords } from "../../../engine/conversation/playback-ledger.js";

/** The whole words of that share of a text. */
function heardPart(text: string, fraction: number): string {
  return wholeWords(text, text.length * fraction);
}

test("what was heard ends with a whole word", () => {
  const text = "One two three four.";
  const cases: readonly (readonly [fraction: number, heard: string])[] = [
    [0, ""],
    [-1, ""],
    [Number.NaN, ""],
    [0.1, ""],
    [0.16, "One"],
    [0.36, "One"],
    [0.37, "One two"],
    [0.99, "One two three"],
    [1, text],
    [7, text],
  ];
  for (const [fraction, heard] of cases)
    assert.equal(heardPart(text, fraction), heard, `${fraction}`);
});

test("a word of one letter is one, and a border between words belongs to neither", () => {
  assert.equal(wholeWords("I am", 1), "I");
  assert.equal(wholeWords("I am", 1.9), "I");
  assert.equal(wholeWords("I am", 2), "I");
  assert.equal(wholeWords("I am", 3), "I");
  assert.equal(wholeWords("I am", 4), "I am");
  assert.equal(wholeWords("I am ", 4), "I am");
});

test("where letters meet characters that stand for themselves a word is over, and none of those is torn", () => {
  assert.equal(wholeWords("OK好的", 2), "OK");
  assert.equal(wholeWords("OK好的", 1), "");
  assert.equal(wholeWords("好ok", 1), "好");
  assert.equal(wholeWords("กำ", 1), "");
});

test("in Chinese and Japanese every character counts", () => {
  assert.equal(heardPart("今天天气很好", 0.5), "今天天");
  assert.equal(heardPart("はい、わかりました", 0.34), "はい、");
});

test("a fraction never gives more than its share, never tears a word, and grows with the fraction", () => {
  const text = fc.array(fc.constantFrom("word", "a", "Zürich", "好的", "👍🏽", " ", ", ", "\n"), {
    maxLength: 20,
  });
  fc.assert(
    fc.property(
      text,
      fc.double({ min: 0, max: 1, noNaN: true }),
      fc.double({ min: 0, max: 1, noNaN: true }),
      (parts, one, other) => {
        const whole = parts.join("");
        const [less, more] = [Math.min(one, other), Math.max(one, other)];
        const heard = heardPart(whole, less);
        assert.ok(whole.startsWith(heard));
        assert.ok(less >= 1 || heard.length <= Math.floor(whole.length * less));
        assert.ok(heardPart(whole, more).startsWith(heard));
        const deps = whole.slice(heard.length - 1, heard.length + 1);
        assert.doesNotMatch(
          heard === "" ? "" : deps,
          /^[a-zü]{2}$|^[\uD800-\uDBFF][\uDC00-\uDFFF]$/i,
        );
      },
    ),
  );
});
