import assert from "node:assert/strict";
import { test } from "node:test";
import * as fc from "fast-check";
import { unplayedText } from "../../../engine/conversation/commit-turn.js";
import {
  alignEnd,
  alignPlayed,
  answerEndsAtMs,
  cutGrowth,
  EMPTY_LEDGER,
  isGap,
  lengthMsOf,
  markedEndMs,
  marksBeforeRest,
  type PlaybackLedger,
  playedAnswer,
  playedSentenceCount,
  playedText,
  receivedOf,
  recordGrowth,
  recordSent,
} from "../../../engine/conversation/playback-ledger.js";
import { newTurn, type Turn } from "../../../engine/conversation/state.js";
import { PLAIN_SETTINGS, RecordedCall } from "../../doubles/recorded-call.js";
import { AnsweredCall } from "./answered-call.js";
import { OPEN, sentAt, WHOLE } from "./sent-sentences.js";

interface Given {
  readonly durationMs: number;
  /** Sent this long after the sentence before it. */
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

/** What a client that plays one sentence after another has heard when it has played this much. */
function heardOf(ledger: PlaybackLedger, playedMs: number): string {
  const contiguous = ledger.sent.map((sentence, index) => {
    const startsAtMs = ledger.sent.slice(0, index).reduce((sum, each) => sum + each.durationMs, 0);
    return { ...sentence, startsAtMs };
  });
  return playedText({ sent: contiguous, endsAtMs: 0 }, playedMs);
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
        assert.equal(playedText(aligned, atMs), heardOf(ledger, playedMs));
        const remainingMs = sentMs - playedMs;
        assert.ok(Math.abs(aligned.endsAtMs - (atMs + remainingMs)) < 1e-6);
      },
    ),
  );
});

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

test("a late mark moves the audio that followed without a pause, and not audio that was sent after a pause", () => {
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

test("a mark that was sent after a silence corrects the end by what remains without it", () => {
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

test("the last word of a sentence that may continue was not heard, however long ago it arrived; that of a whole one was at its end", () => {
  assert.equal(playedText(sentAt(0, OPEN), 5_000), "word word word");
  assert.equal(playedText(sentAt(0, { ...OPEN, expectedMs: 500 }), 5_000), "word word word");
  assert.equal(playedText(sentAt(0, WHOLE), 999.5), "word word word");
  assert.equal(playedText(sentAt(0, WHOLE), 1_000), WHOLE.text);
  assert.equal(receivedOf({ ...OPEN, startsAtMs: 0 }), "word word word");
});

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

test("another attempt's words begin where the received words end, and never after the received audio", () => {
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

test("a mark of a sentence that was never sent has no effect", () => {
  const ledger = sentAt(0, WHOLE);
  assert.equal(alignEnd(ledger, 1, 3_000), ledger);
});

/** A telephone call whose reply of 1,500 ms began 1,000 ms ago. */
function callInReply() {
  const call = new RecordedCall({ ...PLAIN_SETTINGS, isPaced: true, isStreamed: true });
  call.send({ type: "opened", resumed: true });
  call.send({ type: "written", text: "hello" });
  const turnId = call.turn?.id ?? 0;
  call.send({ type: "replyToken", turnId, text: "Good morning to you." });
  call.send({ type: "replyDone", turnId, tokens: 5 });
  call.send({ type: "sentenceWhole", turnId, index: 0, durationMs: 1_500, firstByteAtMs: 0 });
  call.clock.advance(1_000);
  return call;
}

test("sound that stood still is heard so much later, however long that was", () => {
  for (const lateMs of [20, 400, 600, 900]) {
    const call = callInReply();
    call.send({ type: "soundLate", lateMs });
    assert.equal(call.turn?.ledger.endsAtMs, 1_500 + lateMs);
  }
});

test("a report of late or played audio without sent audio, or while paused, changes nothing", () => {
  const silent = new AnsweredCall({ isPaced: true }).ask().token("It is ");
  const held = callInReply();
  held.send({ type: "speechStarted" });
  assert.equal(held.actor.state.outputPausedAtMs, 1_000);
  const over = new AnsweredCall();
  over.send({ type: "opened", resumed: true });
  for (const call of [silent, held, over]) {
    const before = structuredClone(call.turn);
    call.takeLines();
    call.send({ type: "soundLate", lateMs: 500 });
    call.send({ type: "played", turnId: 1, playedMs: 100 });
    assert.deepEqual(call.takeLines(), []);
    assert.deepEqual(call.turn, before);
    assert.deepEqual(call.crashes, []);
  }
});

test("a late report that all was played, or all but a rounded millisecond, leaves the moment at which it was", () => {
  const endsAtMs = (reportedAtMs: number, playedMs: number) => {
    const call = new AnsweredCall().ask().token("It is ten. So ").whole(0, 1_500);
    call.wait(reportedAtMs);
    call.send({ type: "played", turnId: 1, playedMs });
    return call.activeTurn.ledger.endsAtMs;
  };
  assert.equal(endsAtMs(3_000, 1_500), 1_500);
  assert.equal(endsAtMs(3_000, 1_499.5), 1_500);
  assert.equal(endsAtMs(3_000, 1_499), 3_001, "a whole millisecond is left");
  assert.equal(endsAtMs(1_500, 1_499.5), 1_500, "it ends just now");
  assert.equal(endsAtMs(1_499, 1_500), 1_499, "it was played faster");
});

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

test("the beginning of a long unheard text is kept, in whole words", () => {
  const turn = turnOf("Heard.", "word ".repeat(UNHEARD_CHARACTERS_MAX));
  const text = unplayedText(turn, "interrupted", 1_000) ?? "";
  assert.ok(text.length <= UNHEARD_CHARACTERS_MAX && text.length > UNHEARD_CHARACTERS_MAX - 10);
  assert.match(text, /word$/);
});
