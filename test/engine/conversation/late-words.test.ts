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

test("a single word that was given out is not heard again, nor one with two others put before it", () => {
  const one = guessGivenOut(NO_LATE_WORDS, "No", 2_000, 3_000);
  assert.equal(heard(one, "No thanks", 2_500, 3_200).text, "thanks");
  assert.equal(heard(one, "Well then no thanks", 2_500, 3_200).text, "thanks");
  assert.equal(heard(one, "Well oh then no thanks", 2_500, 3_200).text, "Well oh then no thanks");
});
