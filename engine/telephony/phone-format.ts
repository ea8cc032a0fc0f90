import { ALAW_SILENCE, MULAW_SILENCE } from "../audio/mulaw.js";
import { PHONE_RATE_HZ } from "../audio/phone-encoding.js";
import type { PhoneCodec, PhoneFormat } from "./phone-wire.js";

/** Telephone audio as it is almost everywhere. */
export const MULAW_8K: PhoneFormat = {
  codec: "mulaw",
  sampleRateHz: PHONE_RATE_HZ,
  endian: "little",
};

export const FRAME_MS = 20;
const RATE_HZ_MIN = 8000;
const RATE_HZ_MAX = 192_000;

/** `audio/x-mulaw`, `PCMU`, `audio/l16;rate=16000`, …: the vendors' names for three codecs. */
const CODEC_NAMES: readonly (readonly [RegExp, PhoneCodec])[] = [
  [/^(?:audio\/)?(?:x-)?(?:mulaw|ulaw|pcmu)\b/i, "mulaw"],
  [/^(?:audio\/)?(?:x-)?(?:alaw|pcma)\b/i, "alaw"],
  [/^(?:audio\/)?(?:x-)?(?:l16|linear16|raw)\b/i, "linear16"],
];

/** Undefined for a codec or a rate that nothing here can work with. */
export function phoneFormat(
  encoding: string,
  sampleRateHz: number,
  endian: "little" | "big" = "little",
): PhoneFormat | undefined {
  const codec = CODEC_NAMES.find(([name]) => name.test(encoding))?.[1];
  const isRate = Number.isInteger(sampleRateHz);
  if (codec === undefined || !isRate) return undefined;
  if (sampleRateHz < RATE_HZ_MIN || sampleRateHz > RATE_HZ_MAX) return undefined;
  return { codec, sampleRateHz, endian: codec === "linear16" ? endian : "little" };
}

/** The bytes of 20 ms. */
export function frameBytesOf({ codec, sampleRateHz }: PhoneFormat): number {
  return ((sampleRateHz * FRAME_MS) / 1000) * bytesPerSample(codec);
}

export function bytesPerSample(codec: PhoneCodec): number {
  return codec === "linear16" ? 2 : 1;
}

const SILENCE: Readonly<Record<PhoneCodec, number>> = {
  mulaw: MULAW_SILENCE,
  alaw: ALAW_SILENCE,
  linear16: 0,
};

/** Cuts audio into frames of exactly that size, the last one filled up with silence. */
export function wholeFrames(
  bytes: Uint8Array,
  frameBytes: number,
  codec: PhoneCodec,
): readonly Uint8Array[] {
  if (bytes.length === frameBytes) return [bytes];
  const frames: Uint8Array[] = [];
  for (let at = 0; at < bytes.length; at += frameBytes) {
    const piece = bytes.subarray(at, at + frameBytes);
    if (piece.length === frameBytes) frames.push(piece);
    else {
      const filled = new Uint8Array(frameBytes).fill(SILENCE[codec]);
      filled.set(piece);
      frames.push(filled);
    }
  }
  return frames;
}
