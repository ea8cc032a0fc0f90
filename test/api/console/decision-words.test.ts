import assert from "node:assert/strict";
import { test } from "node:test";
import {
  ACTION_WORDS,
  BARGE_IN_WORDS,
  CONTINUATION_WORDS,
  decisionsOf,
  END_OF_TURN_WORDS,
} from "../../../api/console/words/decision-words.js";
import {
  BARGE_IN_ACTIONS,
  BARGE_IN_REASONS,
  CONTINUATIONS,
  END_OF_TURN_REASONS,
} from "../../../engine/conversation/reasons.js";

test("the console has words for every action and every reason, and for no other", () => {
  assert.deepEqual(Object.keys(ACTION_WORDS), [...BARGE_IN_ACTIONS]);
  assert.deepEqual(Object.keys(BARGE_IN_WORDS), [...BARGE_IN_REASONS]);
  assert.deepEqual(Object.keys(END_OF_TURN_WORDS), [...END_OF_TURN_REASONS]);
  assert.deepEqual(Object.keys(CONTINUATION_WORDS), [...CONTINUATIONS]);
});

test("a turn's decisions are told in order, each once", () => {
  const record = {
    endOfTurn: { reason: "endpointing", waitedMs: 250 },
    bargeIns: [
      { action: "ignore", reason: "backchannel", atMs: 10 },
      { action: "pause", reason: "voice", atMs: 20 },
      { action: "resume", reason: "backchannel", atMs: 30 },
      { action: "interrupt", reason: "words", atMs: 40 },
    ],
  };
  assert.deepEqual(decisionsOf(record), [
    "Caller’s turn over: STT reported a silence, 250 ms",
    "Went on: backchannel",
    "Paused: a voice",
    "Stopped: the caller spoke",
  ]);
});

test("the language of a turn is named, and a change of it", () => {
  const wordsOf = (fields: object) =>
    decisionsOf({ endOfTurn: { reason: "vendor", waitedMs: 0, ...fields } }).slice(1);
  assert.deepEqual(wordsOf({ language: "de-DE" }), ["Caller spoke German (Germany)"]);
  assert.deepEqual(wordsOf({ language: "de", switchedFrom: "en-US" }), [
    "Language changed from American English to German",
  ]);
  assert.deepEqual(wordsOf({ language: "no tag" }), ["Caller spoke no tag"]);
});

test("a reason that the console does not know stands for itself, and a record without decisions tells none", () => {
  const record = {
    endOfTurn: { reason: "later", waitedMs: 0, waitedFor: "laughing" },
    bargeIns: [{ action: "sing", reason: "joy" }, "no decision", null],
  };
  const [end, bargeIn, ...more] = decisionsOf(record);
  assert.match(end ?? "", /^Caller’s turn over: later laughing, /);
  assert.equal(bargeIn, "sing: joy");
  assert.deepEqual(more, []);
  assert.deepEqual(decisionsOf(undefined), []);
  assert.deepEqual(decisionsOf({ bargeIns: "none" }), []);
});
