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

test("of very much that was never heard the beginning is kept, in whole words", () => {
  const turn = turnOf("Heard.", "word ".repeat(UNHEARD_CHARACTERS_MAX));
  const text = unheardText(turn, "interrupted", 1_000) ?? "";
  assert.ok(text.length <= UNHEARD_CHARACTERS_MAX && text.length > UNHEARD_CHARACTERS_MAX - 10);
  assert.match(text, /word$/);
});
