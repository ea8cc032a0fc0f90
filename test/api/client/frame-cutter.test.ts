import assert from "node:assert/strict";
import { test } from "node:test";
import { FrameCutter } from "../../../api/client/frame-cutter.js";

const BLOCK = 128;

/** Returns the amplitude of that frequency in frames of 16 kHz. */
function strength(frames: readonly Int16Array[], frequencyHz: number): number {
  let cosine = 0;
  let sine = 0;
  let count = 0;
  for (const frame of frames) {
    for (const sample of frame) {
      const angle = (2 * Math.PI * frequencyHz * count) / 16_000;
      cosine += sample * Math.cos(angle);
      sine += sample * Math.sin(angle);
      count += 1;
    }
  }
  return (2 * Math.hypot(cosine, sine)) / count;
}

function framesOf(rateHz: number, sampleAt: (at: number) => number, sec: number): Int16Array[] {
  const frames: Int16Array[] = [];
  const cutter = new FrameCutter(rateHz, (frame) => frames.push(frame));
  for (let at = 0; at < rateHz * sec; at += BLOCK) {
    cutter.push(Float32Array.from({ length: BLOCK }, (_, index) => sampleAt(at + index)));
  }
  return frames;
}

for (const rateHz of [16_000, 32_000, 44_100, 48_000, 96_000]) {
  test(`a device at ${rateHz} Hz yields 50 frames of 320 samples per second, with the audio preserved`, () => {
    const frames = framesOf(rateHz, (at) => 0.5 * Math.sin((2 * Math.PI * 1_000 * at) / rateHz), 2);
    assert.ok(frames.length >= 98 && frames.length <= 100, `${frames.length} frames`);
    assert.ok(frames.every((frame) => frame.length === 320));
    const level = strength(frames.slice(5), 1_000);
    assert.ok(Math.abs(level - 16_384) < 350, `${level}`);
  });
}

test("frequencies above 8 kHz are removed, not aliased into the voice", () => {
  const frames = framesOf(48_000, (at) => 0.5 * Math.sin((2 * Math.PI * 15_000 * at) / 48_000), 1);
  assert.ok(strength(frames.slice(5), 1_000) < 20, "15 kHz would fold to 1 kHz");
});

test("samples that are too loud are clipped, never wrapped", () => {
  const loud = framesOf(16_000, () => 1.7, 0.2);
  assert.ok(loud.flatMap((frame) => [...frame]).every((sample) => sample === 32_767));
});
