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
import { PLAIN_SETTINGS, RecordedCall } from "../../doubles/recorded-call.js";

/** Twenty seconds, the newest try, and the words that were being said when they were over. */
const APOLOGY_MAX_MS = 26_000;
const WORDS_MS = 800;

/** The caller's words are told as they are said, and their end when they are over. */
function speak(call: RecordedCall): void {
  const lastWordEndMs = call.clock.monotonicMs() + WORDS_MS;
  const heard = { text: "hello there", lastWordEndMs, endedAgoMs: 0 };
  call.send({ type: "transcript", ...heard, isFinal: false, speechFinal: false });
  call.clock.advance(WORDS_MS);
  call.send({ type: "transcript", ...heard, isFinal: true, speechFinal: true });
}

function apologyAtMs(call: RecordedCall, everyMs: number): number {
  call.send({ type: "opened", resumed: true });
  while (call.turn?.kind !== "apology" && call.clock.monotonicMs() < 60_000) {
    speak(call);
    call.clock.advance(everyMs - WORDS_MS);
  }
  return call.turn?.kind === "apology" ? call.turn.decidedAtMs : Number.POSITIVE_INFINITY;
}

test("a model that hangs is apologized for, however often the caller speaks again", () => {
  for (const everyMs of [2_500, 3_500, 5_000, 6_000, 8_000, 12_000]) {
    const atMs = apologyAtMs(new RecordedCall(PLAIN_SETTINGS), everyMs);
    assert.ok(atMs <= APOLOGY_MAX_MS, `every ${everyMs} ms: an apology after ${atMs} ms`);
  }
});

test("a caller who speaks in pieces leaves a vendor all its time, since nothing was waited for", () => {
  const call = new RecordedCall(PLAIN_SETTINGS);
  call.send({ type: "opened", resumed: true });
  for (let piece = 0; piece < 40; piece += 1) {
    speak(call);
    call.clock.advance(900);
  }
  speak(call);
  assert.equal(call.turn?.waitedBeforeMs, 0);
});

test("the wait is forgotten when something of an answer has come", () => {
  const call = new RecordedCall(PLAIN_SETTINGS);
  call.send({ type: "opened", resumed: true });
  speak(call);
  call.clock.advance(5_000);
  speak(call);
  const turnId = call.turn?.id ?? 0;
  assert.equal(call.turn?.waitedBeforeMs, 5_000 + WORDS_MS);
  call.send({ type: "replyToken", turnId, text: "It is ten. " });
  call.send({ type: "replyDone", turnId, tokens: 5 });
  const firstByteAtMs = call.clock.monotonicMs();
  call.send({ type: "sentenceWhole", turnId, index: 0, durationMs: 900, firstByteAtMs });
  call.clock.advance(100);
  speak(call);
  assert.equal(call.turn?.waitedBeforeMs, 0);
});

test("of the words that a caller says into a wait, three seconds count as waiting", () => {
  const call = new RecordedCall(PLAIN_SETTINGS);
  call.send({ type: "opened", resumed: true });
  speak(call);
  call.clock.advance(2_000);
  for (const text of ["are", "are you", "are you still", "are you still there"]) {
    const lastWordEndMs = call.clock.monotonicMs();
    const heard = { text, lastWordEndMs, endedAgoMs: 0, isFinal: false, speechFinal: false };
    call.send({ type: "transcript", ...heard });
    call.clock.advance(1_000);
  }
  const lastWordEndMs = call.clock.monotonicMs();
  const text = "are you still there now";
  const heard = { text, lastWordEndMs, endedAgoMs: 0, isFinal: true, speechFinal: true };
  call.send({ type: "transcript", ...heard });
  assert.equal(call.turn?.waitedBeforeMs, 2_000 + 3_000);
});

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
