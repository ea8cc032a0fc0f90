import assert from "node:assert/strict";
import { test } from "node:test";
import * as fc from "fast-check";
import { designPhases } from "../../../engine/audio/rational-resampler.js";
import { newResampler } from "../../../engine/audio/resampler.js";
import { resampled } from "./whole-audio.js";
import { assertNear, noise, tapAt, windowedSinc } from "./windowed-sinc.js";

/** All that MPEG audio may have and that is no multiple of 8 kHz. */
const ODD_RATES_HZ = [11_025, 12_000, 22_050, 44_100] as const;

for (const rateHz of ODD_RATES_HZ) {
  test(`${rateHz} Hz: every sample is that of a windowed sinc`, () => {
    for (const targetHz of [8_000, 16_000]) {
      if (rateHz === targetHz) continue;
      for (const length of [1, 2, 3, 50, 300]) {
        const sound = noise(length);
        assertNear(resampled(sound, rateHz, targetHz), windowedSinc(sound, rateHz / targetHz));
      }
    }
  });

  test(`${rateHz} Hz: any length becomes its share, rounded up`, () => {
    for (const length of [0, 1, 2, 5, 100, 441, 1_153]) {
      const result = resampled(new Int16Array(length), rateHz);
      assert.equal(result.length, Math.ceil((length * 8_000) / rateHz));
    }
  });
}

test("each position between two samples has its own taps, which sum to one", () => {
  for (const [rateHz, targetHz, step, phases, tapCount] of [
    [44_100, 8_000, 441, 80, 266],
    [12_000, 8_000, 3, 2, 72],
    [11_025, 16_000, 441, 640, 48],
  ] as const) {
    const { taps, ...told } = designPhases(rateHz, targetHz);
    assert.deepEqual(told, { step, phases, tapCount });
    const lower = Math.max(1, rateHz / targetHz);
    for (const phase of [0, 1, phases - 1]) {
      const row = taps.subarray(phase * tapCount, (phase + 1) * tapCount);
      const expected = Array.from(row, (_, index) =>
        tapAt(Math.abs(index - (tapCount / 2 - 1) - phase / phases) / lower),
      );
      const whole = expected.reduce((sum, tap) => sum + tap);
      assert.ok(row.every((tap, at) => Math.abs(tap - (expected[at] ?? 0) / whole) < 1e-9));
    }
  }
});

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
  for (const rateHz of [8_000.5, 0, -8_000, Number.NaN]) {
    assert.throws(() => newResampler(rateHz, 8_000), RangeError, `${rateHz}`);
  }
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
