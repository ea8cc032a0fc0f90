import assert from "node:assert/strict";
import { test } from "node:test";
import * as fc from "fast-check";
import {
  alignPlayed,
  EMPTY_LEDGER,
  heardText,
  type PlaybackLedger,
  recordSent,
} from "../../../engine/session/playback-ledger.js";

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

/** What a client that plays one sentence after another has heard when it has played so much. */
function heardOf(ledger: PlaybackLedger, playedMs: number): string {
  const contiguous = ledger.sent.map((sentence, index) => {
    const startsAtMs = ledger.sent.slice(0, index).reduce((sum, each) => sum + each.durationMs, 0);
    return { ...sentence, startsAtMs };
  });
  return heardText({ sent: contiguous, endsAtMs: 0 }, playedMs);
}

test("after a report the ledger has what was played, whatever was sent when", () => {
  fc.assert(
    fc.property(
      given,
      fc.boolean(),
      fc.double({ min: 0, max: 1, noNaN: true }),
      fc.nat(20_000),
      (sentences, isLastWhole, share, lateMs) => {
        const ledger = ledgerOf(sentences, isLastWhole);
        const sentMs = sentences.reduce((sum, { durationMs }) => sum + durationMs, 0);
        const playedMs = Math.floor(sentMs * share);
        const lastSentAtMs = sentences.reduce((sum, { afterMs }) => sum + afterMs, 0);
        const atMs = lastSentAtMs + lateMs;
        const aligned = alignPlayed(ledger, playedMs, atMs);
        assert.equal(heardText(aligned, atMs), heardOf(ledger, playedMs));
        const remainingMs = sentMs - playedMs;
        assert.ok(Math.abs(aligned.endsAtMs - (atMs + remainingMs)) < 1e-6);
      },
    ),
  );
});

test("between two reports the clock goes on from the first", () => {
  const ledger = alignPlayed(ledgerOf([{ durationMs: 1_000, afterMs: 0 }]), 200, 5_000);
  assert.equal(heardText(ledger, 5_000), "word0 word0");
  assert.equal(heardText(ledger, 5_300), "word0 word0 word0 word0 word0");
  assert.equal(ledger.endsAtMs, 5_800);
});

test("more than was sent is all that was sent", () => {
  const ledger = alignPlayed(ledgerOf([{ durationMs: 1_000, afterMs: 0 }]), 90_000, 5_000);
  assert.equal(ledger.endsAtMs, 5_000);
  assert.deepEqual(alignPlayed(EMPTY_LEDGER, 10, 5_000), EMPTY_LEDGER);
});
