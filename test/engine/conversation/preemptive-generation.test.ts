import assert from "node:assert/strict";
import { test } from "node:test";
import { PLAIN_SETTINGS, RecordedCall } from "../../doubles/recorded-call.js";

const HEARD = { isFinal: true, speechFinal: false, lastWordEndMs: undefined } as const;

function callWithPreemptiveReply() {
  const call = new RecordedCall({ ...PLAIN_SETTINGS, preemptiveGeneration: true });
  call.send({ type: "opened", resumed: true });
  call.send({ type: "transcript", text: "what do you offer", ...HEARD, endedAgoMs: 150 });
  return call;
}

test("only the reply without room is dropped, and no preemptive one follows it", () => {
  const call = callWithPreemptiveReply();
  const turnId = call.preemptiveReply?.turnId ?? 0;
  call.send({ type: "preemptiveRefused", turnId: turnId - 1 });
  assert.equal(call.preemptiveReply?.turnId, turnId);
  call.send({ type: "preemptiveRefused", turnId });
  assert.equal(call.preemptiveReply, undefined);
  call.send({ type: "transcript", text: "and when", ...HEARD, endedAgoMs: 150 });
  assert.equal(call.preemptiveReply, undefined);
});

test("4,000 characters of a preemptive reply are kept, and the token that reaches them", () => {
  const call = callWithPreemptiveReply();
  const turnId = call.preemptiveReply?.turnId ?? 0;
  for (const chars of [3_999, 1, 1]) {
    call.send({ type: "replyToken", turnId, text: "x".repeat(chars) });
  }
  assert.equal(call.preemptiveReply?.text.length, 4_000);
});

test("a dictating caller gets no preemptive reply, unless STT expects the turn to end", () => {
  const call = new RecordedCall({ ...PLAIN_SETTINGS, preemptiveGeneration: true });
  call.send({ type: "opened", resumed: true });
  call.send({ type: "transcript", text: "my number is five five", ...HEARD, endedAgoMs: 150 });
  const answered = () => call.preemptiveReply?.userText;
  assert.equal(answered(), undefined);
  call.send({ type: "callerTurnEnding" });
  assert.equal(answered(), "my number is five five");
});

test("a voice of less than 150 ms ago may be going on: the reply is begun when it is as old", () => {
  const startedAfter = (voiceAgoMs: number) => {
    const call = new RecordedCall({ ...PLAIN_SETTINGS, preemptiveGeneration: true });
    call.send({ type: "opened", resumed: true });
    call.send({ type: "transcript", text: "what do you offer", ...HEARD, endedAgoMs: 100 });
    call.takeLines();
    call.reach("preemptiveGeneration", { voiceAgoMs });
    return call.takeLines().filter((line) => line !== "no deadline preemptiveGeneration");
  };
  assert.deepEqual([0, 149, 149.5, 150].map(startedAfter), [
    ["deadline preemptiveGeneration in 150"],
    ["deadline preemptiveGeneration in 1"],
    ['ask early #1: user "what do you offer"'],
    ['ask early #1: user "what do you offer"'],
  ]);
});

/** The agent has just said something on its own; the caller only says a backchannel. */
function agreeingCall(backchannels: "ignore" | "reply"): RecordedCall {
  const greeting = "We have three rooms with a view of the lake.";
  const settings = { ...PLAIN_SETTINGS, greeting, backchannels, preemptiveGeneration: true };
  const call = new RecordedCall(settings);
  call.send({ type: "opened", resumed: false });
  const sound = { turnId: 1, index: 0, durationMs: 3_000, firstByteAtMs: 0 };
  call.send({ type: "sentenceWhole", ...sound });
  call.clock.advance(3_400);
  call.send({ type: "transcript", text: "uh-huh", ...HEARD, endedAgoMs: 200 });
  return call;
}

test("the passages of a preemptive reply count as wasted with it, and go with it into the turn", () => {
  const wastedBy = (chars: number) => {
    const call = callWithPreemptiveReply();
    call.send({ type: "passagesAdded", turnId: call.preemptiveReply?.turnId ?? 0, chars });
    call.send({ type: "callerTurnResumed" });
    return call.actor.state.record.metrics.totalTokens;
  };
  assert.equal(wastedBy(4_000) - wastedBy(0), 1_000);
  const call = callWithPreemptiveReply();
  call.send({ type: "passagesAdded", turnId: call.preemptiveReply?.turnId ?? 0, chars: 400 });
  call.send({ type: "callerTurnEnded" });
  assert.equal(call.turn?.passagesChars, 400);
});

test("words that get no answer get none early, and those that get one do", () => {
  assert.equal(agreeingCall("ignore").preemptiveReply, undefined);
  assert.equal(agreeingCall("reply").preemptiveReply?.userText, "uh-huh");
});

test("a recognizer that decides turns itself says when one is ending: no words of it are answered before", () => {
  const call = new RecordedCall({ ...PLAIN_SETTINGS, preemptiveGeneration: true });
  call.send({ type: "opened", resumed: true });
  const heard = { ...HEARD, endedAgoMs: 200, hasTurnDetection: true } as const;
  call.send({ type: "transcript", text: "what do you offer", ...heard });
  const answered = () => call.preemptiveReply?.userText;
  assert.equal(answered(), undefined);
  call.send({ type: "callerTurnEnding" });
  assert.equal(answered(), "what do you offer");
});

test("no reply is begun early to words that are still guessed at, to keys, or where it is not wanted", () => {
  const pressing = new RecordedCall({ ...PLAIN_SETTINGS, preemptiveGeneration: true });
  pressing.send({ type: "opened", resumed: true });
  pressing.send({ type: "digit", digit: "1" });
  const unwanted = new RecordedCall(PLAIN_SETTINGS);
  unwanted.send({ type: "opened", resumed: true });
  for (const call of [pressing, unwanted]) {
    call.send({ type: "transcript", text: "what do you offer", ...HEARD, endedAgoMs: 200 });
  }
  const guessing = callWithPreemptiveReply();
  guessing.send({ type: "preemptiveRefused", turnId: -1 });
  const guess = { ...HEARD, isFinal: false, endedAgoMs: 0 };
  guessing.send({ type: "transcript", text: "and when", ...guess });
  guessing.reach("preemptiveGeneration", { voiceAgoMs: 200 });
  for (const call of [pressing, unwanted, guessing]) {
    assert.equal(call.preemptiveReply, undefined);
  }
});
