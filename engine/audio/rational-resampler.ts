import { lowPassAt, productAt, toSample } from "./fir-filter.js";

/** As in the decimator; this is the form for rates that are no multiple: mostly 22,050 and 44,100 Hz. */
const PERIODS = 48;
const CUTOFF = 0.46;
const BETA = 5.9;

interface Phases {
  /** One result per `step / phases` input samples. */
  readonly step: number;
  readonly phases: number;
  /** One filter per phase, one after another. */
  readonly taps: Float64Array;
  readonly tapCount: number;
}

/** MPEG audio has nine rates and there are three target rates, so there are never more. */
const phasesOf = new Map<string, Phases>();

/** From any rate to any other, piece by piece; see `Resampler`. */
export class RationalResampler {
  readonly #phases: Phases;
  /** The samples that later results still need, and the input position of the first of them. */
  #buffered = new Float64Array(0);
  #bufferStart: number;
  #pushedCount = 0;
  #outputCount = 0;

  constructor(rateHz: number, targetHz: number) {
    this.#phases = phasesFor(rateHz, targetHz);
    // Before the first sample there is silence.
    const before = this.#phases.tapCount / 2 - 1;
    this.#buffered = new Float64Array(before);
    this.#bufferStart = -before;
  }

  push(pcm: Int16Array): Int16Array {
    this.#pushedCount += pcm.length;
    this.#hold(pcm);
    const { step, phases, tapCount } = this.#phases;
    // A result needs half of the taps after its position.
    const settledTo = this.#bufferStart + this.#buffered.length - tapCount / 2;
    return this.#results(Math.ceil((Math.max(0, settledTo) * phases) / step));
  }

  end(): Int16Array {
    const { step, phases, tapCount } = this.#phases;
    this.#hold(new Int16Array(tapCount));
    return this.#results(Math.ceil((this.#pushedCount * phases) / step));
  }

  #hold(pcm: Int16Array): void {
    const held = new Float64Array(this.#buffered.length + pcm.length);
    held.set(this.#buffered);
    held.set(pcm, this.#buffered.length);
    this.#buffered = held;
  }

  /** All results that have not been returned yet, up to the one before `to`. */
  #results(to: number): Int16Array {
    const { step, phases, taps, tapCount } = this.#phases;
    const before = tapCount / 2 - 1;
    const results = new Int16Array(Math.max(0, to - this.#outputCount));
    for (let index = 0; index < results.length; index += 1) {
      const position = (this.#outputCount + index) * step;
      const at = Math.floor(position / phases) - before - this.#bufferStart;
      const tapAt = (position % phases) * tapCount;
      results[index] = toSample(productAt(this.#buffered, at, taps, tapAt, tapCount));
    }
    this.#outputCount += results.length;
    const neededFrom = Math.floor((this.#outputCount * step) / phases) - before;
    const dropped = Math.min(this.#buffered.length, neededFrom - this.#bufferStart);
    this.#buffered = this.#buffered.slice(dropped);
    this.#bufferStart += dropped;
    return results;
  }
}

function phasesFor(rateHz: number, targetHz: number): Phases {
  const name = `${rateHz} to ${targetHz}`;
  let known = phasesOf.get(name);
  if (known === undefined) {
    known = designPhases(rateHz, targetHz);
    phasesOf.set(name, known);
  }
  return known;
}

/** Not cached. */
export function designPhases(rateHz: number, targetHz: number): Phases {
  const divisor = greatestCommonDivisor(rateHz, targetHz);
  const phases = targetHz / divisor;
  // Frequencies that either of the rates cannot represent are removed.
  const ratio = Math.max(1, rateHz / targetHz);
  const reach = (PERIODS * ratio) / 2;
  const tapCount = 2 * Math.ceil(reach);
  const taps = new Float64Array(phases * tapCount);
  for (let phase = 0; phase < phases; phase += 1) {
    const row = taps.subarray(phase * tapCount, (phase + 1) * tapCount);
    let sum = 0;
    for (let index = 0; index < tapCount; index += 1) {
      const at = index - (tapCount / 2 - 1) - phase / phases;
      row[index] = lowPassAt(at, reach, CUTOFF / ratio, BETA);
      sum += row[index] ?? 0;
    }
    for (let index = 0; index < tapCount; index += 1) row[index] = (row[index] ?? 0) / sum;
  }
  return { step: rateHz / divisor, phases, taps, tapCount };
}

function greatestCommonDivisor(one: number, other: number): number {
  return other === 0 ? one : greatestCommonDivisor(other, one % other);
}
