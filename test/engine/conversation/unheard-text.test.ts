import assert from "node:assert/strict";
import { test } from "node:test";
import { unheardText } from "../../../engine/conversation/commit-turn.js";
import { EMPTY_LEDGER, recordSent } from "../../../engine/conversation/playback-ledger.js";
import { newTurn, type Turn } from "../../../engine/conversation/state.js";

const UNHEARD_CHARACTERS_MAX = 3_000;

/** A turn of these sentences, each a second long, of which the first is sent at 0. */
function turnOf(...texts: readonly string[]): Turn {
  const sentence = {
    attempt: 1,
    durationMs: 1_000,
    isWhole: true,
    marks: [],
    requestedAtMs: 0,
    grewAtMs: 0,
    firstTry: undefined,
  };
  const sentences = texts.map((text, slot) => ({ ...sentence, slot, text }));
  const [first = ""] = texts;
  const sent = { text: first, durationMs: 1_000, expectedMs: 1_000, isWhole: true };
  const moments = { callerEndedAtMs: 0, decidedAtMs: 0 };
  const turn = newTurn({ id: 1, kind: "reply", userText: "Go on.", attempt: 1, ...moments });
  return { ...turn, sentences, ledger: recordSent(EMPTY_LEDGER, sent, 0) };
}

test("what was never heard begins at the word that was cut, and goes on to the last sentence made", () => {
  const turn = turnOf("One two three four.", "Five.");
  assert.equal(unheardText(turn, "interrupted", 500), "three four. Five.");
  assert.equal(unheardText(turn, "cutOff", 1_000), "Five.");
});

test("a turn that was heard to its end, or taken back, has nothing that was never heard", () => {
  assert.equal(unheardText(turnOf("One."), "interrupted", 1_000), undefined);
  for (const outcome of ["played", "superseded", "failed"] as const) {
    assert.equal(unheardText(turnOf("One.", "Two."), outcome, 500), undefined);
  }
});

test("of very much that was never heard the beginning is kept, in whole words", () => {
  const turn = turnOf("Heard.", "word ".repeat(UNHEARD_CHARACTERS_MAX));
  const text = unheardText(turn, "interrupted", 1_000) ?? "";
  assert.ok(text.length <= UNHEARD_CHARACTERS_MAX && text.length > UNHEARD_CHARACTERS_MAX - 10);
  assert.match(text, /word$/);
});
