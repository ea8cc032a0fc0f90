import assert from "node:assert/strict";
import { test } from "node:test";
import * as fc from "fast-check";
import {
  alignEnd,
  alignPlayed,
  EMPTY_LEDGER,
  isGap,
  lengthMsOf,
  markedEndMs,
  type PlaybackLedger,
  playedSentenceCount,
  playedText,
  receivedOf,
  recordGrowth,
  recordSent,
} from "../../../engine/conversation/playback-ledger.js";
import { OPEN, sentAt, WHOLE } from "./sent-sentences.js";

interface Given {
  readonly durationMs: number;
  /** Sent so long after the sentence before it. */
  readonly afterMs: number;
}

function ledgerOf(sentences: readonly Given[], isLastWhole = true): PlaybackLedger {
  let ledger = EMPTY_LEDGER;
  let atMs = 0;
  for (const [index, { durationMs, afterMs }] of sentences.entries()) {
    atMs += afterMs;
    const isWhole = isLastWhole || index < sentences.length - 1;
    const expectedMs = isWhole ? durationMs : durationMs * 2;
    const sentence = { text: `word${index} `.repeat(10).trim(), durationMs, expectedMs, isWhole };
    ledger = recordSent(ledger, sentence, atMs);
  }
  return ledger;
}

const given = fc.array(
  fc.record({
    durationMs: fc.integer({ min: 100, max: 4_000 }),
    afterMs: fc.integer({ min: 0, max: 3_000 }),
  }),
  { minLength: 1, maxLength: 6 },
);

test("more than was sent is all that was sent", () => {
  const ledger = alignPlayed(ledgerOf([{ durationMs: 1_000, afterMs: 0 }]), 90_000, 5_000);
  assert.equal(ledger.endsAtMs, 5_000);
  assert.deepEqual(alignPlayed(EMPTY_LEDGER, 10, 5_000), EMPTY_LEDGER);
});

test("at the end of the last sentence all has been heard, whatever fractions its moments are", () => {
  const moment = fc.double({ min: 0, max: 3_600_000, noNaN: true });
  const duration = fc.double({ min: 1, max: 60_000, noNaN: true });
  const isLastWordHeard = (startsAtMs: number, durationMs: number) => {
    const sentence = { text: "There is more to tell.", durationMs, expectedMs: durationMs };
    const ledger = recordSent(EMPTY_LEDGER, { ...sentence, isWhole: true }, startsAtMs);
    assert.equal(playedText(ledger, ledger.endsAtMs), sentence.text);
    // A mark of the telephone says when, and the interruption comes in the same moment.
    const aligned = alignEnd(ledger, 0, startsAtMs / 3);
    assert.equal(playedText(aligned, startsAtMs / 3), sentence.text);
    assert.equal(playedSentenceCount(aligned, startsAtMs / 3), 1);
  };
  fc.assert(fc.property(moment, duration, isLastWordHeard), {
    // The sum is rounded down, so that less than the sentence's length lies between its beginning and its end.
    examples: [[3_160.7963768096947, 1_464]],
  });
});

test("a mark that tells late of an end moves what followed in the same breath, and not what was sent after a pause", () => {
  const given = [
    { durationMs: 1_000, afterMs: 0 },
    { durationMs: 500, afterMs: 0 },
    { durationMs: 700, afterMs: 2_500 },
    { durationMs: 300, afterMs: 0 },
  ];
  const startsOf = (index: number, atMs: number) =>
    alignEnd(ledgerOf(given), index, atMs).sent.map(({ startsAtMs }) => startsAtMs);
  assert.deepEqual(startsOf(0, 1_200), [200, 1_200, 2_500, 3_200]);
  assert.deepEqual(startsOf(1, 2_400), [0, 1_900, 2_500, 3_200]);
  assert.deepEqual(startsOf(1, 2_900), [0, 2_400, 2_900, 3_600]);
  assert.deepEqual(startsOf(1, 1_400), [0, 900, 2_500, 3_200]);
  assert.deepEqual(startsOf(2, 3_000), [0, 1_000, 2_300, 3_000]);
});

test("a mark that was sent behind a silence puts the end right by what is left without it", () => {
  const sentence = { text: "one two three", expectedMs: 1_000 };
  const open = recordSent(EMPTY_LEDGER, { ...sentence, isWhole: false, durationMs: 1_000 }, 0);
  const late = recordGrowth(open, { ...sentence, isWhole: true, durationMs: 1_000 }, 1_600);
  const followed = recordSent(late, { ...sentence, isWhole: true, durationMs: 500 }, 1_600);
  const aligned = alignEnd(followed, 0, 1_700);
  assert.deepEqual(
    aligned.sent.map(({ startsAtMs }) => startsAtMs),
    [100, 1_700],
  );
  assert.equal(markedEndMs(followed, 0, 1_700), 1_100);
});

test("all audio that has come is as long as its sentences together, whatever lay between them", () => {
  const given = [
    { durationMs: 1_000, afterMs: 0 },
    { durationMs: 500, afterMs: 3_000 },
  ];
  assert.equal(lengthMsOf(ledgerOf(given)), 1_500);
  assert.equal(lengthMsOf(EMPTY_LEDGER), 0);
});

test("a silence is a gap from more than twenty milliseconds on", () => {
  assert.deepEqual([0, 20, 20.5, 21].map(isGap), [false, false, true, true]);
});

test("the last word of a sentence that may go on was not heard, however long ago it came; that of a whole one was at its end", () => {
  assert.equal(playedText(sentAt(0, OPEN), 5_000), "word word word");
  assert.equal(playedText(sentAt(0, { ...OPEN, expectedMs: 500 }), 5_000), "word word word");
  assert.equal(playedText(sentAt(0, WHOLE), 999.5), "word word word");
  assert.equal(playedText(sentAt(0, WHOLE), 1_000), WHOLE.text);
  assert.equal(receivedOf({ ...OPEN, startsAtMs: 0 }), "word word word");
});
