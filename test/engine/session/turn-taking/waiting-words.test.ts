import assert from "node:assert/strict";
import { test } from "node:test";
import type { SessionEffect } from "../../../../engine/session/effects.js";
import { onWaitingTimer } from "../../../../engine/session/turn-taking/waiting-words.js";
import { stockPhrases } from "../../../../engine/speech/stock-phrases.js";
import { PLAIN_SETTINGS, RecordedCall } from "../../../doubles/recorded-call.js";

test("while no words are ready, or the caller speaks, the agent looks again every half second, and then says them", () => {
  const phrases = stockPhrases("en");
  const call = new RecordedCall({ ...PLAIN_SETTINGS, phrases, waitingWordMs: 1_500 });
  const delaysMs = () =>
    call.effects.flatMap((effect) =>
      effect.type === "startTimer" && effect.timer === "waiting" ? [effect.delayMs] : [],
    );
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
    waitingWordMs: 1_500,
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
  const call = new RecordedCall({ ...PLAIN_SETTINGS, phrases, waitingWordMs: 1_500 });
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
  call.send({ type: "timerFired", timer: "waiting", voiceAgoMs: call.voiceAgoMs });
  return call.effects.some(({ type }) => type === "playPhrase");
}

test("no word is said a millisecond too soon, nor within 300 ms of the caller's voice", () => {
  assert.deepEqual([isSaidAt(1_499), isSaidAt(1_500)], [false, true]);
  assert.deepEqual([isSaidAt(1_500, 1_201), isSaidAt(1_500, 1_200)], [false, true]);
});

test("a line that nothing was held on is not told to go on when the apology takes the place of a word that was stopped", () => {
  const phrases = stockPhrases("en");
  const settings = {
    ...PLAIN_SETTINGS,
    phrases,
    waitingWordMs: 1_500,
    sensitivity: "high",
  } as const;
  const call = new RecordedCall(settings);
  call.send({ type: "opened", resumed: true });
  const [text = ""] = phrases?.waiting ?? [];
  call.send({ type: "phraseReady", text, durationMs: 800 });
  call.send({ type: "written", text: "what is my balance" });
  call.clock.advance(1_600);
  call.send({ type: "speechStarted", voiceAgoMs: undefined });
  assert.equal(call.actor.state.heldAtMs, 1_600);
  call.send({ type: "replyFailed", turnId: 1, retryable: false });
  assert.equal(call.actor.state.turn?.kind, "apology");
  assert.ok(!call.effects.some(({ type }) => type === "resumeAudio"));
  assert.ok(!call.pendingTimers.includes("hold"));
});

test("the agent says six times that it is at work, and no seventh time", () => {
  const phrases = stockPhrases("en");
  const call = new RecordedCall({ ...PLAIN_SETTINGS, phrases, waitingWordMs: 1_500 });
  call.send({ type: "opened", resumed: true });
  const [text = ""] = phrases?.waiting ?? [];
  call.send({ type: "phraseReady", text, durationMs: 800 });
  call.send({ type: "written", text: "what is my balance" });
  const { state } = call.actor;
  const { turn } = state;
  assert.ok(turn !== undefined);
  const lines = [5, 6, 7].map((waitingWords) => {
    const event = { type: "timerFired", timer: "waiting", atMs: 60_000 } as const;
    const out: SessionEffect[] = [];
    onWaitingTimer({ ...state, turn: { ...turn, waitingWords } }, event, out);
    return out.map(({ type }) => type);
  });
  assert.deepEqual(lines, [["playPhrase", "send", "startTimer"], [], []]);
});
