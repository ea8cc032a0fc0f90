import assert from "node:assert/strict";
import { test } from "node:test";
import { MULAW_8K, PCM_8K } from "../../../engine/audio/audio-format.js";
import { encodeMulaw } from "../../../engine/audio/mulaw.js";
import { VoiceActivityDetector } from "../../../engine/audio/vad.js";
import { SeededRandom } from "../../simulation/seeded-random.js";

const PHONE_HZ = 8_000;

/** Noise of a mean size, as a room makes it. */
function noise(durationMs: number, level: number): Int16Array {
  const random = new SeededRandom(7);
  const size = level * 2;
  return Int16Array.from({ length: (durationMs * PHONE_HZ) / 1_000 }, () =>
    Math.round((random.fraction() * 2 - 1) * size),
  );
}

/** Syllables of 180 ms with 60 ms between them, over noise, as loud as a caller at arm's length. */
function speech(durationMs: number, noiseLevel: number): Int16Array {
  const pcm = noise(durationMs, noiseLevel);
  return pcm.map((sample, index) => {
    const ms = (index * 1_000) / PHONE_HZ;
    const isVoiced = ms % 240 < 180;
    return sample + (isVoiced ? Math.round(3_000 * Math.sin((2 * Math.PI * 140 * ms) / 1_000)) : 0);
  });
}

function bytesOf(pcm: Int16Array): Uint8Array {
  return new Uint8Array(pcm.buffer, pcm.byteOffset, pcm.byteLength);
}

/** Whether a voice was heard in each tenth of a second. */
function heard(meter: VoiceActivityDetector, audio: Uint8Array, bytesPerMs: number): boolean[] {
  const tenths: boolean[] = [];
  for (let from = 0; from < audio.length; from += 100 * bytesPerMs) {
    tenths.push(meter.hear(audio.subarray(from, from + 100 * bytesPerMs)) > 0);
  }
  return tenths;
}

for (const [room, level] of [
  ["a quiet line", 20],
  ["a noisy office", 150],
  ["a car", 400],
] as const) {
  test(`in ${room} a voice is distinguished from noise`, () => {
    const meter = new VoiceActivityDetector(MULAW_8K);
    const mulaw = (pcm: Int16Array) => heard(meter, encodeMulaw(pcm), 8);
    assert.ok(!mulaw(noise(2_000, level)).includes(true), "noise is no voice");
    const spoken = mulaw(speech(6_000, level));
    assert.ok(spoken.filter(Boolean).length >= 55, "speech is heard to its end");
    assert.ok(spoken.slice(-5).includes(true));
    assert.ok(!mulaw(noise(2_000, level)).slice(1).includes(true), "and not after it");
  });
}

test("16-bit samples are measured as µ-law is", () => {
  const meter = new VoiceActivityDetector(PCM_8K);
  assert.ok(!heard(meter, bytesOf(noise(1_000, 30)), 16).includes(true));
  assert.ok(heard(meter, bytesOf(speech(1_000, 30)), 16).filter(Boolean).length >= 9);
});

test("what is loud and never pauses is noise after some seconds", () => {
  const meter = new VoiceActivityDetector(MULAW_8K);
  meter.hear(encodeMulaw(noise(1_000, 30)));
  const fan = heard(meter, encodeMulaw(noise(15_000, 600)), 8);
  assert.ok(fan.slice(0, 5).includes(true));
  assert.ok(!fan.slice(-20).includes(true));
});

test("a click is no voice", () => {
  const meter = new VoiceActivityDetector(MULAW_8K);
  const line = noise(1_000, 20);
  line.fill(20_000, 4_000, 4_100);
  assert.ok(!heard(meter, encodeMulaw(line), 8).includes(true));
});

test("a quiet line is known after a few pieces: a low voice that begins at once is heard soon", () => {
  const meter = new VoiceActivityDetector(PCM_8K);
  heard(meter, bytesOf(noise(60, 12)), 16);
  const low = speech(1_000, 12).map((sample) => sample / 5);
  assert.equal(heard(meter, bytesOf(low), 16)[0], true);
});
