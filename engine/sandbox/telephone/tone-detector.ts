import { HIGH_TONES_HZ, LOW_TONES_HZ, type ToneSymbol } from "./tone-alphabet.js";

/** What the last 20 ms held, told every 10 ms. `symbol` is undefined when no clean pair of tones stood out. */
export type HopListener = (symbol: ToneSymbol | undefined, isLoud: boolean) => void;

export const HOP_MS = 10;
const ANALYSIS_RATE_HZ = 8000;
const HOP_SAMPLES = (ANALYSIS_RATE_HZ * HOP_MS) / 1000;
/** Every tone is a multiple of 50 Hz, so that its sine and cosine repeat after 20 ms: one short table does for ever. */
const PERIOD_SAMPLES = 2 * HOP_SAMPLES;
const TONES_HZ = [...LOW_TONES_HZ, ...HIGH_TONES_HZ];
const GROUP = LOW_TONES_HZ.length;

/** -50 dBFS: what lies below is silence, and costs nothing more. */
const GATE_ENERGY = (32768 * 10 ** (-50 / 20)) ** 2;
/** A voice stands 9.5 dB above the background; this is a ratio of energies. */
const VOICE_OVER_FLOOR = 9;
/** Where the code can be read, the background is at least 17 dB below it. */
const CODE_OVER_FLOOR = 50;
/** The estimate of the background rises by 3 dB a second, and falls at once. */
const FLOOR_RISE = 10 ** (0.3 / (1000 / HOP_MS));
/** How much of the window's energy the two tones hold; two pure tones hold all of it. */
const PURITY_MIN = 0.6;
/** The strongest tone of a group over the second: 6 dB, as a ratio of energies. */
const LEAD_MIN = 4;
/** Between the tones of a pair: 12 dB either way, for filters in the network that favour one end. */
const TWIST_MAX = 16;

const cosines = new Float32Array(TONES_HZ.length * PERIOD_SAMPLES);
const sines = new Float32Array(TONES_HZ.length * PERIOD_SAMPLES);
for (const [tone, hz] of TONES_HZ.entries()) {
  for (let n = 0; n < PERIOD_SAMPLES; n += 1) {
    const angle = (2 * Math.PI * hz * n) / ANALYSIS_RATE_HZ;
    cosines[tone * PERIOD_SAMPLES + n] = Math.cos(angle);
    sines[tone * PERIOD_SAMPLES + n] = Math.sin(angle);
  }
}

interface Hop {
  readonly real: Float64Array;
  readonly imaginary: Float64Array;
  energySum: number;
}

function emptyHop(): Hop {
  return {
    real: new Float64Array(TONES_HZ.length),
    imaginary: new Float64Array(TONES_HZ.length),
    energySum: 0,
  };
}

/** Looks for pairs of tones in PCM of 8, 16, 24 or 48 kHz, in windows of 20 ms that overlap by half. */
export class ToneDetector {
  readonly #listener: HopListener;
  readonly #factor: number;
  readonly #samples = new Float32Array(HOP_SAMPLES);
  readonly #powers = new Float64Array(TONES_HZ.length);
  #filled = 0;
  #sum = 0;
  #summed = 0;
  /** Where in the 20 ms tables the hop begins. */
  #phase = 0;
  #current = emptyHop();
  #previous = emptyHop();
  #floor: number | undefined;

  constructor(sampleRateHz: number, listener: HopListener) {
    const factor = sampleRateHz / ANALYSIS_RATE_HZ;
    if (!Number.isInteger(factor) || factor < 1) {
      throw new RangeError(`the tone decoder takes multiples of 8000 Hz, not ${sampleRateHz}`);
    }
    this.#factor = factor;
    this.#listener = listener;
  }

