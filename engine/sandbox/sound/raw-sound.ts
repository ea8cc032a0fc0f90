import { decodeMuLaw, samplesOf } from "../telephone/telephone-audio.js";

/** Sound without a header, mono. */
export interface RawFormat {
  readonly sampleRateHz: number;
  readonly bytesPerSample: 1 | 2;
  /** The byte that silence is made of. */
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

/** By the names that the voice WebSocket has for them. */
export const STREAMED_FORMATS = {
  pcm24k: linear(24_000),
  pcm16k: linear(16_000),
  mulaw: MULAW_8K,
} as const;

export type StreamedFormat = keyof typeof STREAMED_FORMATS;
