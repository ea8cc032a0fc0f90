import assert from "node:assert/strict";
import { test } from "node:test";
import {
  alignEnd,
  answerEndsAtMs,
  cutGrowth,
  EMPTY_LEDGER,
  marksBeforeRest,
  playedAnswer,
  playedText,
  recordGrowth,
} from "../../../engine/conversation/playback-ledger.js";
import { OPEN, sentAt, WHOLE } from "./sent-sentences.js";

test("the words that the agent is at work are heard, are no answer, and do not end later than one", () => {
  const waiting = { ...WHOLE, text: "One moment.", isFiller: true };
  const ledger = sentAt(0, WHOLE, waiting);
  assert.equal(playedText(ledger, 2_000), `${WHOLE.text} One moment.`);
  assert.equal(playedAnswer(ledger, 2_000), WHOLE.text);
  assert.equal(answerEndsAtMs(ledger), 1_000);
  assert.equal(playedAnswer(sentAt(0, waiting), 1_000), "");
  assert.equal(answerEndsAtMs(sentAt(0, waiting)), Number.NEGATIVE_INFINITY);
});

test("the mark of a sentence is late by the silence before it was known to be whole, and only where no sound came with that", () => {
  const open = sentAt(0, OPEN);
  const lateMs = (atMs: number, durationMs: number, isWhole: boolean) =>
    recordGrowth(open, { ...OPEN, durationMs, isWhole }, atMs).sent[0]?.markLateMs;
  assert.equal(lateMs(1_300, 1_000, true), 300);
  assert.equal(lateMs(900, 1_000, true), 0);
  assert.equal(lateMs(1_300, 1_500, true), 0);
  assert.equal(lateMs(1_300, 1_000, false), 0);
});

test("a sentence that is whole, or was never sent, does not grow and is not cut", () => {
  const whole = sentAt(0, WHOLE);
  assert.equal(recordGrowth(whole, { ...WHOLE, durationMs: 2_000 }, 500), whole);
  assert.equal(cutGrowth(whole, "word", 500), whole);
  assert.equal(recordGrowth(EMPTY_LEDGER, WHOLE, 500), EMPTY_LEDGER);
  assert.equal(cutGrowth(EMPTY_LEDGER, "word", 500), EMPTY_LEDGER);
});

test("a sentence that was cut keeps the times of the words that it still has", () => {
  const marks = [4, 9, 14].map((end) => ({ end, atMs: end * 100 }));
  const cut = cutGrowth(sentAt(0, { ...OPEN, marks }), "word word", 500);
  assert.deepEqual(cut.sent[0]?.marks, marks.slice(0, 2));
  assert.equal(cut.sent[0]?.expectedMs, 900);
});

test("what another try says begins where the words that came end, and never behind the sound that came", () => {
  const marks = [4, 9, 14].map((end) => ({ end, atMs: end * 100 }));
  const sent = { ...OPEN, startsAtMs: 0, durationMs: 1_000, expectedMs: 2_000, marks };
  const before = marks.slice(0, 2);
  assert.deepEqual(marksBeforeRest(sent, "word word"), [
    ...before,
    { end: 9, atMs: 900 },
    { end: 9, atMs: 1_000 },
  ]);
  assert.deepEqual(marksBeforeRest({ ...sent, durationMs: 700 }, "word word").at(-2), {
    end: 9,
    atMs: 700,
  });
});

test("a mark of a sentence that was never sent tells nothing", () => {
  const ledger = sentAt(0, WHOLE);
  assert.equal(alignEnd(ledger, 1, 3_000), ledger);
});