  write(pcm: Int16Array): void {
    const factor = this.#factor;
    const samples = this.#samples;
    let filled = this.#filled;
    let sum = this.#sum;
    let summed = this.#summed;
    for (let n = 0; n < pcm.length; n += 1) {
      sum += pcm[n] ?? 0;
      summed += 1;
      if (summed < factor) continue;
      samples[filled] = sum / factor;
      filled += 1;
      sum = 0;
      summed = 0;
      if (filled < HOP_SAMPLES) continue;
      filled = 0;
      this.#finishHop();
    }
    this.#filled = filled;
    this.#sum = sum;
    this.#summed = summed;
  }

  #finishHop(): void {
    [this.#current, this.#previous] = [this.#previous, this.#current];
    const current = this.#current;
    current.energySum = energyOf(this.#samples);
    const energy = current.energySum / HOP_SAMPLES;
    const floor = this.#trackFloor(energy);
    if (energy < GATE_ENERGY) {
      current.real.fill(0);
      current.imaginary.fill(0);
      this.#phase = HOP_SAMPLES - this.#phase;
      this.#listener(undefined, false);
      return;
    }
    transform(this.#samples, this.#phase, current);
    this.#phase = HOP_SAMPLES - this.#phase;
    const symbol = this.#pair();
    if (symbol !== undefined) this.#floor = Math.min(floor, energy / CODE_OVER_FLOOR);
    this.#listener(symbol, symbol !== undefined || energy > floor * VOICE_OVER_FLOOR);
  }

  #trackFloor(energy: number): number {
    const floor = Math.min(energy, (this.#floor ?? energy) * FLOOR_RISE);
    this.#floor = Math.max(floor, GATE_ENERGY / VOICE_OVER_FLOOR);
    return this.#floor;
  }

  #pair(): ToneSymbol | undefined {
    const { real, imaginary } = this.#current;
    const before = this.#previous;
    for (let tone = 0; tone < TONES_HZ.length; tone += 1) {
      const x = (real[tone] ?? 0) + (before.real[tone] ?? 0);
      const y = (imaginary[tone] ?? 0) + (before.imaginary[tone] ?? 0);
      this.#powers[tone] = x * x + y * y;
    }
    const low = this.#leader(0);
    const high = this.#leader(GROUP);
    if (low === undefined || high === undefined) return undefined;
    const lowPower = this.#powers[low] ?? 0;
    const highPower = this.#powers[high] ?? 0;
    if (lowPower > highPower * TWIST_MAX || highPower > lowPower * TWIST_MAX) return undefined;
    const energySum = this.#current.energySum + before.energySum;
    const purity = (2 * (lowPower + highPower)) / (PERIOD_SAMPLES * energySum);
    return purity < PURITY_MIN ? undefined : low * GROUP + (high - GROUP);
  }

  /** The tone of the group that clearly stands above the other seven. */
  #leader(from: number): number | undefined {
    let best = from;
    let bestPower = 0;
    let secondPower = 0;
    for (let tone = from; tone < from + GROUP; tone += 1) {
      const power = this.#powers[tone] ?? 0;
      if (power > bestPower) {
        secondPower = bestPower;
        bestPower = power;
        best = tone;
      } else if (power > secondPower) secondPower = power;
    }
    return bestPower > secondPower * LEAD_MIN ? best : undefined;
  }
}

function energyOf(samples: Float32Array): number {
  let sum = 0;
  for (let n = 0; n < samples.length; n += 1) sum += (samples[n] ?? 0) ** 2;
  return sum;
}

/** The sums of the samples against every tone, with the phase that the tone has since the stream began. */
function transform(samples: Float32Array, phase: number, hop: Hop): void {
  for (let tone = 0; tone < TONES_HZ.length; tone += 1) {
    const offset = tone * PERIOD_SAMPLES + phase;
    let real = 0;
    let imaginary = 0;
    for (let n = 0; n < HOP_SAMPLES; n += 1) {
      const sample = samples[n] ?? 0;
      real += sample * (cosines[offset + n] ?? 0);
      imaginary += sample * (sines[offset + n] ?? 0);
    }
    hop.real[tone] = real;
    hop.imaginary[tone] = imaginary;
  }
}
