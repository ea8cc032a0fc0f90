import assert from "node:assert/strict";
import { test } from "node:test";
import { wordsInterrupt } from "../../../engine/conversation/barge-in.js";
import { PLAIN_SETTINGS, RecordedCall } from "../../doubles/recorded-call.js";

test("one word stops the agent, and an agent that is hard to interrupt two", () => {
  const stopping = (["high", "medium", "low"] as const).map((sensitivity) =>
    [0, 1, 2].filter((words) => wordsInterrupt(sensitivity, words)),
  );
  assert.deepEqual(stopping, [[1, 2], [1, 2], [2]]);
});

const GUESSED = { isFinal: false, speechFinal: false, lastWordEndMs: undefined, endedAgoMs: 0 };

/** The agent was stopped in the middle of its greeting at 1,000 ms by words that are still being guessed at. */
function stoppedCall() {
  const call = new RecordedCall({ ...PLAIN_SETTINGS, greeting: "Hello, this is the hotel." });
  call.send({ type: "opened", resumed: false });
  const sound = { turnId: 1, index: 0, durationMs: 3_000, firstByteAtMs: 0 };
  call.send({ type: "sentenceWhole", ...sound });
  call.clock.advance(1_000);
  call.send({ type: "transcript", text: "wait a minute", ...GUESSED });
  return call;
}

test("the agent goes on two and a half seconds after words that were taken back, however long they were believed", () => {
  const call = stoppedCall();
  const saying = () => call.turn?.kind;
  call.clock.advance(2_500);
  assert.equal(saying(), undefined);
  call.send({ type: "transcript", ...GUESSED, text: "", isFinal: true });
  call.clock.advance(2_499);
  assert.equal(saying(), undefined);
  call.clock.advance(1);
  assert.equal(saying(), "resumed");
});

test("who stops the agent and is answered has interrupted it once, and it does not go on with what it was saying", () => {
  const call = stoppedCall();
  call.send({ type: "transcript", text: "wait a minute", ...GUESSED, isFinal: true });
  call.clock.advance(2_600);
  assert.equal(call.actor.state.record.metrics.interruptions, 1);
  assert.equal(call.turn?.kind, "reply");
  assert.deepEqual(call.actor.state.cut.sentences, []);
});
