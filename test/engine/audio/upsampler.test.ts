import assert from "node:assert/strict";
import { test } from "node:test";
import * as fc from "fast-check";
import { newUpsamplerHistory, UPSAMPLER_DELAY, upsample } from "../../../engine/audio/upsampler.js";
import {
  amplitudeAt,
  decibels,
  rounded,
  signalToNoise,
  sincResampled,
  sine,
  sweep,
} from "./measured-sound.js";

const AMPLITUDE = 12_000;

function upsampled(sound: ArrayLike<number>): Int16Array {
  return upsample(rounded(sound), newUpsamplerHistory());
}

/** The steady part, without the filter's start. */
function steady(hz: number): Int16Array {
  return upsampled(sine(hz, 8_000, 2_000, AMPLITUDE)).subarray(400);
}

test("up to 3.4 kHz the level stays within 0.05 dB", () => {
  for (let hz = 100; hz <= 3_400; hz += 100) {
    const change = decibels(amplitudeAt(steady(hz), hz, 16_000) / AMPLITUDE);
    assert.ok(Math.abs(change) < 0.05, `${hz} Hz: ${change} dB`);
  }
});

test("images above 4 kHz are at least 65 dB below what they mirror, up to 3.4 kHz", () => {
  for (let hz = 100; hz <= 3_400; hz += 100) {
    const image = decibels(amplitudeAt(steady(hz), 8_000 - hz, 16_000) / AMPLITUDE);
    assert.ok(image < -65, `${hz} Hz: ${image} dB`);
  }
});

test("a sweep through the band is a long sinc's in float64, 60 dB above the difference", () => {
  const sound = sweep(200, 3_300, 8_000, 4_000);
  const wide = upsampled(sound).subarray(UPSAMPLER_DELAY);
  const ratio = signalToNoise(sincResampled(sound, 8_000, 16_000), wide, 1_000);
  assert.ok(ratio > 60, `${ratio} dB`);
});

test("every sample comes back as it was, and one new between each two", () => {
  const pcm = rounded(sine(1_234, 8_000, 300));
  const wide = upsampled(pcm).subarray(UPSAMPLER_DELAY);
  for (let at = 0; 2 * at < wide.length; at += 1) assert.equal(wide[2 * at], pcm[at]);
});

test("however a signal is cut, the blocks together are the whole, bit for bit", () => {
  fc.assert(
    fc.property(
      fc.int16Array({ maxLength: 3_000, size: "max" }),
      fc.array(fc.integer({ min: 0, max: 700 }), { maxLength: 20 }),
      (pcm, cuts) => {
        const history = newUpsamplerHistory();
        const blocks: number[] = [];
        let from = 0;
        for (const size of [...cuts, pcm.length]) {
          blocks.push(...upsample(pcm.subarray(from, from + size), history));
          from += size;
        }
        assert.deepEqual(Int16Array.from(blocks), upsample(pcm, newUpsamplerHistory()));
        assert.equal(blocks.length, 2 * pcm.length);
      },
    ),
    { numRuns: 60 },
  );
});

test("what overshoots full scale is cut off, not wrapped", () => {
  const square = Int16Array.from({ length: 400 }, (_, at) => (at % 8 < 4 ? 32_767 : -32_768));
  const wide = upsample(square, newUpsamplerHistory()).subarray(200);
  for (let at = 1; at + 1 < wide.length; at += 2) {
    const before = wide[at - 1] ?? 0;
    if (before === wide[at + 1]) assert.equal(Math.sign(wide[at] ?? 0), Math.sign(before));
  }
  assert.ok(wide.includes(32_767) && wide.includes(-32_768));
});

test("silence stays silence", () => {
  assert.deepEqual(upsample(new Int16Array(160), newUpsamplerHistory()), new Int16Array(320));
});
