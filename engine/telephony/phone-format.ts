import * as v from "valibot";
import {
  PCM_16K,
  type PcmEncoding,
  PHONE_RATE_HZ,
  type RawEncoding,
  type RawFormat,
  silenceByte,
} from "../audio/audio-format.js";

/** Audio as it is on a wire. Where it has a `codec`, the other fields are those of the decoded audio. */
export interface StreamFormat extends RawFormat {
  readonly codec?: "g722";
}

export const G722: StreamFormat = { ...PCM_16K, codec: "g722" };
/** RTP counts it at 8 kHz, half of what it is (RFC 3551, 4.5.2), so a vendor may say either. */
const G722_NAMED_RATES_HZ: ReadonlySet<number> = new Set([PHONE_RATE_HZ, PCM_16K.sampleRateHz]);
const G722_NAME = /^(?:audio\/)?g\.?722$/i;

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

const NAME_LENGTH_MAX = 40;

/** What a stream's start says of its audio; `format` is undefined where nothing here can work with it. */
export interface OfferedFormat {
  readonly format: StreamFormat | undefined;
  /** For the log and the call's record: short plain text, whatever the vendor sent. */
  readonly words: string;
}

export function offeredFormat(
  name: string,
  { sampleRateHz, channels = 1 }: { readonly sampleRateHz: number; readonly channels?: number },
  pcm: PcmEncoding = "pcm16",
): OfferedFormat {
  const plain = name.replace(/[^\w./;=+-]/g, "?").slice(0, NAME_LENGTH_MAX) || "no name";
  const words = `${plain} at ${sampleRateHz} Hz, ${channels} ${channels === 1 ? "channel" : "channels"}`;
  return { format: channels === 1 ? phoneFormat(name, sampleRateHz, pcm) : undefined, words };
}

const Amount = v.fallback(
  v.union([v.number(), v.pipe(v.string(), v.regex(/^\d{1,9}$/), v.transform(Number))]),
  Number.NaN,
);
const MediaFormat = v.object({
  encoding: v.fallback(v.string(), ""),
  sampleRate: v.optional(Amount),
  sample_rate: v.optional(Amount),
  channels: v.optional(Amount, 1),
});

export interface MediaFormatOptions {
  readonly pcm: PcmEncoding;
  /** The vendor's documents name G.722 as a format of its streams. */
  readonly hasG722?: boolean;
}

/** As the four vendors write it that send audio in JSON; µ-law where they leave it out, and never an error. */
export function mediaFormat(
  raw: unknown,
  { pcm, hasG722 = false }: MediaFormatOptions,
): OfferedFormat {
  if (raw === undefined || raw === null)
    return offeredFormat("PCMU", { sampleRateHz: PHONE_RATE_HZ });
  const parsed = v.safeParse(MediaFormat, raw);
  if (!parsed.success) return offeredFormat("", { sampleRateHz: Number.NaN });
  const { encoding, sampleRate, sample_rate, channels } = parsed.output;
  const sampleRateHz = sampleRate ?? sample_rate ?? PHONE_RATE_HZ;
  const offered = offeredFormat(encoding, { sampleRateHz, channels }, pcm);
  const isG722 = hasG722 && G722_NAME.test(encoding) && channels === 1;
  return isG722 && G722_NAMED_RATES_HZ.has(sampleRateHz) ? { ...offered, format: G722 } : offered;
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
