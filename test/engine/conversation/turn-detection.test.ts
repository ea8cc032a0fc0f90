import assert from "node:assert/strict";
import { test } from "node:test";
import {
  isRepeated,
  isUndecided,
  undecidedMaxMs,
} from "../../../engine/conversation/endpointing.js";
import type { TranscriptEvent } from "../../../engine/conversation/events.js";
import { newConversation } from "../../../engine/conversation/state.js";
import { changed } from "../../doubles/changed-state.js";
import { PLAIN_SETTINGS } from "../../doubles/recorded-call.js";

const EVENT: TranscriptEvent = {
  type: "transcript",
  text: "what do you offer",
  isFinal: false,
  speechFinal: false,
  lastWordEndMs: 4_000,
  endedAgoMs: 500,
  atMs: 5_000,
  hasTurnDetection: true,
};
const { hasTurnDetection: _, ...PLAIN_EVENT } = EVENT;

function hearing(interim: string, undecidedMs?: number) {
  const state = newConversation(PLAIN_SETTINGS, []);
  const user = { undecidedMaxMs: undecidedMs, hearing: { ...state.user.hearing, interim } };
  return changed(state, { user });
}

test("a recognizer that decides turns has failed to after its own silence and a second and a half", () => {
  assert.equal(undecidedMaxMs(EVENT), 6_500);
  assert.equal(undecidedMaxMs({ ...EVENT, turnSilenceMaxMs: 2_000 }), 3_500);
  assert.equal(undecidedMaxMs(PLAIN_EVENT), undefined);
});

test("a guess is repeated where it has the same words as the one before, and may still change", () => {
  const before = hearing("What do you offer?");
  assert.equal(isRepeated(before, EVENT), true);
  assert.equal(isRepeated(before, { ...EVENT, text: "what do you offer me" }), false);
  assert.equal(isRepeated(before, { ...EVENT, isFinal: true }), false);
  assert.equal(isRepeated(before, PLAIN_EVENT), false);
  assert.equal(isRepeated(hearing(""), { ...EVENT, text: "" }), false);
});

test("a turn is undecided while there are words that the recognizer has not ended", () => {
  assert.equal(isUndecided(hearing("what", 6_500)), true);
  assert.equal(isUndecided(hearing("", 6_500)), false);
  assert.equal(isUndecided(hearing("what")), false);
});
