import assert from "node:assert/strict";
import { test } from "node:test";
import { isInDigits, isNumberJoint, saidDigits } from "../../../engine/conversation/lexicon.js";

const saysDigits = (word: string, digits: string) => saidDigits(word, digits) !== undefined;

/** How many digits of a number are said with each of the words, one behind the other. */
function saidWith(words: string, digits: string): readonly (number | undefined)[] {
  let said: number | undefined = 0;
  return words.split(" ").map((word) => {
    said = saidDigits(word, digits, said);
    return said;
  });
}

test("words say the digits of a number where these stand, in the languages that agents mostly speak", () => {
  for (const [digits, ...words] of [
    ["8", "eight", "acht", "ocho", "huit", "otto", "oito", "osiem", "sekiz", "eighth", "achten"],
    [
      "30",
      "thirty",
      "dreißig",
      "treinta",
      "trente",
      "trenta",
      "trinta",
      "dertig",
      "otuz",
      "thirtieth",
    ],
    ["13", "thirteen", "dreizehn", "trece", "treize", "tredici", "treze", "dertien", "trzynaście"],
    ["27", "twenty", "seven", "siebenundzwanzig", "zevenentwintig", "veintisiete", "ventisette"],
    ["350", "three", "fifty", "dreihundertfünfzig", "trescientos"],
    ["05", "oh", "five"],
    ["48213", "four", "eight", "two", "one", "three", "forty", "thirteen"],
    ["1430", "fourteen", "thirty", "four"],
    ["21st", "twenty", "first"],
  ] as const) {
    for (const word of words) assert.equal(saysDigits(word, digits), true, `${word} for ${digits}`);
  }
});

test("other words, and numbers of which the digits stand elsewhere, do not", () => {
  for (const [digits, ...words] of [
    ["8", "freight", "hunderttausend"],
    ["4", "three", "fourteen", "forty", "for", "4", ""],
    ["30", "three", "zwanzig", "vierzig", "zweiunddreißig"],
    ["13", "two", "thirty"],
    ["27", "two", "seventeen", "seventy", "achtundzwanzig"],
    ["427", "thirty-seven", "two"],
  ] as const) {
    for (const word of words)
      assert.equal(saysDigits(word, digits), false, `${word} for ${digits}`);
  }
});

test("the words of a number say its digits one behind the other", () => {
  assert.deepEqual(saidWith("four twenty seven", "427"), [1, 2, 3]);
  assert.deepEqual(saidWith("four two seven", "427"), [1, 2, 3]);
  assert.deepEqual(saidWith("four eight two one three", "48213"), [1, 2, 3, 4, 5]);
  assert.deepEqual(saidWith("fourteen thirty", "1430"), [2, 3]);
  assert.deepEqual(saidWith("siebenundzwanzig", "27"), [2]);
  assert.equal(saidDigits("two", "427", 2), undefined);
  assert.equal(saidDigits("four", "48213", 1), undefined);
  assert.equal(saidDigits("three", "30", 1), undefined);
  assert.equal(saidDigits("eight", "86"), undefined);
});

test("ordinals say short numbers, of dates, and no longer ones", () => {
  assert.equal(saysDigits("second", "2"), true);
  assert.equal(saysDigits("second", "48213"), false);
});

test("some words stand between the digits of a number and behind them", () => {
  assert.deepEqual(["hundred", "dollars", "and", "friday"].map(isNumberJoint), [
    true,
    true,
    true,
    false,
  ]);
});

test("a word is in digits that begins with one", () => {
  assert.deepEqual(["8", "0", "9pm", "a1", "/", ":", ""].map(isInDigits), [
    true,
    true,
    true,
    false,
    false,
    false,
    false,
  ]);
});

test("words are told apart as before when more were asked for than are kept", () => {
  for (let n = 0; n < 5_000; n += 1) assert.equal(saysDigits(`word${n}`, "27"), false);
  assert.equal(saysDigits("siebenundzwanzig", "27"), true);
  assert.equal(saysDigits("achtundzwanzig", "27"), false);
});
