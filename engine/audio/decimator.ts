import { addProducts, lowPass, toSample } from "./fir-filter.js";

/**
 * From a multiple of 8 kHz to 8 kHz: flat to 3.2 kHz, 0.1 dB down at 3.4, and at least 62 dB down from 4 kHz on,
 * where the rest would alias. Only the retained results are computed.
 */
const PERIODS = 48;
/** The cut-off as a share of 8 kHz: between the two edges, slightly nearer to the upper one. */
const CUTOFF = 0.46;
const BETA = 5.9;

/** Results lag behind the input: 3 ms, in samples at 8 kHz. */
export const DECIMATOR_DELAY = PERIODS / 2;

const PHASE_TAPS = PERIODS + 1;
const RESULTS_AT_ONCE = 512;

/**
 * The filter split into one phase per input sample of a result, so that neighbours in a phase are neighbours in
 * memory.
 */
type Phases = readonly Float64Array[];

/** One each for 16, 24, 32 and 48 kHz: no other rates occur. */
const phasesOf = new Map<number, Phases>();
const sums = new Float64Array(RESULTS_AT_ONCE);
const phaseSamples = new Float64Array(RESULTS_AT_ONCE + PERIODS);
let window = new Float64Array(0);

/**
 * The state before the first sample: the past samples and, last, how many of the next block precede its first
 * result.
 */
export function newDecimatorState(factor: number): Int16Array {
  return new Int16Array(PHASE_TAPS * factor);
}

/**
 * Every `factor`th sample, filtered; `factor` is 2 for 16 kHz and 3 for 24 kHz. `n` samples in all blocks together
 * give exactly `n / factor` results, rounded up. `state` is passed to the next block of the same signal.
 */
export function decimate(pcm: Int16Array, factor: number, state: Int16Array): Int16Array {
  const past = state.subarray(0, -1);
  let skip = state[past.length] ?? 0;
  const results = new Int16Array(Math.max(0, Math.ceil((pcm.length - skip) / factor)));
  const phases = phasesFor(factor);
  let done = 0;
  for (let from = 0; from < pcm.length; from += RESULTS_AT_ONCE * factor) {
    const block = pcm.subarray(from, from + RESULTS_AT_ONCE * factor);
    const count = Math.max(0, Math.ceil((block.length - skip) / factor));
    fillWindow(past, block, RESULTS_AT_ONCE * factor);
    sumPhases(phases, skip, count);
    for (let index = 0; index < count; index += 1) {
      results[done + index] = toSample(sums[index] ?? 0);
    }
    done += count;
    skip += count * factor - block.length;
    keepLast(past, block);
  }
  state[past.length] = skip;
  return results;
}

/** Shifts the past samples by a block. */
function keepLast(past: Int16Array, block: Int16Array): void {
  if (block.length >= past.length) {
    past.set(block.subarray(block.length - past.length));
    return;
  }
  past.copyWithin(0, block.length);
  past.set(block, past.length - block.length);
}

function fillWindow(past: Int16Array, block: Int16Array, blockMax: number): void {
  if (window.length < past.length + blockMax) window = new Float64Array(past.length + blockMax);
  window.set(past);
  window.set(block, past.length);
}

function sumPhases(phases: Phases, from: number, count: number): void {
  sums.fill(0, 0, count);
  for (const [phase, taps] of phases.entries()) {
    pickSamples(from + phase, phases.length, count + PERIODS);
    addProducts(sums, count, phaseSamples, taps);
  }
}

function pickSamples(from: number, step: number, count: number): void {
  for (let index = 0; index < count; index += 1) {
    phaseSamples[index] = window[from + index * step] ?? 0;
  }
}

function phasesFor(factor: number): Phases {
  let phases = phasesOf.get(factor);
  if (phases === undefined) {
    phases = designPhases(factor);
    phasesOf.set(factor, phases);
  }
  return phases;
}

/** Zeros before the filter fill up the phases. Not cached. */
export function designPhases(factor: number): Phases {
  const filter = lowPass({ taps: PERIODS * factor + 1, cutoff: CUTOFF / factor, beta: BETA });
  return Array.from({ length: factor }, (_, phase) =>
    Float64Array.from(
      { length: PHASE_TAPS },
      (_, index) => filter[index * factor + phase - (factor - 1)] ?? 0,
    ),
  );
}
