import assert from "node:assert/strict";
import { test } from "node:test";
import * as fc from "fast-check";
import { decimate, designPhases, newDecimatorState } from "../../../engine/audio/decimator.js";
import { rounded, sine } from "./measured-sound.js";
import { resampled } from "./whole-audio.js";
import { assertNear, noise, tapAt, windowedSinc } from "./windowed-sinc.js";

const FACTORS = [2, 3, 6] as const;

function decimated(sound: ArrayLike<number>, factor: number): Int16Array {
  return decimate(rounded(sound), factor, newDecimatorState(factor));
}

for (const factor of FACTORS) {
  test(`${8 * factor} kHz: every sample is that of a windowed sinc`, () => {
    for (const length of [1, 2, 3, 5, 40, 520 * factor]) {
      const sound = noise(length);
      assertNear(resampled(sound, 8_000 * factor), windowedSinc(sound, factor));
    }
  });
}

test("a filter is dealt out to its phases tap by tap, and all of it sums to one", () => {
  for (const factor of FACTORS) {
    const phases = designPhases(factor);
    const dealt = Array.from(
      { length: 49 * factor },
      (_, at) => phases[at % factor]?.[Math.floor(at / factor)] ?? 9,
    );
    const taps = dealt.map((_, at) => tapAt(Math.abs(at - (factor - 1) - 24 * factor) / factor));
    const whole = taps.reduce((sum, tap) => sum + tap);
    assert.ok(dealt.every((tap, at) => Math.abs(tap - (taps[at] ?? 0) / whole) < 1e-9));
  }
});

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
