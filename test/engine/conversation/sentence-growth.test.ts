import assert from "node:assert/strict";
import { test } from "node:test";
import { PLAIN_SETTINGS, RecordedCall } from "../../doubles/recorded-call.js";

test("a failure of a sentence that is whole, or was never requested, changes nothing", () => {
  const call = new RecordedCall(PLAIN_SETTINGS);
  call.send({ type: "opened", resumed: true });
  call.send({ type: "written", text: "what time is it" });
  const turnId = call.turn?.id ?? 0;
  call.send({ type: "replyToken", turnId, text: "It is ten." });
  call.send({ type: "replyDone", turnId, tokens: 5 });
  const firstByteAtMs = call.clock.monotonicMs();
  call.send({ type: "sentenceWhole", turnId, index: 0, durationMs: 900, firstByteAtMs });
  const before = structuredClone(call.turn);
  call.takeLines();
  for (const index of [0, 1]) {
    for (const retryable of [true, false]) {
      call.send({ type: "sentenceFailed", turnId, index, retryable });
    }
  }
  assert.deepEqual(call.takeLines(), []);
  assert.deepEqual(call.turn, before);
  assert.deepEqual(call.crashes, []);
});

test("audio or a failure of a sentence that was not requested yet changes nothing", () => {
  const call = new RecordedCall(PLAIN_SETTINGS);
  call.send({ type: "opened", resumed: true });
  call.send({ type: "written", text: "what do you offer" });
  const turnId = call.turn?.id ?? 0;
  call.send({ type: "replyToken", turnId, text: "One is here. Two is there. Three is gone." });
  call.send({ type: "replyDone", turnId, tokens: 5 });
  const before = structuredClone(call.turn);
  assert.equal(before?.sentences.length, 3);
  call.takeLines();
  const audio = { turnId, index: 2, durationMs: 900, firstByteAtMs: 0 };
  call.send({ type: "sentenceGrew", ...audio });
  call.send({ type: "sentenceWhole", ...audio });
  call.send({ type: "sentenceFailed", turnId, index: 2, retryable: true });
  assert.deepEqual(call.takeLines(), []);
  assert.deepEqual(call.turn, before);
});

test("a look at the growth of a sentence that has become whole finds nothing to do", () => {
  const call = new RecordedCall({ ...PLAIN_SETTINGS, isStreamed: true });
  call.send({ type: "opened", resumed: true });
  call.send({ type: "written", text: "what time is it" });
  const turnId = call.turn?.id ?? 0;
  call.send({ type: "replyToken", turnId, text: "It is ten." });
  call.send({ type: "replyDone", turnId, tokens: 5 });
  call.send({ type: "sentenceWhole", turnId, index: 0, durationMs: 900, firstByteAtMs: 0 });
  const before = structuredClone(call.turn);
  call.takeLines();
  call.reach("underrun");
  assert.deepEqual(call.takeLines(), []);
  assert.deepEqual(call.turn, before);
});

test("the first millisecond of a sentence is sound that has come", () => {
  const call = new RecordedCall({ ...PLAIN_SETTINGS, isStreamed: true });
  call.send({ type: "opened", resumed: true });
  call.send({ type: "written", text: "what time is it" });
  call.send({ type: "replyToken", turnId: 1, text: "It is ten." });
  call.send({ type: "replyDone", turnId: 1, tokens: 5 });
  call.clock.advance(300);
  call.send({ type: "sentenceGrew", turnId: 1, index: 0, durationMs: 1, firstByteAtMs: 290 });
  assert.equal(call.turn?.sentences[0]?.grewAtMs, 300);
});

test("word times are those that TTS reported", () => {
  const call = new RecordedCall({ ...PLAIN_SETTINGS, isStreamed: true });
  call.send({ type: "opened", resumed: true });
  call.send({ type: "written", text: "what time is it" });
  call.send({ type: "replyToken", turnId: 1, text: "It is ten." });
  call.send({ type: "replyDone", turnId: 1, tokens: 5 });
  const words = [
    { text: "It", endMs: 150 },
    { text: "is", endMs: 300 },
  ];
  const grew = { type: "sentenceGrew", turnId: 1, index: 0, firstByteAtMs: 0 } as const;
  call.send({ ...grew, durationMs: 400, words });
  assert.deepEqual(call.turn?.sentences[0]?.marks, [
    { end: 2, atMs: 150 },
    { end: 5, atMs: 300 },
  ]);
});
