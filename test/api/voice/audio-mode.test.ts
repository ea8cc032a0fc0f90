import assert from "node:assert/strict";
import { test } from "node:test";
import { audioModeOf } from "../../../api/voice/audio-mode.js";

test("whole sentences are the default, and the stream is an option", () => {
  for (const audio of [undefined, ""]) {
    for (const encoding of [undefined, "", "mulaw", "nonsense"]) {
      assert.deepEqual(audioModeOf(audio, encoding), { type: "sentences" });
    }
  }
  assert.deepEqual(audioModeOf("stream", undefined), { type: "stream", encoding: "pcm24k" });
  assert.deepEqual(audioModeOf("stream", ""), { type: "stream", encoding: "pcm24k" });
  assert.deepEqual(audioModeOf("stream", "mulaw"), { type: "stream", encoding: "mulaw" });
});

test("unknown values are refused by name", () => {
  for (const audio of ["STREAM", "mp3", "streams"]) {
    const fault = 'audio: expected "stream", or nothing';
    assert.deepEqual(audioModeOf(audio, undefined), { type: "unknown", fault });
  }
  for (const encoding of ["opus", "PCM24K", "__proto__", "toString"]) {
    const fault = 'encoding: expected one of "pcm24k", "pcm16k", "mulaw"';
    assert.deepEqual(audioModeOf("stream", encoding), { type: "unknown", fault });
  }
});
