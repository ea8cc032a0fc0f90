import assert from "node:assert/strict";
import { test } from "node:test";
import { stockPhrases } from "../../../engine/conversation/lexicon.js";
import { PLAIN_SETTINGS, RecordedCall } from "../../doubles/recorded-call.js";

const SETTINGS = { ...PLAIN_SETTINGS, sensitivity: "high" } as const;

const cough = (call: RecordedCall) => call.send({ type: "speechStarted", voiceAgoMs: undefined });

const synthesized = (call: RecordedCall) =>
  call.effects.flatMap((effect) =>
    effect.type === "synthesize" ? [`${effect.index} ${effect.text}`] : [],
  );

function answering(texts: string): RecordedCall {
  const call = new RecordedCall(SETTINGS);
  call.send({ type: "opened", resumed: true });
  call.send({ type: "written", text: "what do you offer" });
  call.send({ type: "replyToken", turnId: 1, text: texts });
  call.send({ type: "replyDone", turnId: 1, tokens: 5 });
  return call;
}

function play(call: RecordedCall, index: number, durationMs: number): void {
  const firstByteAtMs = call.clock.monotonicMs();
  call.send({ type: "sentenceWhole", turnId: 1, index, durationMs, firstByteAtMs });
}

/** What the agent is heard to say, from the beginning, when the caller's client has played all. */
function heardAfter(call: RecordedCall): string {
  call.clock.advance(20_000);
  return call.takeLines().findLast((line) => line.startsWith("send assistant final")) ?? "";
}

test("if a voice stops the agent, the rest of its sentence and later ones are said again after the heard part", () => {
  const call = answering("We have three rooms. Each has a bath.");
  play(call, 0, 2_000);
  play(call, 1, 2_000);
  call.clock.advance(1_100);
  cough(call);
  const again = synthesized(call).slice(2);
  assert.deepEqual(again, ["1 three rooms.", "2 Each has a bath."]);
  assert.ok(call.effects.some(({ type }) => type === "dropAudio"));
  assert.equal(call.actor.state.record.metrics.interruptions, 1);
  call.clock.advance(1_200);
  play(call, 1, 1_000);
  play(call, 2, 2_000);
  assert.match(heardAfter(call), /"We have three rooms. Each has a bath."/);
});

test("a sentence that was stopped before its first word is said again whole, under its number", () => {
  const call = answering("We have three rooms. Each has a bath.");
  play(call, 0, 2_000);
  call.clock.advance(50);
  cough(call);
  assert.deepEqual(synthesized(call).slice(2), ["0 We have three rooms.", "1 Each has a bath."]);
});

/** A call whose agent has said "One moment." when the model answers. */
function answeringBehindWord(reply: string): RecordedCall {
  const phrases = stockPhrases("en");
  const call = new RecordedCall({ ...SETTINGS, phrases, fillerAfterMs: 1_500 });
  call.send({ type: "opened", resumed: true });
  call.send({ type: "phraseReady", text: "One moment.", durationMs: 1_000 });
  call.send({ type: "written", text: "what do you offer" });
  call.clock.advance(1_600);
  call.send({ type: "replyToken", turnId: 1, text: reply });
  call.send({ type: "replyDone", turnId: 1, tokens: 5 });
  return call;
}

test("sentences after a filler that was stopped in its middle keep their numbers, and the filler is not repeated", () => {
  const call = answeringBehindWord("We have three rooms. ");
  call.clock.advance(500);
  cough(call);
  assert.deepEqual(synthesized(call), ["0 We have three rooms.", "0 We have three rooms."]);
  call.clock.advance(1_200);
  play(call, 0, 2_000);
  assert.match(heardAfter(call), /"One We have three rooms."/);
});

test("sentences after a filler that was heard in full and one of the answer keep their numbers", () => {
  const call = answeringBehindWord("We have three rooms. Each has a bath. ");
  play(call, 0, 2_000);
  call.clock.advance(1_950);
  cough(call);
  assert.deepEqual(synthesized(call).slice(2), ["1 three rooms.", "2 Each has a bath."]);
});

test("a goodbye is not stopped by a voice, and neither is an agent that only words interrupt", () => {
  const tools = [{ kind: "hangup", name: "hangup" }] as const;
  for (const sensitivity of ["high", "medium", "low"] as const) {
    const call = new RecordedCall({ ...SETTINGS, sensitivity, tools });
    call.send({ type: "opened", resumed: true });
    call.send({ type: "written", text: "that is all" });
    call.send({ type: "replyToken", turnId: 1, text: "Goodbye then." });
    const toolCalls = [{ id: "a", name: "hangup", argumentsJson: "{}" }];
    const isGoodbye = sensitivity === "high";
    call.send({ type: "replyDone", turnId: 1, tokens: 5, ...(isGoodbye ? { toolCalls } : {}) });
    play(call, 0, 2_000);
    call.clock.advance(500);
    cough(call);
    assert.equal(call.actor.state.outputPausedAtMs, undefined, sensitivity);
  }
});
