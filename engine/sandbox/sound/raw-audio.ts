import { decodeMuLaw, samplesOf } from "../telephone/telephone-audio.js";

/** Headerless audio as it arrives over a socket: messages may end in the middle of a sample. */
export class RawAudio {
  readonly #encoding: "linear16" | "mulaw";
  #oddByte: number | undefined;

  constructor(encoding: "linear16" | "mulaw") {
    this.#encoding = encoding;
  }

  samples(bytes: Buffer): Int16Array {
    if (this.#encoding === "mulaw") return decodeMuLaw(bytes);
    const whole =
      this.#oddByte === undefined ? bytes : Buffer.concat([Buffer.of(this.#oddByte), bytes]);
    const isOdd = whole.length % 2 === 1;
    this.#oddByte = isOdd ? whole.at(-1) : undefined;
    return samplesOf(isOdd ? whole.subarray(0, -1) : whole);
  }
}

/** Sound without a header, mono. */
export interface RawFormat {
  readonly sampleRateHz: number;
  readonly bytesPerSample: 1 | 2;
  /** The byte that silence consists of. */
  readonly silence: number;
  /** `bytes` must hold whole samples. */
  samplesOf(bytes: Uint8Array): Int16Array;
}

export const MULAW_8K: RawFormat = {
  sampleRateHz: 8000,
  bytesPerSample: 1,
  silence: 0xff,
  samplesOf: decodeMuLaw,
};

const linear = (sampleRateHz: number): RawFormat => ({
  sampleRateHz,
  bytesPerSample: 2,
  silence: 0,
  samplesOf,
});

/** By the names of the voice WebSocket. */
export const STREAMED_FORMATS = {
  pcm24k: linear(24_000),
  pcm16k: linear(16_000),
  mulaw: MULAW_8K,
} as const;

export type StreamedFormat = keyof typeof STREAMED_FORMATS;

/** One channel of 16-bit samples. */
export interface Sound {
  readonly pcm: Int16Array;
  readonly sampleRateHz: number;
}

/** The tone decoder accepts multiples of this. */
const RATE_STEP_HZ = 8000;
/** So far above the tones that linear interpolation is accurate enough. */
const RESAMPLED_HZ = 48_000;

/** Linear interpolation: the simplest resampler that is used in practice. */
export function resample(pcm: Int16Array, fromHz: number, toHz: number): Int16Array {
  const length = Math.floor((pcm.length * toHz) / fromHz);
  return Int16Array.from({ length }, (_, n) => {
    const at = (n * fromHz) / toHz;
    const left = pcm[Math.floor(at)] ?? 0;
    const right = pcm[Math.ceil(at)] ?? left;
    return left + (right - left) * (at % 1);
  });
}

/** The sound at a rate that the tone decoder accepts. */
export function atDecodableRate(sound: Sound): Sound {
  if (sound.sampleRateHz % RATE_STEP_HZ === 0) return sound;
  const pcm = resample(sound.pcm, sound.sampleRateHz, RESAMPLED_HZ);
  return { pcm, sampleRateHz: RESAMPLED_HZ };
}
