import assert from "node:assert/strict";
import { test } from "node:test";
import { BeepDetector } from "../../../engine/audio/beep-detector.js";
import { dtmfTones } from "../../../engine/audio/dtmf.js";
import { encodeMulaw } from "../../../engine/audio/mulaw.js";
import { encodeSpeech } from "../../../engine/sandbox/telephone/tone-code.js";

const RATE_HZ = 8_000;
const GREETING = encodeSpeech("Please leave a message after the tone.", RATE_HZ);
const FULL_SCALE = 0x7fff;

function tone(hz: number, durationMs: number, level = 0.3, endHz = hz): Int16Array {
  let phase = 0;
  const count = (RATE_HZ * durationMs) / 1_000;
  return Int16Array.from({ length: count }, (_, at) => {
    phase += (2 * Math.PI * (hz + ((endHz - hz) * at) / count)) / RATE_HZ;
    return Math.round(level * FULL_SCALE * Math.sin(phase));
  });
}

/** A vowel: a fundamental with its overtones. */
function vowel(hz: number, durationMs: number): Int16Array {
  return Int16Array.from({ length: (RATE_HZ * durationMs) / 1_000 }, (_, at) => {
    const overtones = [1, 0.8, 0.6, 0.3].map(
      (level, n) => level * Math.sin((2 * Math.PI * hz * (n + 1) * at) / RATE_HZ),
    );
    return Math.round(0.15 * FULL_SCALE * overtones.reduce((sum, each) => sum + each, 0));
  });
}

const silence = (durationMs: number) => new Int16Array((RATE_HZ * durationMs) / 1_000);

function joined(...sounds: readonly Int16Array[]): Int16Array {
  return Int16Array.from(sounds.flatMap((sound) => [...sound]));
}

/** The same noise in each run. */
function withNoise(sound: Int16Array, level: number): Int16Array {
  let seed = 1;
  return sound.map((sample) => {
    seed = (seed * 1_103_515_245 + 12_345) & 0x7fffffff;
    const noise = (seed / 0x3fffffff - 1) * level * FULL_SCALE;
    return Math.max(-FULL_SCALE, Math.min(FULL_SCALE, Math.round(sample + noise)));
  });
}

/** How many beeps are heard in the sound, as µ-law in frames of this many bytes. */
function beepsIn(sound: Int16Array, frameBytes = 160): number {
  const detector = new BeepDetector({ encoding: "mulaw", sampleRateHz: RATE_HZ });
  const bytes = encodeMulaw(sound);
  let count = 0;
  for (let at = 0; at < bytes.length; at += frameBytes) {
    if (detector.hear(bytes.subarray(at, at + frameBytes))) count += 1;
  }
  return count;
}

const greeted = (...sounds: readonly Int16Array[]) =>
  joined(GREETING, silence(300), ...sounds, silence(100));

for (const hz of [400, 425, 620, 853, 1_000, 1_004, 1_400, 1_777, 2_000]) {
  for (const durationMs of [200, 350, 1_000]) {
    test(`a beep of ${hz} Hz for ${durationMs} ms behind a greeting is heard once`, () => {
      assert.equal(beepsIn(greeted(tone(hz, durationMs))), 1);
      assert.equal(
        beepsIn(withNoise(greeted(tone(hz, durationMs, 0.1)), 0.01)),
        1,
        "quiet, in noise",
      );
      assert.equal(beepsIn(greeted(tone(hz, durationMs)), 57), 1, "in odd frames");
    });
  }
}

test("16-bit samples at 16 kHz are heard as well", () => {
  const detector = new BeepDetector({ encoding: "pcm16", sampleRateHz: 16_000 });
  const greeting = encodeSpeech("Please leave a message after the tone.", 16_000);
  const beep = Int16Array.from({ length: 6_400 }, (_, at) =>
    Math.round(9_000 * Math.sin((2 * Math.PI * 1_000 * at) / 16_000)),
  );
  const sound = joined(greeting, new Int16Array(3_200), beep, new Int16Array(3_200));
  assert.equal(detector.hear(new Uint8Array(sound.buffer)), true);
});

const NO_BEEPS: readonly (readonly [string, Int16Array])[] = [
  ["a greeting", greeted()],
  ["a tone without a greeting", joined(silence(500), tone(1_000, 400), silence(200))],
  ["a tone that is too short", greeted(tone(1_000, 80))],
  ["a tone that does not end in time", greeted(tone(1_000, 2_000))],
  ["DTMF", greeted(dtmfTones("159#", RATE_HZ))],
  ["a vowel that is held", greeted(vowel(220, 600))],
  ["a high vowel that is held", greeted(vowel(450, 600))],
  ["a whistle that glides", greeted(tone(900, 500, 0.3, 1_700))],
  ["a tone below the band", greeted(tone(250, 400))],
  ["a tone above the band", greeted(tone(2_600, 400))],
  ["noise", greeted(withNoise(silence(1_000), 0.2))],
  ["a ring-back tone of two frequencies", greeted(joined(mixed(440, 480, 1_000)))],
];
for (const [what, sound] of NO_BEEPS) {
  test(`${what} is no beep`, () => assert.equal(beepsIn(sound), 0));
}

function mixed(oneHz: number, otherHz: number, durationMs: number): Int16Array {
  const other = tone(otherHz, durationMs, 0.2);
  return tone(oneHz, durationMs, 0.2).map((sample, at) => sample + (other[at] ?? 0));
}

test("after two minutes no beep is listened for any more", () => {
  const late = (sec: number) =>
    beepsIn(joined(GREETING, silence(sec * 1_000), tone(1_000, 300), silence(100)));
  assert.deepEqual([late(110), late(120)], [1, 0]);
});

test("two beeps behind one greeting are heard twice", () => {
  assert.equal(beepsIn(greeted(tone(1_000, 300), silence(200), tone(1_000, 300))), 2);
});
