import { DECIMATOR_DELAY, decimate, newDecimatorState } from "./decimator.js";
import { RationalResampler } from "./rational-resampler.js";

/**
 * Converts audio from one rate to another, piece by piece: all results together are, bit for bit, those of the
 * whole.
 */
export interface Resampler {
  /** The results that this input completes. */
  push(pcm: Int16Array): Int16Array;
  /**
   * The rest, as if silence followed: `n` samples give `n * target / rate` results, rounded up. Nothing may be
   * pushed after it.
   */
  end(): Int16Array;
}

/** Throws a RangeError for a fractional rate. */
export function newResampler(rateHz: number, targetHz: number): Resampler {
  if (!Number.isInteger(rateHz) || rateHz <= 0) {
    throw new RangeError(`audio of ${rateHz} Hz cannot be converted`);
  }
  if (rateHz === targetHz) return { push: (pcm) => pcm, end: () => new Int16Array(0) };
  if (rateHz % targetHz === 0) return new DecimatingResampler(rateHz / targetHz);
  return new RationalResampler(rateHz, targetHz);
}

/** The decimator without its delay: its output begins and ends with the input. */
class DecimatingResampler implements Resampler {
  readonly #factor: number;
  readonly #state: Int16Array;
  #pushedCount = 0;
  #outputCount = 0;
  #toSkip = DECIMATOR_DELAY;

  constructor(factor: number) {
    this.#factor = factor;
    this.#state = newDecimatorState(factor);
  }

  push(pcm: Int16Array): Int16Array {
    this.#pushedCount += pcm.length;
    return this.#counted(decimate(pcm, this.#factor, this.#state));
  }

  end(): Int16Array {
    const missingCount = Math.ceil(this.#pushedCount / this.#factor) - this.#outputCount;
    const silence = new Int16Array((DECIMATOR_DELAY + 1) * this.#factor);
    return this.#counted(decimate(silence, this.#factor, this.#state)).subarray(0, missingCount);
  }

  #counted(results: Int16Array): Int16Array {
    const skipped = Math.min(this.#toSkip, results.length);
    this.#toSkip -= skipped;
    const given = results.subarray(skipped);
    this.#outputCount += given.length;
    return given;
  }
}
