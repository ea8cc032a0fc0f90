import assert from "node:assert/strict";
import { test } from "node:test";
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
/** All that MPEG audio may have and that is no multiple of 8 kHz. */
const ODD_RATES_HZ = [11_025, 12_000, 22_050, 44_100] as const;

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
}
