import assert from "node:assert/strict";
import { test } from "node:test";
import type { ConversationEffect } from "../../../engine/conversation/effects.js";
import { onFillerDeadline } from "../../../engine/conversation/filler.js";
import { stockPhrases } from "../../../engine/conversation/lexicon.js";
import { changed } from "../../doubles/changed-state.js";
import { PLAIN_SETTINGS, RecordedCall } from "../../doubles/recorded-call.js";

test("while no words are ready, or the caller speaks, the agent looks again every half second, and then says them", () => {
  const phrases = stockPhrases("en");
  const call = new RecordedCall({ ...PLAIN_SETTINGS, phrases, fillerAfterMs: 1_500 });
  const delaysMs = () =>
    call.deadlinesSet.flatMap((deadline) => {
      const [name, delayMs] = deadline.split(" ");
      return name === "filler" ? [Number(delayMs)] : [];
    });
  call.send({ type: "opened", resumed: true });
  call.send({ type: "written", text: "what is my balance" });
  call.clock.advance(2_000);
  assert.deepEqual(delaysMs(), [1_500, 500, 500]);
  const [text = ""] = phrases?.waiting ?? [];
  call.send({ type: "phraseReady", text, durationMs: 800 });
  call.hearVoice(true);
  call.clock.advance(500);
  assert.deepEqual(delaysMs(), [1_500, 500, 500, 500]);
  call.hearVoice(false);
  call.clock.advance(500);
  assert.ok(call.effects.some((effect) => effect.type === "playPhrase" && effect.text === text));
});

test("the agent does not say that it is at work over words of the caller that may be going on", () => {
  const phrases = stockPhrases("en");
  const settings = {
    ...PLAIN_SETTINGS,
    phrases,
    fillerAfterMs: 1_500,
    sensitivity: "low",
  } as const;
  const call = new RecordedCall(settings);
  const isSaid = () => call.effects.some(({ type }) => type === "playPhrase");
  call.send({ type: "opened", resumed: true });
  const [text = ""] = phrases?.waiting ?? [];
  call.send({ type: "phraseReady", text, durationMs: 800 });
  call.send({ type: "written", text: "what is my balance" });
  call.clock.advance(1_000);
  const heard = { text: "please", isFinal: false, speechFinal: false, lastWordEndMs: undefined };
  call.send({ type: "transcript", ...heard, endedAgoMs: 0 });
  call.clock.advance(600);
  assert.equal(isSaid(), false);
});

/** Whether a word that is ready is said to a caller whose voice, if it was heard at all, was heard last at `voiceAtMs`. */
function isSaidAt(atMs: number, voiceAtMs?: number): boolean {
  const phrases = stockPhrases("en");
  const call = new RecordedCall({ ...PLAIN_SETTINGS, phrases, fillerAfterMs: 1_500 });
  call.send({ type: "opened", resumed: true });
  const [text = ""] = phrases?.waiting ?? [];
  call.send({ type: "phraseReady", text, durationMs: 800 });
  call.send({ type: "written", text: "what is my balance" });
  if (voiceAtMs !== undefined) {
    call.clock.advance(voiceAtMs);
    call.hearVoice(true);
    call.hearVoice(false);
  }
  call.clock.advance(atMs - (voiceAtMs ?? 0));
  call.reach("filler", { voiceAgoMs: call.voiceAgoMs });
  return call.effects.some(({ type }) => type === "playPhrase");
}

test("no word is said a millisecond too soon, nor within 300 ms of the caller's voice", () => {
  assert.deepEqual([isSaidAt(1_499), isSaidAt(1_500)], [false, true]);
  assert.deepEqual([isSaidAt(1_500, 1_201), isSaidAt(1_500, 1_200)], [false, true]);
});

test("the agent says six times that it is at work, and no seventh time", () => {
  const phrases = stockPhrases("en");
  const call = new RecordedCall({ ...PLAIN_SETTINGS, phrases, fillerAfterMs: 1_500 });
  call.send({ type: "opened", resumed: true });
  const [text = ""] = phrases?.waiting ?? [];
  call.send({ type: "phraseReady", text, durationMs: 800 });
  call.send({ type: "written", text: "what is my balance" });
  const { state } = call.actor;
  const { turn } = call;
  assert.ok(turn !== undefined);
  const lines = [5, 6, 7].map((fillerCount) => {
    const event = { type: "deadlineReached", atMs: 60_000 } as const;
    const out: ConversationEffect[] = [];
    onFillerDeadline(changed(state, { turn: { ...turn, fillerCount } }), event, out);
    return out.map(({ type }) => type);
  });
  assert.deepEqual(lines, [["playPhrase", "send"], [], []]);
});

const SENTENCE = "Your table for four is booked for Friday at seven.";

/** A call that waits for TTS, which was asked for a whole sentence of 50 letters after 600 ms, when the filler is due after 1.5 s. */
function waitingForTts(): RecordedCall {
  const phrases = stockPhrases("en");
  const call = new RecordedCall({ ...PLAIN_SETTINGS, phrases, fillerAfterMs: 1_500 });
  call.send({ type: "opened", resumed: true });
  const [text = ""] = phrases?.waiting ?? [];
  call.send({ type: "phraseReady", text, durationMs: 715 });
  call.send({ type: "written", text: "book a table" });
  call.clock.advance(600);
  call.send({ type: "replyToken", turnId: 1, text: SENTENCE });
  call.send({ type: "replyDone", turnId: 1, tokens: 12 });
  return call;
}

const fillersOf = ({ effects }: RecordedCall): number =>
  effects.filter(({ type }) => type === "playPhrase").length;

test("a filler is played where TTS gives nothing, or nothing more, for longer than a sentence takes it", () => {
  const silent = waitingForTts();
  silent.clock.advance(1_700);
  assert.equal(fillersOf(silent), 0);
  silent.clock.advance(200);
  assert.equal(fillersOf(silent), 1);
  const atWork = (ttsAudioAgoMs: number): number => {
    const call = waitingForTts();
    call.clock.advance(1_750);
    call.reach("filler", { ttsAudioAgoMs });
    return fillersOf(call);
  };
  assert.deepEqual([atWork(700), atWork(800)], [0, 1]);
});

test("a TTS that is slow for ever holds the filler back for 2.5 s at most", () => {
  const call = waitingForTts();
  const fire = () => call.reach("filler", { ttsAudioAgoMs: 100 });
  call.clock.advance(1_000);
  for (let waitedMs = 1_600; waitedMs < 3_900; waitedMs += 100) {
    fire();
    call.clock.advance(100);
  }
  assert.equal(fillersOf(call), 0);
  call.clock.advance(200);
  fire();
  assert.equal(fillersOf(call), 1);
});
