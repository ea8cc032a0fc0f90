import assert from "node:assert/strict";
import { test } from "node:test";
import { type InputFormat, MULAW_8K, PCM_16K } from "../../../../engine/audio/audio-format.js";
import { transcriptionRequest } from "../../../../engine/vendors/openai-protocol/audio-transcriptions.js";

const AUDIO = new Uint8Array(640).fill(7);

/** The fields of WAV's header after `fmt `, and where the audio begins. */
function waveOf(format: InputFormat) {
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

test("the model and the language have the protocol's field names", () => {
  for (const [language, code] of [
    ["en-US", "en"],
    ["de", "de"],
  ] as const) {
    const options = { language, modelId: "whisper-1", endpointingMs: 200, format: PCM_16K };
    const { body, contentType } = transcriptionRequest(AUDIO, options);
    const [, boundary] = contentType.split("multipart/form-data; boundary=");
    const part = (name: string, rest: string) =>
      `--${boundary}\r\nContent-Disposition: form-data; name="${name}"${rest}`;
    const wave = "RIFF";
    assert.equal(
      body.subarray(0, body.indexOf(wave)).toString(),
      [
        part("model", "\r\n\r\nwhisper-1\r\n"),
        part("language", `\r\n\r\n${code}\r\n`),
        part("response_format", "\r\n\r\njson\r\n"),
        part("file", '; filename="utterance.wav"\r\nContent-Type: audio/wav\r\n\r\n'),
      ].join(""),
    );
    const end = `\r\n--${boundary}--\r\n`;
    assert.equal(body.subarray(-end.length).toString(), end);
    assert.equal(body.length, body.indexOf(wave) + 44 + AUDIO.length + end.length);
  }
});

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
