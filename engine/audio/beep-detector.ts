import { bytesPerSample, type InputFormat } from "./audio-format.js";
import { decodeMulaw } from "./mulaw.js";

/** The tone is measured over this much audio at a time. */
const PIECE_MS = 20;
const LOWEST_HZ = 400;
const HIGHEST_HZ = 2_000;
/** Tones between these lengths begin a recording; the pieces at both ends are only partly a tone. */
const TONE_MIN_MS = 160;
const TONE_MAX_MS = 1_300;
/** The tone has this share of the energy in its piece. A vowel has overtones, and DTMF has two tones of half each. */
const PURITY_MIN = 0.85;
/** A voice that holds one note glides by more than this. */
const DRIFT_MAX_HZ = 25;
/** The mean size of a sample, of 32,767: below it there is no sound. */
const LEVEL_MIN = 200;
/** A greeting precedes the beep: a shorter sound is a person who takes the call, or a connection that clicks. */
const GREETING_MIN_MS = 1_000;
/** How far from the estimate the tone is searched, since noise shifts it. */
const SEARCHED_HZ = [0, -15, 15] as const;
/** With less at the estimate, no frequency near it has enough. */
const PURITY_NEARBY_MIN = 0.3;
/** Below it, the estimate is made over two samples. */
const LOW_HZ = 1_000;
/** No machine greets for longer, and each piece costs some microseconds. */
const LISTENING_MAX_MS = 120_000;

const MULAW_SAMPLES = decodeMulaw(Uint8Array.from({ length: 256 }, (_, code) => code));

/** Notices the tone with which an answering machine begins to record: one frequency, after a greeting, and then its end. */
export class BeepDetector {
  readonly #isMulaw: boolean;
  readonly #rateHz: number;
  readonly #piece: Float64Array;
  #filled = 0;
  #heardMs = 0;
  #soundMs = 0;
  #toneMs = 0;
  #toneHz = 0;

  constructor({ encoding, sampleRateHz }: InputFormat) {
    this.#isMulaw = encoding === "mulaw";
    this.#rateHz = sampleRateHz;
    this.#piece = new Float64Array(Math.round((PIECE_MS * sampleRateHz) / 1_000));
  }

  /** Takes whole samples. True if a beep has ended in them. */
  hear(audio: Uint8Array): boolean {
    if (this.#heardMs >= LISTENING_MAX_MS) return false;
    let hasEnded = false;
    const step = bytesPerSample(this.#isMulaw ? "mulaw" : "pcm16");
    for (let at = 0; at < audio.length; at += step) {
      this.#piece[this.#filled] = this.#sampleAt(audio, at);
      this.#filled += 1;
      if (this.#filled < this.#piece.length) continue;
      this.#filled = 0;
      this.#heardMs += PIECE_MS;
      if (this.#endsBeep()) hasEnded = true;
    }
    return hasEnded;
  }

  #sampleAt(audio: Uint8Array, at: number): number {
    if (this.#isMulaw) return MULAW_SAMPLES[audio[at] ?? 0xff] ?? 0;
    return ((((audio[at + 1] ?? 0) << 8) | (audio[at] ?? 0)) << 16) >> 16;
  }

  #endsBeep(): boolean {
    const isSound = meanSize(this.#piece) >= LEVEL_MIN;
    const hz = isSound ? toneIn(this.#piece, this.#rateHz) : undefined;
    if (hz !== undefined && (this.#toneMs === 0 || Math.abs(hz - this.#toneHz) <= DRIFT_MAX_HZ)) {
      this.#toneHz = hz;
      this.#toneMs += PIECE_MS;
      return false;
    }
    const isBeep = this.#toneMs >= TONE_MIN_MS && this.#toneMs <= TONE_MAX_MS;
    const hasGreeting = this.#soundMs >= GREETING_MIN_MS;
    // A tone that was no beep is part of the sound before the next one.
    if (!isBeep) this.#soundMs += this.#toneMs;
    this.#toneMs = hz === undefined ? 0 : PIECE_MS;
    this.#toneHz = hz ?? 0;
    if (isSound && hz === undefined) this.#soundMs += PIECE_MS;
    return isBeep && hasGreeting;
  }
}

function meanSize(piece: Float64Array): number {
  let sum = 0;
  for (const sample of piece) sum += Math.abs(sample);
  return sum / piece.length;
}

/** The frequency of the one tone in the piece; undefined where there is none. */
function toneIn(piece: Float64Array, rateHz: number): number | undefined {
  const hzPerRadian = rateHz / (2 * Math.PI);
  const coarseHz = angleBy(1, piece) * hzPerRadian;
  // Noise shifts the estimate of a low tone less over two steps.
  const estimatedHz = coarseHz < LOW_HZ ? angleBy(2, piece) * hzPerRadian : coarseHz;
  if (!(estimatedHz > LOWEST_HZ - DRIFT_MAX_HZ && estimatedHz < HIGHEST_HZ + DRIFT_MAX_HZ)) {
    return undefined;
  }
  const energy = piece.reduce((sum, sample) => sum + sample * sample, 0);
  let foundHz: number | undefined;
  let share = PURITY_MIN;
  for (const offsetHz of SEARCHED_HZ) {
    const hz = estimatedHz + offsetHz;
    const found = shareOf(hz, piece, rateHz, energy);
    if (found < PURITY_NEARBY_MIN) return undefined;
    if (found < share) continue;
    share = found;
    foundHz = hz;
  }
  return foundHz;
}

/** By how much a tone turns in one sample, in radians: its neighbours at a distance add up to it times twice a cosine. */
function angleBy(distance: number, piece: Float64Array): number {
  let products = 0;
  let squares = 0;
  for (let at = distance; at < piece.length - distance; at += 1) {
    const sample = piece[at] ?? 0;
    products += sample * ((piece[at - distance] ?? 0) + (piece[at + distance] ?? 0));
    squares += sample * sample;
  }
  return Math.acos(products / (2 * squares)) / distance;
}

/** The share of the piece's energy at the frequency, by Goertzel's algorithm. */
function shareOf(hz: number, piece: Float64Array, rateHz: number, energy: number): number {
  const factor = 2 * Math.cos((2 * Math.PI * hz) / rateHz);
  let before = 0;
  let last = 0;
  for (const sample of piece) {
    const next = sample + factor * last - before;
    before = last;
    last = next;
  }
  const power = last * last + before * before - factor * last * before;
  return (2 * power) / (piece.length * energy);
}
