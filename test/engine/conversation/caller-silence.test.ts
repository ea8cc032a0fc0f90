import assert from "node:assert/strict";
import { test } from "node:test";
import { stockPhrases } from "../../../engine/conversation/lexicon.js";
import type { ConversationSettings } from "../../../engine/conversation/state.js";
import { PLAIN_SETTINGS, RecordedCall } from "../../doubles/recorded-call.js";

const SETTINGS: ConversationSettings = {
  ...PLAIN_SETTINGS,
  phrases: stockPhrases("en"),
  idleTimeoutMs: 8_000,
};

function quietCall(settings = SETTINGS): RecordedCall {
  const call = new RecordedCall(settings);
  call.send({ type: "opened", resumed: true });
  return call;
}

const saying = (call: RecordedCall) => call.turn?.kind;

/** The timer of the caller's silence fires, whose voice was heard so long ago. */
function fire(call: RecordedCall, voiceAgoMs?: number): readonly string[] {
  call.takeLines();
  call.reach("idle", { voiceAgoMs });
  return call.takeLines();
}

test("nobody is asked where the agent says nothing by itself, or lets any silence pass", () => {
  for (const settings of [
    { ...SETTINGS, phrases: undefined },
    { ...SETTINGS, idleTimeoutMs: 0 },
  ]) {
    assert.ok(!quietCall(settings).pendingDeadlines.includes("idle"));
  }
});

test("a voice of a moment ago is waited for, until it is as long ago as any silence may be", () => {
  assert.deepEqual(fire(quietCall(), 7_999), ["deadline idle in 1"]);
  assert.deepEqual(fire(quietCall(), 500), ["deadline idle in 7500"]);
  const call = quietCall();
  fire(call, 8_000);
  assert.equal(saying(call), "reminder");
});

const GUESSED = { isFinal: false, speechFinal: false, lastWordEndMs: undefined, endedAgoMs: 0 };

test("who is saying something, pressing keys or waiting for an answer is there", () => {
  const speaking = quietCall();
  speaking.send({ type: "transcript", text: "my name is", ...GUESSED });
  const pressing = quietCall();
  pressing.send({ type: "digit", digit: "1" });
  for (const call of [speaking, pressing]) {
    for (const voiceAgoMs of [undefined, 100, 9_000]) {
      assert.deepEqual(fire(call, voiceAgoMs), ["deadline idle in 8000"]);
    }
    assert.equal(saying(call), undefined);
  }
});

test("a question that waits for the caller's next words keeps the agent from asking whether somebody is there", () => {
  const call = quietCall();
  call.send({ type: "written", text: "what time is it" });
  call.send({ type: "transcript", text: "and", ...GUESSED });
  call.send({ type: "transcript", text: "", ...GUESSED, isFinal: true });
  assert.equal(call.actor.state.user.unanswered, "what time is it");
  assert.deepEqual(fire(call), ["deadline idle in 8000"]);
});

test("who is asked twice and then says something is asked twice again", () => {
  const call = quietCall();
  for (const _ of [1, 2]) {
    call.clock.advance(8_000);
    const turnId = call.turn?.id ?? 0;
    const firstByteAtMs = call.clock.monotonicMs();
    call.send({ type: "sentenceWhole", turnId, index: 0, durationMs: 900, firstByteAtMs });
    call.clock.advance(900);
  }
  assert.equal(call.actor.state.user.reminders, 2);
  call.send({ type: "written", text: "hello" });
  assert.equal(call.actor.state.user.reminders, 0);
});
