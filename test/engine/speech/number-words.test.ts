import assert from "node:assert/strict";
import { test } from "node:test";
import { goesOnWithDigits, isInDigits, saysDigits } from "../../../engine/speech/number-words.js";

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

test("a number goes on with words that stand in none of its digits", () => {
  for (const word of ["hundred", "dollars", "and", "twenty", "seven"]) {
    assert.equal(goesOnWithDigits(word, "427"), true, word);
  }
  for (const word of ["friday", "eight"]) assert.equal(goesOnWithDigits(word, "427"), false, word);
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
  for (let n = 0; n < 5_000; n += 1) assert.equal(saysDigits(`word${n}`, "8"), false);
  assert.equal(saysDigits("eight", "8"), true);
  assert.equal(saysDigits("nine", "8"), false);
});
