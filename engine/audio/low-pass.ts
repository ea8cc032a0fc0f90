export interface LowPass {
  /** Odd, so that the delay is a whole number of samples. */
  readonly taps: number;
  /** Half of the amplitude is left here; as a share of the sample rate. */
  readonly cutoff: number;
  /** The window's shape: a higher one stops more, and falls more slowly. */
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
