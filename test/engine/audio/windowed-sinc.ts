import assert from "node:assert/strict";
import { SeededRandom } from "../../simulation/seeded-random.js";

/** 24 periods of the lower rate to either side, half of the amplitude left at 0.46 of that rate, and a Kaiser window. */
const REACH = 24;
const CUTOFF = 0.46;
const BETA = 5.9;

/** Every `ratio`th sample of a sound, as the formula has it: of what neither of the rates can hold nothing is left. */
export function windowedSinc(sound: Int16Array, ratio: number): Int16Array {
  const lower = Math.max(1, ratio);
  const length = Math.ceil(sound.length / ratio);
  return Int16Array.from({ length }, (_, index) => {
    const position = index * ratio;
    let sum = 0;
    let weights = 0;
    const last = Math.floor(position + REACH * lower);
    for (let at = Math.ceil(position - REACH * lower); at <= last; at += 1) {
      const weight = tapAt(Math.abs(Math.round(((at - position) / lower) * 1e9)) / 1e9);
      weights += weight;
      sum += weight * (sound[at] ?? 0);
    }
    return Math.max(-32_768, Math.min(32_767, Math.round(sum / weights)));
  });
}

/** The same distances come again and again. */
const taps = new Map<number, number>();

/** So many periods of the lower rate beside the middle. */
export function tapAt(periods: number): number {
  if (periods > REACH) return 0;
  const tap = taps.get(periods) ?? designedTap(periods);
  taps.set(periods, tap);
  return tap;
}

function designedTap(periods: number): number {
  const x = 2 * Math.PI * CUTOFF * periods;
  const window = bessel(BETA * Math.sqrt(Math.max(0, 1 - (periods / REACH) ** 2)));
  return (x === 0 ? 1 : Math.sin(x) / x) * window;
}

/** By its integral over a half turn, which converges at once: the function is periodic. */
function bessel(x: number): number {
  const steps = 24;
  let sum = 0;
  for (let step = 0; step < steps; step += 1) {
    sum += Math.exp(x * Math.cos((2 * Math.PI * step) / steps));
  }
  return sum / steps;
}

/** Loud noise: every sample its own. */
export function noise(samples: number): Int16Array {
  const random = new SeededRandom(11);
  return Int16Array.from({ length: samples }, () => Math.round((random.fraction() - 0.5) * 50_000));
}

/** Up to a rounding, and a tap at the very end of a window. */
export function assertNear(samples: Int16Array, expected: Int16Array): void {
  assert.equal(samples.length, expected.length);
  const off = samples.map((sample, at) => Math.abs(sample - (expected[at] ?? 0)));
  assert.ok(
    off.every((difference) => difference <= 2),
    `off by ${Math.max(...off)} at ${off.indexOf(Math.max(...off))}`,
  );
}
