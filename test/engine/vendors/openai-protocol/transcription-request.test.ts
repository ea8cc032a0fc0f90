import assert from "node:assert/strict";
import { test } from "node:test";
import { type HeardFormat, MULAW_8K, PCM_16K } from "../../../../engine/audio/audio-format.js";
import { transcriptionRequest } from "../../../../engine/vendors/openai-protocol/transcription-request.js";

const AUDIO = new Uint8Array(640).fill(7);

/** The fields of WAV's header behind `fmt `, and where the audio begins. */
function waveOf(format: HeardFormat) {
  const options = { language: "en-US", modelId: "m", endpointingMs: 200, format };
  const { body } = transcriptionRequest(AUDIO, options);
  const at = body.indexOf("RIFF");
  return {
    sizeBytes: body.readUInt32LE(at + 4),
    code: body.readUInt16LE(at + 20),
    channels: body.readUInt16LE(at + 22),
    sampleRateHz: body.readUInt32LE(at + 24),
    bytesPerSec: body.readUInt32LE(at + 28),
    bytesPerFrame: body.readUInt16LE(at + 32),
    bitsPerSample: body.readUInt16LE(at + 34),
    dataBytes: body.readUInt32LE(at + 40),
    audio: body.subarray(at + 44, at + 44 + AUDIO.length),
  };
}

test("an utterance is a recording whose header says how it is to be played", () => {
  const common = { sizeBytes: 676, channels: 1, dataBytes: 640, audio: Buffer.from(AUDIO) };
  assert.deepEqual(waveOf(PCM_16K), {
    ...common,
    code: 1,
    sampleRateHz: 16_000,
    bytesPerSec: 32_000,
    bytesPerFrame: 2,
    bitsPerSample: 16,
  });
  assert.deepEqual(waveOf(MULAW_8K), {
    ...common,
    code: 7,
    sampleRateHz: 8_000,
    bytesPerSec: 8_000,
    bytesPerFrame: 1,
    bitsPerSample: 8,
  });
});
