import assert from "node:assert/strict";
import { test } from "node:test";
import * as fc from "fast-check";
import {
  charsSpoken,
  markWords,
  spokenAfterMs,
  type WordMark,
} from "../../../engine/conversation/playback-ledger.js";

/** `word=endMs`, as a voice tells them. */
function marked(text: string, ...told: readonly string[]): readonly WordMark[] {
  const words = told.map((each) => {
    const [word = "", endMs] = each.split("=");
    return { text: word, endMs: Number(endMs) };
  });
  return markWords(text, [], words);
}

test("a word is said at its end, including its punctuation", () => {
  const text = "Hello, dear Ada!";
  const marks = marked(text, "Hello=500", "dear=700", "Ada=900");
  assert.deepEqual(
    marks.map(({ end, atMs }) => [text.slice(0, end), atMs]),
    [
      ["Hello,", 500],
      ["Hello, dear", 700],
      ["Hello, dear Ada!", 900],
    ],
  );
  assert.equal(charsSpoken(text, marks, 499, 1_000) < 6, true);
  assert.equal(charsSpoken(text, marks, 500, 1_000), 6);
  assert.equal(charsSpoken(text, marks, 1_000, 1_000), text.length);
});

test("when the audio ends with its last marked word, no more than that was said", () => {
  const text = "Hello, dear Ada!";
  assert.equal(charsSpoken(text, marked(text, "Hello=500"), 500, 500), 6);
});

test("what a voice says in other words is passed over, and what follows is found again", () => {
  const text = "Call 12 or 13 today.";
  const marks = marked(text, "Call=300", "twelve=600", "or=800", "thirteen=1200", "today=1500");
  assert.deepEqual(
    marks.map(({ end }) => text.slice(0, end)),
    ["Call", "Call 12 or", "Call 12 or 13 today."],
  );
});

test("a word that the text has only much later does not match", () => {
  const text = "One two three four five six and one more.";
  assert.deepEqual(marked(text, "more=300"), []);
});

test("four words may be left out before one that is found again, and five may not", () => {
  const text = "One two three four five six seven.";
  assert.deepEqual(
    marked(text, "five=300").map(({ end }) => text.slice(0, end)),
    ["One two three four five"],
  );
  assert.deepEqual(marked(text, "six=300"), []);
});

test("a marked word is not found a second time, whatever follows it", () => {
  const first = markWords("no no now", [], [{ text: "no", endMs: 200 }]);
  const all = markWords("no no now", first, [{ text: "no", endMs: 400 }]);
  assert.deepEqual(all, [
    { end: 2, atMs: 200 },
    { end: 5, atMs: 400 },
  ]);
  assert.equal(markWords("no no now", all, []), all);
});

test("a time that goes back counts as the one before it", () => {
  assert.deepEqual(
    marked("one two three", "one=500", "two=300", "three=600").map(({ atMs }) => atMs),
    [500, 500, 600],
  );
  const later = markWords("one two", [{ end: 3, atMs: 500 }], [{ text: "two", endMs: 300 }]);
  assert.deepEqual(later.at(-1), { end: 7, atMs: 500 });
});

test("text after the last mark takes no time if the audio is over by then", () => {
  const marks = [{ end: 3, atMs: 500 }];
  assert.equal(spokenAfterMs("one two", marks, 7, 400), 500);
  assert.equal(charsSpoken("one two", marks, 600, 400), 3);
  assert.equal(spokenAfterMs("one two", marks, 9, 1_000), 1_000);
  assert.equal(charsSpoken("one two", marks, 2_000, 1_000), 7);
  assert.equal(spokenAfterMs("", [], 0, 1_000), 0);
});

test("words come in parts, and one that is said twice is found twice", () => {
  const text = "No, no, no.";
  const first = markWords(text, [], [{ text: "No", endMs: 200 }]);
  const all = markWords(text, first, [
    { text: "no", endMs: 400 },
    { text: "no", endMs: 600 },
    { text: "no", endMs: 800 },
  ]);
  assert.deepEqual(
    all.map(({ end, atMs }) => [end, atMs]),
    [
      [3, 200],
      [7, 400],
      [11, 600],
    ],
  );
});

test("without marks the pace is even, and however odd the times are, more is never less", () => {
  assert.equal(charsSpoken("1234567890", [], 500, 1_000), 5);
  const word = fc.record({
    text: fc.constantFrom("one", "two", "three", "four", "x", ""),
    endMs: fc.integer({ min: -100, max: 5_000 }),
  });
  fc.assert(
    fc.property(fc.array(word), fc.nat(5_000), fc.nat(5_000), (words, a, b) => {
      const text = "One, two, three and four.";
      const marks = markWords(text, [], words);
      const [less, more] = [Math.min(a, b), Math.max(a, b)];
      const said = charsSpoken(text, marks, less, 3_000);
      assert.ok(said >= 0 && said <= charsSpoken(text, marks, more, 3_000));
      assert.ok(charsSpoken(text, marks, more, 3_000) <= text.length);
    }),
  );
});

test("the inverse: as long as a part of a text takes, that part is said then, with marks and without", () => {
  const marks = [
    { end: 4, atMs: 500 },
    { end: 10, atMs: 900 },
  ];
  const text = "One, two, three and four.";
  for (const told of [[], marks]) {
    for (let chars = 1; chars <= text.length; chars += 1) {
      const saidMs = spokenAfterMs(text, told, chars, 3_000);
      const said = charsSpoken(text, told, saidMs, 3_000);
      assert.ok(Math.abs(said - chars) < 0.001, `${chars} characters, ${said} after ${saidMs} ms`);
    }
  }
  assert.equal(spokenAfterMs(text, marks, 0, 3_000), 0);
  assert.equal(spokenAfterMs(text, marks, text.length, 3_000), 3_000);
});
