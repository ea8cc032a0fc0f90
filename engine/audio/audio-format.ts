import { ALAW_SILENCE, MULAW_SILENCE } from "./mulaw.js";

/** 16-bit samples: `pcm16` has the low byte first, `pcm16be` the high byte. */
export type PcmEncoding = "pcm16" | "pcm16be";

/** Consecutive samples without a header; `mulaw` and `alaw` are the two laws of ITU-T G.711. */
export type RawEncoding = "mulaw" | "alaw" | PcmEncoding;

/** Mono audio whose length follows from its size. */
export interface RawFormat<Encoding extends RawEncoding = RawEncoding> {
  readonly encoding: Encoding;
  readonly sampleRateHz: number;
}

/** MPEG audio. Its frames have their own rate; this one is the requested rate. */
export interface Mp3Format {
  readonly encoding: "mp3";
  readonly sampleRateHz: number;
}

export type AudioFormat = RawFormat | Mp3Format;

/** Formats that every STT accepts. */
export type InputFormat = RawFormat<"mulaw" | "pcm16">;

export const PHONE_RATE_HZ = 8_000;

export const MULAW_8K = { encoding: "mulaw", sampleRateHz: PHONE_RATE_HZ } as const;
export const PCM_8K = { encoding: "pcm16", sampleRateHz: PHONE_RATE_HZ } as const;
export const PCM_16K = { encoding: "pcm16", sampleRateHz: 16_000 } as const;
export const PCM_24K = { encoding: "pcm16", sampleRateHz: 24_000 } as const;
export const MP3 = { encoding: "mp3", sampleRateHz: 24_000 } as const;

/** Telephone audio is sent in frames of this length. */
export const FRAME_MS = 20;

export function isSameFormat(one: AudioFormat, other: AudioFormat): boolean {
  return one.encoding === other.encoding && one.sampleRateHz === other.sampleRateHz;
}

export function bytesPerSample(encoding: RawEncoding): 1 | 2 {
  return encoding === "mulaw" || encoding === "alaw" ? 1 : 2;
}

/** Not a whole number for every rate. */
export function bytesPerMs({ encoding, sampleRateHz }: RawFormat): number {
  return (sampleRateHz * bytesPerSample(encoding)) / 1_000;
}

/** The bytes of FRAME_MS. */
export function frameBytesOf({ encoding, sampleRateHz }: RawFormat): number {
  return (sampleRateHz * bytesPerSample(encoding) * FRAME_MS) / 1_000;
}

/** In whole samples. */
export function bytesOfMs(format: RawFormat, durationMs: number): number {
  const sampleBytes = bytesPerSample(format.encoding);
  return Math.round((durationMs * bytesPerMs(format)) / sampleBytes) * sampleBytes;
}

export function durationMsOf(audio: Uint8Array, format: RawFormat): number {
  return audio.byteLength / bytesPerMs(format);
}

/** The byte that silence consists of. */
export function silenceByte(encoding: RawEncoding): number {
  if (encoding === "mulaw") return MULAW_SILENCE;
  return encoding === "alaw" ? ALAW_SILENCE : 0;
}

export function silenceOf(format: RawFormat, durationMs: number): Uint8Array {
  return new Uint8Array(bytesOfMs(format, durationMs)).fill(silenceByte(format.encoding));
}
