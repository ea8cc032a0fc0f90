import {
  type PcmEncoding,
  PHONE_RATE_HZ,
  type RawEncoding,
  type RawFormat,
  silenceByte,
} from "../audio/audio-format.js";

const RATE_HZ_MIN = PHONE_RATE_HZ;
const RATE_HZ_MAX = 192_000;

/** `audio/x-mulaw`, `PCMU`, `audio/l16;rate=16000`, …: the vendors' names. None tells PCM's order of bytes. */
const ENCODING_NAMES: readonly (readonly [RegExp, RawEncoding])[] = [
  [/^(?:audio\/)?(?:x-)?(?:mulaw|ulaw|pcmu)\b/i, "mulaw"],
  [/^(?:audio\/)?(?:x-)?(?:alaw|pcma)\b/i, "alaw"],
  [/^(?:audio\/)?(?:x-)?(?:l16|linear16|raw)\b/i, "pcm16"],
];

/** Undefined for an encoding or a rate that nothing here can work with. */
export function phoneFormat(
  name: string,
  sampleRateHz: number,
  pcm: PcmEncoding = "pcm16",
): RawFormat | undefined {
  const encoding = ENCODING_NAMES.find(([known]) => known.test(name))?.[1];
  const isRate = Number.isInteger(sampleRateHz);
  if (encoding === undefined || !isRate) return undefined;
  if (sampleRateHz < RATE_HZ_MIN || sampleRateHz > RATE_HZ_MAX) return undefined;
  return { encoding: encoding === "pcm16" ? pcm : encoding, sampleRateHz };
}

/** Cuts audio into frames of exactly that size, the last one filled up with silence. */
export function wholeFrames(
  bytes: Uint8Array,
  frameBytes: number,
  encoding: RawEncoding,
): readonly Uint8Array[] {
  const frames: Uint8Array[] = [];
  for (let at = 0; at < bytes.length; at += frameBytes) {
    const piece = bytes.subarray(at, at + frameBytes);
    if (piece.length === frameBytes) frames.push(piece);
    else {
      const filled = new Uint8Array(frameBytes).fill(silenceByte(encoding));
      filled.set(piece);
      frames.push(filled);
    }
  }
  return frames;
}
