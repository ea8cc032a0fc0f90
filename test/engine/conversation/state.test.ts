import assert from "node:assert/strict";
import { test } from "node:test";
import { newSentence } from "../../../engine/conversation/playout.js";
import { splitToken } from "../../../engine/conversation/sentences.js";
import {
  asSent,
  newTurn,
  placeOf,
  reportOf,
  splitterFor,
  type Turn,
} from "../../../engine/conversation/state.js";

const MOMENTS = { callerEndedAtMs: 100, decidedAtMs: 300.04 };

function turnOf(given: Partial<Turn> = {}): Turn {
  const turn = newTurn({ id: 7, kind: "reply", userText: "Go on.", attempt: 1, ...MOMENTS });
  return { ...turn, ...given };
}

test("the report of a turn says what there was, in tenths of a millisecond, and leaves out what there was not", () => {
  const bare = { turn: 7, kind: "reply", outcome: "played", sttMs: 200 };
  assert.deepEqual(reportOf(turnOf(), "played"), bare);
  const counts = { underruns: 1, fillerCount: 1, wastedTokens: 1, preemptiveMs: 0.26 };
  const told = { underruns: 1, fillerCount: 1, wastedTokens: 1, preemptiveMs: 0.3 };
  assert.deepEqual(reportOf(turnOf(counts), "failed"), { ...bare, outcome: "failed", ...told });
  const greeting = reportOf(turnOf({ kind: "greeting" }), "played");
  assert.deepEqual(greeting, { turn: 7, kind: "greeting", outcome: "played" });
});

test("sentences are found by their numbers, whatever was said between them", () => {
  const answers = ["One.", "Two."].map((text, slot) => newSentence(text, slot));
  const plain = turnOf({ sentences: answers });
  assert.deepEqual(
    [0, 1, 2, 1_000].map((slot) => placeOf(plain, slot)),
    [0, 1, -1, -1],
  );
  const sentences = answers.toSpliced(1, 0, newSentence("One moment.", 1_000));
  const told = turnOf({ sentences, fillerCount: 1 });
  assert.deepEqual(
    [0, 1, 2, 1_000].map((slot) => placeOf(told, slot)),
    [0, 2, -1, 1],
  );
});

test("how long a sentence will take is what has come of it, and the pace of its voice for the rest", () => {
  const sentence = newSentence("0123456789", 0);
  const expectedMs = (given: Partial<typeof sentence>) =>
    asSent({ ...sentence, ...given }, 100).expectedMs;
  assert.equal(expectedMs({}), 1_000);
  assert.equal(asSent(sentence, 100).durationMs, 0);
  assert.equal(expectedMs({ durationMs: 400 }), 1_000);
  assert.equal(expectedMs({ durationMs: 1_400 }), 1_400);
  assert.equal(expectedMs({ durationMs: 400, isWhole: true }), 400);
  const firstTry = { text: "0123", durationMs: 700, atMs: 0 };
  assert.equal(
    expectedMs({ durationMs: 700, firstTry }),
    1_300,
    "six characters are still to come",
  );
});

test("a line that plays the voice as it comes is given longer pieces than one that is sent whole ones", () => {
  const reply = `The garden has roses, ${"which nobody has seen for years, ".repeat(12)}`;
  const [streamed, whole] = [true, false].map(
    (isStreamed) => splitToken(splitterFor({ isStreamed }), reply).sentences,
  );
  assert.ok(streamed !== undefined && streamed.length > 1);
  assert.notDeepEqual(streamed, whole);
});
