import assert from "node:assert/strict";
import { test } from "node:test";
import {
  guessGivenOut,
  type LateWords,
  NO_LATE_WORDS,
  withoutLateWords,
} from "../../../engine/conversation/late-transcripts.js";

/** What is left of a final result after `late`. */
function heard(late: LateWords, text: string, lastWordEndMs: number | undefined, atMs: number) {
  const transcript = { text, isFinal: true, speechFinal: true, lastWordEndMs };
  const step = withoutLateWords(late, transcript, atMs);
  return { text: step.transcript.text, late: step.late };
}

const given = guessGivenOut(NO_LATE_WORDS, "I am coming with", 2_000, 3_000);

test("of the final version of guesses that were given out only what is new counts", () => {
  assert.equal(heard(given, "I am coming with five.", 2_900, 3_400).text, "five.");
  assert.equal(heard(given, "I'm coming with five", 2_900, 3_400).text, "five");
  assert.equal(heard(given, "I am coming with", 2_300, 3_400).text, "");
});

test("other words, words said again and words that come much later are the caller's", () => {
  assert.equal(heard(given, "with whom", 2_900, 3_400).text, "with whom");
  assert.equal(heard(given, "what do you think", 3_900, 4_400).text, "what do you think");
  assert.equal(heard(given, "I am coming with", 5_000, 5_400).text, "I am coming with");
  assert.equal(heard(given, "I am coming with five", 9_000, 9_400).text, "I am coming with five");
});

test("a single word that was given out is not heard again, nor one with two others put before it", () => {
  const one = guessGivenOut(NO_LATE_WORDS, "No", 2_000, 3_000);
  assert.equal(heard(one, "No thanks", 2_500, 3_200).text, "thanks");
  assert.equal(heard(one, "Well then no thanks", 2_500, 3_200).text, "thanks");
  assert.equal(heard(one, "Well oh then no thanks", 2_500, 3_200).text, "Well oh then no thanks");
});

test("guesses are settled once", () => {
  const settled = heard(given, "I am coming with five", 2_900, 3_400);
  const again = heard(settled.late, "I am coming with my brother", 6_000, 6_300);
  assert.equal(again.text, "I am coming with my brother");
});

test("a final result that comes twice counts once, and one that was said twice counts twice", () => {
  const first = heard(NO_LATE_WORDS, "No.", 1_000, 1_200);
  assert.equal(first.text, "No.");
  assert.equal(heard(first.late, "no", 1_020, 1_300).text, "");
  assert.equal(heard(first.late, "No.", 1_600, 1_800).text, "No.");
});

test("without times a final result that comes again much later was said again", () => {
  const first = heard(NO_LATE_WORDS, "No.", undefined, 1_200);
  assert.equal(heard(first.late, "No.", undefined, 1_300).text, "");
  assert.equal(heard(first.late, "No.", undefined, 60_000).text, "No.");
});

test("a final result that is sent anew with a word more counts for that word", () => {
  const first = heard(NO_LATE_WORDS, "I am coming with", 1_000, 1_200);
  assert.equal(heard(first.late, "I am coming with five", 1_400, 1_600).text, "five");
  const groups = heard(NO_LATE_WORDS, "one two", 1_000, 1_200);
  assert.equal(heard(groups.late, "one two three", 2_100, 2_300).text, "one two three");
});

test("a turn whose end is never told adds only new words, however often it is guessed", () => {
  const guess = {
    isFinal: false,
    speechFinal: false,
    lastWordEndMs: undefined,
    hasTurnDetection: true,
  } as const;
  const first = withoutLateWords(given, { ...guess, text: "I am coming with" }, 6_500);
  assert.equal(first.transcript.text, "");
  const second = withoutLateWords(first.late, { ...guess, text: "I am coming with" }, 10_000);
  assert.equal(second.transcript.text, "");
  const third = withoutLateWords(second.late, { ...guess, text: "I am coming with five" }, 13_500);
  assert.equal(third.transcript.text, "five");
});

test("without times a final result counts again when its words were guessed anew", () => {
  const guess = { text: "Yes.", isFinal: false, speechFinal: false, lastWordEndMs: undefined };
  const first = heard(NO_LATE_WORDS, "Yes.", undefined, 1_000);
  assert.equal(heard(first.late, "yes", undefined, 1_100).text, "");
  const guessed = withoutLateWords(first.late, guess, 2_500);
  assert.equal(guessed.transcript.text, "Yes.");
  const second = heard(guessed.late, "Yes.", undefined, 2_900);
  assert.equal(second.text, "Yes.");
  assert.equal(heard(second.late, "Yes.", undefined, 3_000).text, "");
});
