import assert from "node:assert/strict";
import { test } from "node:test";
import { MULAW_8K, PCM_24K } from "../../../../engine/audio/audio-format.js";
import type { SpeechFormat, SpokenWord } from "../../../../engine/vendors/contracts.js";
import { contextDialect } from "../../../../engine/vendors/elevenlabs/elevenlabs.js";

const REQUEST = { text: "ok", modelId: "eleven_flash_v2_5", speed: 1, language: "en-US" };

function wordsOf(format: SpeechFormat, ...messages: readonly object[]): readonly SpokenWord[] {
  const reader = contextDialect("voice", {}).newReader("one", { ...REQUEST, format });
  return messages
    .flatMap((message) => reader.text(JSON.stringify({ context_id: "one", ...message })))
    .flatMap((said) => (said.kind === "words" ? said.words : []));
}

/** 100 ms of silence. */
const AUDIO = Buffer.alloc(4_800).toString("base64");

test("words are joined from their characters, over pieces of audio, and reported when they have ended", () => {
  const first = {
    chars: ["a", "b", " ", "c"],
    charStartTimesMs: [0, 20, 40, 50.4],
    charDurationsMs: [20, 20.4, 10, 30],
  };
  const second = {
    chars: ["d", " ", " ", "e"],
    charsStartTimesMs: [10, 30, 40, 50],
    charsDurationsMs: [20, 10, 10, 40],
  };
  const messages = [
    { audio: AUDIO, alignment: first },
    { audio: AUDIO, alignment: second },
    { is_final: true },
  ];
  assert.deepEqual(wordsOf(PCM_24K, ...messages), [
    { text: "ab", startMs: 0, endMs: 40 },
    { text: "cd", startMs: 50, endMs: 130 },
    { text: "e", startMs: 150, endMs: 190 },
  ]);
});

test("a character without a time is at the beginning of its piece of audio", () => {
  const messages = [
    { audio: AUDIO, alignment: { chars: ["a", " "] } },
    { alignment: { chars: ["b"] } },
    { isFinal: true },
  ];
  assert.deepEqual(wordsOf(PCM_24K, ...messages), [
    { text: "a", startMs: 0, endMs: 0 },
    { text: "b", startMs: 100, endMs: 100 },
  ]);
  assert.deepEqual(wordsOf(MULAW_8K, { alignment: null }, { isFinal: false }), []);
});

test("a sentence is a context that is opened, flushed and closed on the voice's socket", () => {
  const dialect = contextDialect("a/b", { stability: 0.3 });
  const request = { ...REQUEST, format: MULAW_8K };
  assert.equal(
    dialect.target(request),
    "/v1/text-to-speech/a%2Fb/multi-stream-input?model_id=eleven_flash_v2_5" +
      "&output_format=ulaw_8000&language_code=en&auto_mode=true&sync_alignment=true" +
      "&inactivity_timeout=60",
  );
  assert.deepEqual(
    dialect.frames(request, "one").map((frame) => JSON.parse(frame)),
    [
      { text: " ", context_id: "one", voice_settings: { stability: 0.3, speed: 1 } },
      { text: "ok ", context_id: "one", flush: true },
      { context_id: "one", close_context: true },
    ],
  );
});

test("what cannot be read is a bad answer, and binary messages are none", () => {
  const reader = contextDialect("voice", {}).newReader("one", { ...REQUEST, format: PCM_24K });
  assert.deepEqual(reader.text("[{"), [
    { kind: "failed", fault: "badAnswer", message: "unreadable answer" },
  ]);
  assert.deepEqual(reader.binary(Buffer.of(1)), []);
});
