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

test("what was held is heard that much later", () => {
  const call = openCall();
  const turnId = answer(call);
  call.clock.advance(1_000);
  cough(call);
  call.clock.advance(1_200);
  assert.equal(call.turn?.ledger.endsAtMs, ANSWER_MS + 1_200);
  call.clock.advance(2_000);
  assert.equal(call.turn?.id, turnId);
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

test("a mark of a sentence that was not sent yet says nothing", () => {
  const call = openCall();
  call.send({ type: "written", text: "what do you offer" });
  call.send({ type: "replyToken", turnId: 1, text: "We have three rooms. Each has a bath. " });
  call.send({ type: "sentenceWhole", turnId: 1, index: 0, durationMs: 900, firstByteAtMs: 0 });
  call.clock.advance(500);
  const { state } = call.actor;
  call.takeLines();
  call.send({ type: "sentencePlayed", turnId: 1, index: 1 });
  assert.deepEqual(call.takeLines(), []);
  assert.equal(call.actor.state, state);
});

test("what was sent ahead of a hold is heard in spite of it: the sound has stood still since its mark", () => {
  const call = openCall();
  call.send({ type: "written", text: "what do you offer" });
  call.send({ type: "replyToken", turnId: 1, text: "We have three rooms. Each has a bath. " });
  call.send({ type: "replyDone", turnId: 1, tokens: 5 });
  for (const index of [0, 1]) {
    call.send({ type: "sentenceWhole", turnId: 1, index, durationMs: 1_000, firstByteAtMs: 0 });
  }
  call.clock.advance(900);
  cough(call);
  assert.equal(call.actor.state.outputPausedAtMs, 900);
  call.clock.advance(150);
  call.send({ type: "sentencePlayed", turnId: 1, index: 0 });
  assert.equal(call.actor.state.outputPausedAtMs, 1_050);
});
