import { decimateWhole } from "./decimator.js";
import { productAt, toSample } from "./fir-kernel.js";
import { lowPassAt } from "./low-pass.js";

const TELEPHONE_HZ = 8_000;
/** As in the decimator, of which this is the form for rates that are no multiple: 22,050 and 44,100 Hz, mostly. */
const PERIODS = 48;
const CUTOFF = 0.46;
const BETA = 5.9;
const RESULTS_AT_ONCE = 512;

interface Phases {
  /** Every `step / phases` input samples a result. */
  readonly step: number;
  readonly phases: number;
  /** One filter a phase, one after another. */
  readonly taps: Float64Array;
  readonly tapCount: number;
}

/** MPEG audio has nine rates and there are two to convert to, so there are never more. */
const phasesOf = new Map<string, Phases>();

/** As `toRate`, to 8 kHz. Rates below that throw a RangeError. */
export function toTelephoneRate(pcm: Int16Array, rateHz: number): Int16Array {
  if (rateHz < TELEPHONE_HZ) throw noRate(rateHz);
  return toRate(pcm, rateHz, TELEPHONE_HZ);
}

/** A whole recording at another rate, `n * target / rate` samples, rounded up. Throws a RangeError for half hertz. */
export function toRate(pcm: Int16Array, rateHz: number, targetHz: number): Int16Array {
  if (!Number.isInteger(rateHz) || rateHz < 1) throw noRate(rateHz);
  if (rateHz % targetHz === 0) return decimateWhole(pcm, rateHz / targetHz);
  const phases = phasesFor(rateHz, targetHz);
  const results = new Int16Array(Math.ceil((pcm.length * phases.phases) / phases.step));
  for (let from = 0; from < results.length; from += RESULTS_AT_ONCE) {
    resampleBlock(pcm, phases, results, from, Math.min(results.length, from + RESULTS_AT_ONCE));
  }
  return results;
}

function resampleBlock(
  pcm: Int16Array,
  { step, phases, taps, tapCount }: Phases,
  results: Int16Array,
  from: number,
  to: number,
): void {
  const before = tapCount / 2 - 1;
  const windowFrom = Math.floor((from * step) / phases) - before;
  const window = new Float64Array(
    Math.floor(((to - 1) * step) / phases) - before + tapCount - windowFrom,
  );
  const first = Math.max(0, windowFrom);
  window.set(pcm.subarray(first, windowFrom + window.length), first - windowFrom);
  for (let index = from; index < to; index += 1) {
    const position = index * step;
    const at = Math.floor(position / phases) - before - windowFrom;
    const tapAt = (position % phases) * tapCount;
    results[index] = toSample(productAt(window, at, taps, tapAt, tapCount));
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

function designPhases(rateHz: number, targetHz: number): Phases {
  const divisor = greatestCommonDivisor(rateHz, targetHz);
  const phases = targetHz / divisor;
  // What neither of the rates can hold is left out.
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

function noRate(rateHz: number): RangeError {
  return new RangeError(`audio of ${rateHz} Hz cannot be converted`);
}
