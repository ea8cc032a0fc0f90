import assert from "node:assert/strict";
import { test } from "node:test";
import { toTelephoneRate } from "../../../engine/audio/rational-resampler.js";
import {
  amplitudeAt,
  decibels,
  rounded,
  signalToNoise,
  sincResampled,
  sine,
  sweep,
} from "./measured-sound.js";

/** All that MPEG audio may have and that is no multiple of 8 kHz. */
const ODD_RATES_HZ = [11_025, 12_000, 22_050, 44_100] as const;

for (const rateHz of ODD_RATES_HZ) {
  test(`${rateHz} Hz: flat within 0.2 dB up to 3.4 kHz, 60 dB down from 4 kHz on`, () => {
    for (let hz = 200; hz <= 3_400; hz += 200) {
      const result = toTelephoneRate(rounded(sine(hz, rateHz, rateHz / 4)), rateHz);
      const change = decibels(amplitudeAt(result.subarray(100, -100), hz, 8_000) / 12_000);
      assert.ok(Math.abs(change) < 0.2, `${hz} Hz: ${change} dB`);
    }
    for (let hz = 4_000; hz < rateHz / 2; hz += 500) {
      const result = toTelephoneRate(rounded(sine(hz, rateHz, rateHz / 8)), rateHz);
      const loudest = Math.max(...result.subarray(100, -100).map(Math.abs));
      assert.ok(decibels(loudest / 12_000) < -60, `${hz} Hz: ${loudest}`);
    }
  });

  test(`${rateHz} Hz: a sweep is a long sinc's in float64, 50 dB above the difference`, () => {
    const sound = sweep(200, 3_100, rateHz, Math.floor(rateHz / 2));
    const result = toTelephoneRate(rounded(sound), rateHz);
    assert.equal(result.length, 4_000);
    const ratio = signalToNoise(sincResampled(sound, rateHz, 8_000), result, 500);
    assert.ok(ratio > 50, `${ratio} dB`);
  });

  test(`${rateHz} Hz: any length becomes its share, rounded up`, () => {
    for (const length of [0, 1, 2, 5, 100, 441, 1_153]) {
      const result = toTelephoneRate(new Int16Array(length), rateHz);
      assert.equal(result.length, Math.ceil((length * 8_000) / rateHz));
    }
  });
}

test("8 kHz stays as it is, and less is refused", () => {
  const pcm = Int16Array.of(1, -2, 3);
  assert.deepEqual(toTelephoneRate(pcm, 8_000), pcm);
  assert.throws(() => toTelephoneRate(pcm, 6_000), RangeError);
  assert.throws(() => toTelephoneRate(pcm, 8_000.5), RangeError);
});
