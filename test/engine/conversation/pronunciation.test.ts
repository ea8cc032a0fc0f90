import assert from "node:assert/strict";
import { test } from "node:test";
import { markWords } from "../../../engine/conversation/playback-ledger.js";
import { PronunciationDictionary } from "../../../engine/conversation/pronunciation.js";

const dictionary = new PronunciationDictionary([
  { word: "Nguyen", say: "win" },
  { word: "York", say: "yawk" },
  { word: "New York", say: "noo yawk" },
  { word: "C++", say: "see plus plus" },
  { word: "Łódź", say: "woodge" },
]);

const CASES: readonly (readonly [written: string, spoken: string])[] = [
  ["Ask for Ms. Nguyen.", "Ask for Ms. win."],
  ["NGUYEN, nguyen!", "win, win!"],
  ["New York and York, not Yorkshire.", "noo yawk and yawk, not Yorkshire."],
  ["It is C++, in łódź.", "It is see plus plus, in woodge."],
  ["Nothing of that.", "Nothing of that."],
  ["", ""],
];

for (const [written, spoken] of CASES) {
  test(`"${written}" is said as "${spoken}"`, () => {
    assert.equal(dictionary.spoken(written).text, spoken);
  });
}

test("the words that the voice tells of are those that are written, also in several reports", () => {
  const written = "So New York it is, Ms. Nguyen.";
  const { text, toWritten } = dictionary.spoken(written);
  const timed = text.split(" ").map((word, index) => ({ text: word, endMs: (index + 1) * 100 }));
  const told = [...toWritten(timed.slice(0, 2)), ...toWritten(timed.slice(2))];
  assert.deepEqual(
    told.map((word) => `${word.text}@${word.endMs}`),
    ["So@100", "New York@300", "it@400", "is,@500", "Ms.@600", "Nguyen@700"],
  );
  assert.deepEqual(markWords(written, [], told).at(-1), { end: written.length, atMs: 700 });
});

test("a word that the voice leaves out, or spells otherwise, loses no other", () => {
  const { toWritten } = dictionary.spoken("Hello Nguyen, it is 5 o'clock.");
  const told = toWritten([
    { text: "win", endMs: 100 },
    { text: "it", endMs: 200 },
    { text: "five", endMs: 300 },
    { text: "o'clock", endMs: 400 },
  ]);
  assert.deepEqual(
    told.map(({ text }) => text),
    ["Nguyen", "it", "five", "o'clock"],
  );
});

test("without entries a text is said as it is written", () => {
  const words = [{ text: "Hi", endMs: 10 }];
  const { text, toWritten } = new PronunciationDictionary([]).spoken("Hi");
  assert.equal(text, "Hi");
  assert.equal(toWritten(words), words);
});
