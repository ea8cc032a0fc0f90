import assert from "node:assert/strict";
import { test } from "node:test";
import { VoicePaces } from "../../../engine/conversation/speech-cache.js";
import { PLAIN_SETTINGS, RecordedCall } from "../../doubles/recorded-call.js";

const VOICES_MAX = 1_024;
const VOICE_MS_PER_CHAR = 65;

const TEXT = "The first table by the window is free tomorrow.";

test("a voice has the pace of what it said, and one sentence of numbers changes little", () => {
  const paces = new VoicePaces();
  assert.equal(paces.of("fast"), VOICE_MS_PER_CHAR);
  paces.record("fast", TEXT, TEXT.length * 40);
  assert.equal(paces.of("fast"), 40);
  paces.record("fast", "Yes.", 4_000);
  assert.equal(paces.of("fast"), 40);
  paces.record("fast", TEXT, TEXT.length * 120);
  assert.equal(paces.of("fast"), 50);
  assert.equal(paces.of("other"), VOICE_MS_PER_CHAR);
});

test("the number of voices is limited: the one that has not spoken for longest is dropped", () => {
  const paces = new VoicePaces();
  paces.record("first", TEXT, TEXT.length * 40);
  for (let voice = 1; voice < VOICES_MAX; voice += 1) paces.record(`${voice}`, TEXT, 3_000);
  assert.equal(paces.of("first"), 40);
  for (let voice = 1; voice <= VOICES_MAX; voice += 1) paces.record(`new ${voice}`, TEXT, 3_000);
  assert.equal(paces.of("first"), VOICE_MS_PER_CHAR);
});

test("the first sentence of a call is counted by the pace that its voice had in the calls before", () => {
  const restAt = (voiceMsPerChar: number) => {
    const call = new RecordedCall(PLAIN_SETTINGS, [], voiceMsPerChar);
    call.send({ type: "opened", resumed: true });
    call.send({ type: "written", text: "is there one free" });
    const turnId = call.turn?.id ?? 0;
    call.send({ type: "replyToken", turnId, text: `${TEXT} ` });
    call.send({ type: "replyDone", turnId, tokens: 5 });
    call.send({ type: "sentenceGrew", turnId, index: 0, durationMs: 700, firstByteAtMs: 0 });
    call.takeLines();
    call.send({ type: "sentenceFailed", turnId, index: 0, retryable: true });
    return call.takeLines()[0];
  };
  assert.equal(restAt(40), 'synthesize #1.0 "by the window is free tomorrow."');
  assert.equal(
    restAt(VOICE_MS_PER_CHAR),
    'synthesize #1.0 "table by the window is free tomorrow."',
  );
});
