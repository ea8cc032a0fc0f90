import assert from "node:assert/strict";
import { test } from "node:test";
import { noteEcho, ownEcho } from "../../../engine/conversation/echo.js";
import { EMPTY_LEDGER, recordSent } from "../../../engine/conversation/playback-ledger.js";
import { newConversation, newTurn } from "../../../engine/conversation/state.js";
import { changed } from "../../doubles/changed-state.js";
import { PLAIN_SETTINGS } from "../../doubles/recorded-call.js";

/** What was said in 3,000 ms, from the beginning of the call on. */
const SENTENCE = {
  text: "We have three rooms with a view of the lake.",
  durationMs: 3_000,
  expectedMs: 3_000,
  isWhole: true,
};

/** The agent's second sentence began at 3,000 ms; its sound stopped, or stands still, at `untilMs`. */
function echoOfSecond(untilMs: number, isHeld: boolean, text = "breakfast is free", atMs = 3_400) {
  const first = recordSent(EMPTY_LEDGER, SENTENCE, 0);
  const second = { text: "Breakfast is free. This is all.", durationMs: 800, expectedMs: 800 };
  const ledger = recordSent(first, { ...second, isWhole: true }, 3_000);
  const state = changed(newConversation(PLAIN_SETTINGS, []), { user: { endedAtMs: atMs } });
  if (!isHeld) {
    const spokenBefore = { ledger, untilMs, turnBeforeAtMs: undefined };
    return ownEcho(changed(state, { echo: { spokenBefore } }), text);
  }
  const asked = { userText: "", callerEndedAtMs: 0, decidedAtMs: 0, attempt: 1 };
  const turn = { ...newTurn({ id: 1, kind: "reply", ...asked }), ledger };
  return ownEcho(changed(state, { turn, outputPausedAtMs: untilMs }), text);
}

test("words may be an echo that were to be said within half a second of where the agent's sound stopped, later ones not", () => {
  for (const isHeld of [true, false]) {
    assert.equal(echoOfSecond(3_000, isHeld), "possible");
    assert.equal(echoOfSecond(2_999, isHeld), "none");
    assert.equal(echoOfSecond(3_299, isHeld, "this is all", 3_800), "none");
    assert.equal(echoOfSecond(3_300, isHeld, "this is all", 3_800), "certain");
  }
});

test("five words that came back tell of a loudspeaker, on which one in four may be misheard, for a minute", () => {
  const ledger = recordSent(EMPTY_LEDGER, SENTENCE, 100_000);
  const spokenBefore = { ledger, untilMs: 103_000, turnBeforeAtMs: undefined };
  const user = { endedAtMs: 101_600 };
  const state = changed(newConversation(PLAIN_SETTINGS, []), { echo: { spokenBefore }, user });
  const echoAfter = (words: number, ago: number) => {
    const noted = changed(state, {});
    noteEcho(noted, words, 101_600 - ago);
    return ownEcho(noted, "we have free rooms");
  };
  assert.equal(ownEcho(state, "we have free rooms"), "none");
  assert.equal(echoAfter(5, 60_000), "certain");
  assert.equal(echoAfter(5, 60_001), "none");
  assert.equal(echoAfter(4, 0), "none");
});
