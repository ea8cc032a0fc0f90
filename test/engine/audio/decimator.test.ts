import assert from "node:assert/strict";
import { test } from "node:test";
import * as fc from "fast-check";
import { DECIMATOR_DELAY, decimate, newDecimatorState } from "../../../engine/audio/decimator.js";
import {
  amplitudeAt,
  decibels,
  rounded,
  signalToNoise,
  sincResampled,
  sine,
  sweep,
} from "./measured-sound.js";
import { resampled } from "./whole-audio.js";

const AMPLITUDE = 12_000;
const FACTORS = [2, 3, 6] as const;

function decimated(sound: ArrayLike<number>, factor: number): Int16Array {
  return decimate(rounded(sound), factor, newDecimatorState(factor));
}

function steady(hz: number, factor: number): Int16Array {
  return decimated(sine(hz, 8_000 * factor, 2_000 * factor, AMPLITUDE), factor).subarray(200);
}

for (const factor of FACTORS) {
  test(`${8 * factor} kHz: flat within 0.15 dB up to 3.4 kHz`, () => {
    for (let hz = 100; hz <= 3_400; hz += 100) {
      const change = decibels(amplitudeAt(steady(hz, factor), hz, 8_000) / AMPLITUDE);
      assert.ok(Math.abs(change) < 0.15, `${hz} Hz: ${change} dB`);
    }
  });

  test(`${8 * factor} kHz: from 4 kHz on nothing folds back, 60 dB down`, () => {
    for (let hz = 4_000; hz < 4_000 * factor; hz += 100) {
      const result = steady(hz, factor);
      const loudest = Math.max(...result.map(Math.abs));
      assert.ok(decibels(loudest / AMPLITUDE) < -60, `${hz} Hz: ${loudest}`);
    }
  });

  test(`${8 * factor} kHz: a sweep is a long sinc's in float64, 55 dB above the difference`, () => {
    const sound = sweep(200, 3_100, 8_000 * factor, 4_000 * factor);
    const reference = sincResampled(sound, 8_000 * factor, 8_000);
    const delayed = decimated(sound, factor).subarray(DECIMATOR_DELAY);
    const ratio = signalToNoise(reference, delayed, 500);
    assert.ok(ratio > 55, `${ratio} dB`);
    const whole = resampled(rounded(sound), 8_000 * factor);
    assert.equal(whole.length, 4_000);
    assert.deepEqual(whole.subarray(0, delayed.length), delayed);
  });
}

test("however a signal is cut, the blocks together are the whole, bit for bit, and exactly as long", () => {
  fc.assert(
    fc.property(
      fc.int16Array({ maxLength: 4_000, size: "max" }),
      fc.array(fc.integer({ min: 0, max: 900 }), { maxLength: 20 }),
      fc.constantFrom(...FACTORS),
      (pcm, cuts, factor) => {
        const state = newDecimatorState(factor);
        const blocks: number[] = [];
        let from = 0;
        for (const size of [...cuts, pcm.length]) {
          blocks.push(...decimate(pcm.subarray(from, from + size), factor, state));
          from += size;
        }
        assert.deepEqual(Int16Array.from(blocks), decimate(pcm, factor, newDecimatorState(factor)));
        assert.equal(blocks.length, Math.ceil(pcm.length / factor));
      },
    ),
    { numRuns: 60 },
  );
});

test("a whole recording keeps its beginning, its end and its length, however short it is", () => {
  for (const length of [0, 1, 2, 3, 10, 72, 73, 74, 75, 76, 145, 1_000]) {
    for (const factor of FACTORS) {
      const whole = resampled(new Int16Array(length).fill(1_000), 8_000 * factor);
      assert.equal(whole.length, Math.ceil(length / factor));
    }
  }
  const click = new Int16Array(300);
  click[0] = 30_000;
  const start = resampled(click, 24_000);
  assert.equal(start.indexOf(Math.max(...start)), 0);
  click.copyWithin(297, 0, 1);
  click[0] = 0;
  const end = resampled(click, 24_000);
  assert.equal(end.indexOf(Math.max(...end)), 99);
});

test("silence after the loudest sound is silence from the first sample on", () => {
  for (const factor of FACTORS) {
    decimated(sine(440, 8_000 * factor, 400 * factor, 32_000), factor);
    const silence = decimated(new Int16Array(400 * factor), factor);
    assert.deepEqual(silence, new Int16Array(silence.length));
  }
});
