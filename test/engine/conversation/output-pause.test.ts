import assert from "node:assert/strict";
import { test } from "node:test";
import { PLAIN_SETTINGS, RecordedCall } from "../../doubles/recorded-call.js";

const ANSWER_MS = 3_000;

function openCall(): RecordedCall {
  const call = new RecordedCall({ ...PLAIN_SETTINGS, isPaced: true, isStreamed: true });
  call.send({ type: "opened", resumed: true });
  return call;
}

/** The agent begins an answer of three seconds. */
function answer(call: RecordedCall): number {
  call.send({ type: "written", text: "what do you offer" });
  const turnId = call.turn?.id ?? 0;
  call.send({ type: "replyToken", turnId, text: "We have three rooms with a view." });
  call.send({ type: "replyDone", turnId, tokens: 5 });
  const firstByteAtMs = call.clock.monotonicMs();
  call.send({ type: "sentenceWhole", turnId, index: 0, durationMs: ANSWER_MS, firstByteAtMs });
  return turnId;
}

const cough = (call: RecordedCall) => call.send({ type: "speechStarted", voiceAgoMs: undefined });

function count(call: RecordedCall, type: "pauseOutput" | "resumeAudio"): number {
  return call.effects.filter((effect) => effect.type === type).length;
}

test("audio stands still for 1,200 ms from the first voice on, however many follow", () => {
  const call = openCall();
  answer(call);
  call.clock.advance(1_000);
  cough(call);
  call.clock.advance(1_000);
  cough(call);
  assert.equal(count(call, "pauseOutput"), 1);
  call.clock.advance(199);
  assert.equal(count(call, "resumeAudio"), 0);
  call.clock.advance(1);
  assert.equal(count(call, "resumeAudio"), 1);
});

test("nothing stands still for a voice once all has been heard, though the telephone has not said so", () => {
  for (const [afterMs, held] of [
    [ANSWER_MS - 1, 1],
    [ANSWER_MS, 0],
    [ANSWER_MS + 100, 0],
  ] as const) {
    const call = openCall();
    answer(call);
    call.clock.advance(afterMs);
    cough(call);
    assert.equal(count(call, "pauseOutput"), held, `${afterMs} ms`);
  }
});

test("an answer is held for nothing once, and after three answers in a row only words stop the agent", () => {
  const call = openCall();
  const heldIn = [1, 2, 3, 4].map(() => {
    const turnId = answer(call);
    const before = count(call, "pauseOutput");
    call.clock.advance(500);
    cough(call);
    call.clock.advance(1_200);
    cough(call);
    call.clock.advance(500);
    call.send({ type: "sentencePlayed", turnId, index: 0 });
    return count(call, "pauseOutput") - before;
  });
  assert.deepEqual(heldIn, [1, 1, 1, 0]);
});

test("a caller whose words have stopped the agent stops it with a voice again", () => {
  const call = openCall();
  for (const _ of [1, 2, 3]) {
    const turnId = answer(call);
    call.clock.advance(500);
    cough(call);
    call.clock.advance(1_700);
    call.send({ type: "sentencePlayed", turnId, index: 0 });
  }
  assert.equal(call.actor.state.falseInterruptions, 3);
  answer(call);
  call.clock.advance(500);
  const heard = { isFinal: true, speechFinal: true, lastWordEndMs: undefined, endedAgoMs: 0 };
  call.send({ type: "transcript", text: "what about breakfast then", ...heard });
  assert.equal(call.actor.state.falseInterruptions, 0);
});
