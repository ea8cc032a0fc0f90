import assert from "node:assert/strict";
import { test } from "node:test";
import * as fc from "fast-check";
import { newResampler } from "../../../engine/audio/resampler.js";
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

/** All that MPEG audio may have and that is no multiple of 8 kHz. */
const ODD_RATES_HZ = [11_025, 12_000, 22_050, 44_100] as const;

for (const rateHz of ODD_RATES_HZ) {
  test(`${rateHz} Hz: flat within 0.2 dB up to 3.4 kHz, 60 dB down from 4 kHz on`, () => {
    for (let hz = 200; hz <= 3_400; hz += 200) {
      const result = resampled(rounded(sine(hz, rateHz, rateHz / 4)), rateHz);
      const change = decibels(amplitudeAt(result.subarray(100, -100), hz, 8_000) / 12_000);
      assert.ok(Math.abs(change) < 0.2, `${hz} Hz: ${change} dB`);
    }
    for (let hz = 4_000; hz < rateHz / 2; hz += 500) {
      const result = resampled(rounded(sine(hz, rateHz, rateHz / 8)), rateHz);
      const loudest = Math.max(...result.subarray(100, -100).map(Math.abs));
      assert.ok(decibels(loudest / 12_000) < -60, `${hz} Hz: ${loudest}`);
    }
  });

  test(`${rateHz} Hz: a sweep is a long sinc's in float64, 50 dB above the difference`, () => {
    const sound = sweep(200, 3_100, rateHz, Math.floor(rateHz / 2));
    const result = resampled(rounded(sound), rateHz);
    assert.equal(result.length, 4_000);
    const ratio = signalToNoise(sincResampled(sound, rateHz, 8_000), result, 500);
    assert.ok(ratio > 50, `${ratio} dB`);
  });

  test(`${rateHz} Hz: any length becomes its share, rounded up`, () => {
    for (const length of [0, 1, 2, 5, 100, 441, 1_153]) {
      const result = resampled(new Int16Array(length), rateHz);
      assert.equal(result.length, Math.ceil((length * 8_000) / rateHz));
    }
  });
}

test("however a signal is cut, the pieces together are the whole, bit for bit", () => {
  fc.assert(
    fc.property(
      fc.int16Array({ maxLength: 1_500, size: "max" }),
      fc.array(fc.integer({ min: 0, max: 700 }), { maxLength: 12 }),
      fc.constantFrom([44_100, 8_000], [22_050, 16_000], [24_000, 8_000], [11_025, 8_000]),
      (pcm, cuts, [rateHz = 0, targetHz = 0]) => {
        const resampler = newResampler(rateHz, targetHz);
        const pieces: number[] = [];
        let from = 0;
        for (const size of [...cuts, pcm.length]) {
          pieces.push(...resampler.push(pcm.subarray(from, from + size)));
          from += size;
        }
        pieces.push(...resampler.end());
        assert.deepEqual(Int16Array.from(pieces), resampled(pcm, rateHz, targetHz));
        assert.equal(pieces.length, Math.ceil((pcm.length * targetHz) / rateHz));
      },
    ),
    { numRuns: 40 },
  );
});

test("what a piece settles comes with it: no more than the filter's half waits", () => {
  const resampler = newResampler(44_100, 8_000);
  const first = resampler.push(new Int16Array(4_410));
  assert.ok(first.length > 800 - 30, `${first.length} of 800 samples`);
});

test("8 kHz stays as it is, and half hertz are refused", () => {
  const pcm = Int16Array.of(1, -2, 3);
  assert.deepEqual(resampled(pcm, 8_000), pcm);
  assert.throws(() => resampled(pcm, 8_000.5), RangeError);
});

test("what is equally loud all the time stays so, to the bit, at every place between two samples", () => {
  for (const [rateHz, targetHz] of [
    [11_025, 8_000],
    [22_050, 16_000],
    [44_100, 8_000],
    [8_000, 16_000],
  ] as const) {
    const steady = resampled(new Int16Array(rateHz).fill(30_000), rateHz, targetHz);
    const middle = steady.subarray(200, -200);
    assert.ok(middle.every((sample) => sample === 30_000));
    assert.equal(steady.length, targetHz);
  }
});
