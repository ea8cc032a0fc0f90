import assert from "node:assert/strict";
import { test } from "node:test";
import { encodeMulaw } from "../../../../engine/audio/mulaw.js";
import { audioFormatOf } from "../../../../engine/vendors/deepgram/audio-format.js";
import { isQuiet } from "../../../../engine/vendors/deepgram/quiet-audio.js";
import { LISTENING } from "./scripted-deepgram.js";

const LINEAR = audioFormatOf(LISTENING);
const MULAW = audioFormatOf({ ...LISTENING, encoding: "mulaw", sampleRateHz: 8_000 });

function isQuietSample(sample: number): boolean {
  return isQuiet(new Uint8Array(Int16Array.of(0, sample).buffer), LINEAR);
}

test("a sample of 16 bits is quiet from -256 to 255", () => {
  assert.deepEqual([-256, -1, 0, 255].map(isQuietSample), [true, true, true, true]);
  assert.deepEqual([-257, 256, 32_767, -32_768].map(isQuietSample), [false, false, false, false]);
  assert.ok(isQuiet(new Uint8Array(3), LINEAR), "half a sample says nothing");
});

test("a sample of µ-law is quiet up to the same loudness, on both sides", () => {
  for (const code of [0xff, 0xff - 23, 0x7f, 0x7f - 23]) {
    assert.ok(isQuiet(Uint8Array.of(0xff, code), MULAW), `${code}`);
  }
  for (const code of [0xff - 24, 0x7f - 24, 0x80, 0x00]) {
    assert.ok(!isQuiet(Uint8Array.of(0xff, code), MULAW), `${code}`);
  }
  const loud = encodeMulaw(Int16Array.of(1_000, -1_000));
  assert.ok(!isQuiet(loud, MULAW));
});
