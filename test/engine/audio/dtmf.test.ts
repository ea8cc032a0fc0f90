import assert from "node:assert/strict";
import { test } from "node:test";
import { dtmfTones } from "../../../engine/audio/dtmf.js";

const RATE_HZ = 8_000;
const KEY_SAMPLES = 1_440;
const TONE_SAMPLES = 800;
const FREQUENCIES_HZ = [697, 770, 852, 941, 1_209, 1_336, 1_477, 1_633];

/** The share of the tone's energy at one frequency (Goertzel). */
function share(samples: Int16Array, hz: number, rateHz = RATE_HZ): number {
  const coefficient = 2 * Math.cos((2 * Math.PI * hz) / rateHz);
  let previous = 0;
  let before = 0;
  let energy = 0;
  for (const sample of samples) {
    [previous, before] = [sample + coefficient * previous - before, previous];
    energy += sample * sample;
  }
  const power = previous * previous + before * before - coefficient * previous * before;
  return (2 * power) / (samples.length * energy);
}

function strongest(samples: Int16Array): number[] {
  const byShare = FREQUENCIES_HZ.toSorted(
    (one, other) => share(samples, other) - share(samples, one),
  );
  return byShare.slice(0, 2).toSorted((one, other) => one - other);
}

test("each key is its two tones, and little else", () => {
  const tones: [string, number[]][] = [
    ["1", [697, 1_209]],
    ["5", [770, 1_336]],
    ["9", [852, 1_477]],
    ["0", [941, 1_336]],
    ["*", [941, 1_209]],
    ["#", [941, 1_477]],
    ["d", [941, 1_633]],
  ];
  for (const [key, expected] of tones) {
    const tone = dtmfTones(key, RATE_HZ).subarray(0, TONE_SAMPLES);
    assert.deepEqual(strongest(tone), expected, key);
    assert.ok(
      expected.every((hz) => share(tone, hz) > 0.4),
      `${key} is clean`,
    );
  }
});

test("keys follow one another with a pause between, and what is no key is left out", () => {
  const samples = dtmfTones("1 2x3", RATE_HZ);
  assert.equal(samples.length, 3 * KEY_SAMPLES);
  for (let key = 0; key < 3; key += 1) {
    const pause = samples.subarray(key * KEY_SAMPLES + TONE_SAMPLES, (key + 1) * KEY_SAMPLES);
    assert.ok(pause.every((sample) => sample === 0));
  }
  assert.equal(dtmfTones("", RATE_HZ).length, 0);
  const second = samples.subarray(KEY_SAMPLES, KEY_SAMPLES + TONE_SAMPLES);
  assert.deepEqual(strongest(second), [697, 1_336]);
});

test("at twice and three times the rate the tones are the same, and as long", () => {
  for (const rateHz of [16_000, 24_000]) {
    const samples = dtmfTones("5", rateHz);
    assert.equal(samples.length, (KEY_SAMPLES * rateHz) / RATE_HZ);
    const tone = samples.subarray(0, (TONE_SAMPLES * rateHz) / RATE_HZ);
    for (const hz of [770, 1_336])
      assert.ok(share(tone, hz, rateHz) > 0.4, `${hz} Hz at ${rateHz}`);
  }
});
