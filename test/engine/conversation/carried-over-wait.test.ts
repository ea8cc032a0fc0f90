import assert from "node:assert/strict";
import { test } from "node:test";
import {
  carriedOverWaitAfter,
  givenUpAtMs,
  waitedBeforeMs,
} from "../../../engine/conversation/commit-turn.js";
import { newSentence } from "../../../engine/conversation/playout.js";
import {
  newConversation,
  newTurn,
  type Turn,
  WAITING_SLOT_FIRST,
} from "../../../engine/conversation/state.js";
import { PLAIN_SETTINGS } from "../../doubles/recorded-call.js";

function turnWith(fields: Partial<Turn>): Turn {
  const asked = { userText: "hello", callerEndedAtMs: 0, decidedAtMs: 1_000, attempt: 1 };
  return { ...newTurn({ id: 1, kind: "reply", ...asked }), ...fields };
}

test("a turn that was taken the floor from within a second was not waited for, but what was waited before it counts", () => {
  const turn = turnWith({});
  assert.equal(carriedOverWaitAfter(turn, 1_999), undefined);
  assert.deepEqual(carriedOverWaitAfter(turn, 2_000), { waitedMs: 1_000, untilMs: 2_000 });
  const later = turnWith({ waitedBeforeMs: 4_000 });
  assert.deepEqual(carriedOverWaitAfter(later, 1_999), { waitedMs: 4_000, untilMs: 1_999 });
  assert.deepEqual(carriedOverWaitAfter(later, 2_000), { waitedMs: 5_000, untilMs: 2_000 });
});

test("only a reply of which nothing has come and nothing was done is waited for in vain", () => {
  const word = { ...newSentence("One moment.", WAITING_SLOT_FIRST), durationMs: 800 };
  const waited = { waitedMs: 9_000, untilMs: 10_000 };
  assert.deepEqual(carriedOverWaitAfter(turnWith({ sentences: [word] }), 10_000), waited);
  assert.deepEqual(
    carriedOverWaitAfter(turnWith({ sentences: [newSentence("Yes.", 0)] }), 10_000),
    waited,
  );
  const sound = { ...newSentence("Yes.", 0), durationMs: 800 };
  assert.equal(carriedOverWaitAfter(turnWith({ sentences: [sound] }), 10_000), undefined);
  assert.equal(carriedOverWaitAfter(turnWith({ kind: "resumed" }), 10_000), undefined);
  assert.equal(carriedOverWaitAfter(turnWith({ toolRounds: 1 }), 10_000), undefined);
});

test("a reply is given up twenty seconds after the question, and a vendor has two and a half seconds for a last try", () => {
  const leftMs = (beforeMs: number) => givenUpAtMs(turnWith({ waitedBeforeMs: beforeMs })) - 1_000;
  const waited = [0, 17_500, 17_501, 19_000, 20_000, 21_000, 22_500, 30_000];
  assert.deepEqual(waited.map(leftMs), [20_000, 2_500, 2_500, 2_500, 2_500, 1_500, 0, 0]);
});

test("what was waited goes on while the caller speaks, for three seconds", () => {
  const state = newConversation(PLAIN_SETTINGS, []);
  assert.equal(waitedBeforeMs(state, 5_000), 0);
  const carriedOverWait = { waitedMs: 4_000, untilMs: 5_000 };
  const waited = [5_000, 7_000, 8_000, 9_000].map((ms) =>
    waitedBeforeMs({ ...state, carriedOverWait }, ms),
  );
  assert.deepEqual(waited, [4_000, 6_000, 7_000, 7_000]);
});
