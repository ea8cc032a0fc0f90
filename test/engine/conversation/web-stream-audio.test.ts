import assert from "node:assert/strict";
import { test } from "node:test";
import {
  MP3,
  MULAW_8K,
  PCM_8K,
  PCM_16K,
  PCM_24K,
  type RawFormat,
} from "../../../engine/audio/audio-format.js";
import type { AudioPool } from "../../../engine/audio/audio-pool.js";
import { phoneAudio, WEB_AUDIO, webStreamAudio } from "../../../engine/conversation/leg-audio.js";
import type { SpeechFormat } from "../../../engine/vendors/contracts.js";
import { ScriptedVoice } from "../../doubles/scripted-voice.js";

const noPool = (): AudioPool => assert.fail("nothing is to be converted");

function formatOf(line: RawFormat, formats: readonly SpeechFormat[]) {
  const client = Object.assign(new ScriptedVoice(), { formats });
  return webStreamAudio(line, noPool).sentenceFormat(client);
}

test("TTS is asked for the client's format, or for the one with the least work", () => {
  const asked = (line: RawFormat, formats: readonly SpeechFormat[]) =>
    formatOf(line, formats).request;
  assert.equal(asked(PCM_24K, [MP3, MULAW_8K, PCM_24K]), PCM_24K);
  assert.equal(asked(PCM_24K, [MP3, MULAW_8K]), MP3);
  assert.equal(asked(PCM_16K, [MP3, MULAW_8K, PCM_24K]), PCM_24K);
  assert.equal(asked(MULAW_8K, [MP3, MULAW_8K, PCM_24K]), MULAW_8K);
  assert.equal(asked(MULAW_8K, [MP3, PCM_24K]), PCM_24K);
  assert.equal(asked(MULAW_8K, [MP3]), MP3);
});

test("each encoding has its own speech in the cache", () => {
  const names = [PCM_24K, PCM_16K, MULAW_8K, PCM_8K].map((line) => formatOf(line, [MP3]).name);
  assert.equal(new Set([...names, "mp3"]).size, 5);
});

test("PCM passes as it comes, in whole samples and with its length", async () => {
  const pieces: string[] = [];
  const listener = {
    onPiece: (audio: Uint8Array, durationMs: number) =>
      pieces.push(`${audio.byteLength} bytes, ${durationMs} ms`),
    onBroken: () => assert.fail("nothing can break"),
  };
  const { signal } = new AbortController();
  const converter = formatOf(PCM_24K, [PCM_24K]).open(listener, signal);
  converter.write(new Uint8Array(4_801));
  converter.write(new Uint8Array(4_799));
  converter.write(new Uint8Array(1));
  await converter.end();
  assert.deepEqual(pieces, ["4800 bytes, 100 ms", "4800 bytes, 100 ms", "0 bytes, 0 ms"]);
});

test("µ-law passes as it comes, every byte of it", () => {
  const pieces: string[] = [];
  const listener = {
    onPiece: (audio: Uint8Array, durationMs: number) =>
      pieces.push(`${audio.byteLength} bytes, ${durationMs} ms`),
    onBroken: () => assert.fail("nothing can break"),
  };
  const { signal } = new AbortController();
  const converter = formatOf(MULAW_8K, [MULAW_8K]).open(listener, signal);
  converter.write(new Uint8Array(161));
  assert.deepEqual(pieces, ["161 bytes, 20.125 ms"]);
});

test("only a telephone's audio is paced by the server", () => {
  const lines = [WEB_AUDIO, webStreamAudio(PCM_24K, noPool), phoneAudio(MULAW_8K, noPool)];
  assert.deepEqual(
    lines.map(({ isPaced }) => isPaced),
    [false, false, true],
  );
});
