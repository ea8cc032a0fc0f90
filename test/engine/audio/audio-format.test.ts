import assert from "node:assert/strict";
import { test } from "node:test";
import {
  bytesOfMs,
  bytesPerMs,
  durationMsOf,
  frameBytesOf,
  isSameFormat,
  MP3,
  MULAW_8K,
  PCM_8K,
  PCM_16K,
  PCM_24K,
  type RawFormat,
  silenceOf,
} from "../../../engine/audio/audio-format.js";

const ALAW_8K: RawFormat = { encoding: "alaw", sampleRateHz: 8_000 };
const CD: RawFormat = { encoding: "pcm16be", sampleRateHz: 44_100 };

test("bytes tell how long audio sounds, at every rate", () => {
  const formats = [MULAW_8K, ALAW_8K, PCM_8K, PCM_16K, PCM_24K, CD];
  assert.deepEqual(formats.map(bytesPerMs), [8, 8, 16, 32, 48, 88.2]);
  assert.deepEqual(formats.map(frameBytesOf), [160, 160, 320, 640, 960, 1_764]);
  const second = new Uint8Array(88_200);
  assert.equal(durationMsOf(second, CD), 1_000);
  assert.equal(durationMsOf(second, MULAW_8K), 11_025);
});

test("silence is as long as it is to be, and of its encoding's own byte", () => {
  const silences: readonly (readonly [RawFormat, number, number])[] = [
    [MULAW_8K, 80, 0xff],
    [ALAW_8K, 80, 0xd5],
    [PCM_16K, 320, 0],
    [CD, 882, 0],
  ];
  for (const [format, sizeBytes, byte] of silences) {
    assert.deepEqual(silenceOf(format, 10), new Uint8Array(sizeBytes).fill(byte));
  }
  assert.equal(silenceOf(CD, 1).byteLength, 88, "whole samples");
  assert.equal(bytesOfMs(MULAW_8K, 0.1), 1);
});

test("formats are the same by what they are, also after they went to another thread", () => {
  assert.ok(isSameFormat(PCM_24K, structuredClone(PCM_24K)));
  assert.ok(!isSameFormat(PCM_24K, PCM_16K));
  assert.ok(!isSameFormat(MULAW_8K, ALAW_8K));
  assert.ok(!isSameFormat(PCM_24K, MP3));
});
