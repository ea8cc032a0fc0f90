import assert from "node:assert/strict";
import { test } from "node:test";
import { MULAW_8K, PCM_16K } from "../../../../engine/audio/audio-format.js";
import { encodeMulaw } from "../../../../engine/audio/mulaw.js";
import { isQuiet } from "../../../../engine/vendors/stt-stream/audio-feed.js";

function isQuietSample(sample: number): boolean {
  return isQuiet(new Uint8Array(Int16Array.of(0, sample).buffer), PCM_16K);
}

test("a sample of 16 bits is quiet from -256 to 255", () => {
  assert.deepEqual([-256, -1, 0, 255].map(isQuietSample), [true, true, true, true]);
  assert.deepEqual([-257, 256, 32_767, -32_768].map(isQuietSample), [false, false, false, false]);
  assert.ok(isQuiet(new Uint8Array(3), PCM_16K), "half a sample says nothing");
});

test("a sample of µ-law is quiet up to the same loudness, on both sides", () => {
  for (const code of [0xff, 0xff - 23, 0x7f, 0x7f - 23]) {
    assert.ok(isQuiet(Uint8Array.of(0xff, code), MULAW_8K), `${code}`);
  }
  for (const code of [0xff - 24, 0x7f - 24, 0x80, 0x00]) {
    assert.ok(!isQuiet(Uint8Array.of(0xff, code), MULAW_8K), `${code}`);
  }
  const loud = encodeMulaw(Int16Array.of(1_000, -1_000));
  assert.ok(!isQuiet(loud, MULAW_8K));
});
