import { createHash } from "node:crypto";

export const G722_RATE_HZ = 16_000;
const DURATION_SEC = 1;
/** Two packets of 20 ms. */
const LOST_CODES = 320;
const LOST_FROM = 3_200;

function noise(level: number): () => number {
  let seed = 1;
  return () => {
    seed = (Math.imul(seed, 1_103_515_245) + 12_345) & 0x7fffffff;
    return level * ((2 * seed) / 0x7fffffff - 1);
  };
}

function tone(hz: number, level: number): (n: number) => number {
  return (n) => level * Math.sin((2 * Math.PI * hz * n) / G722_RATE_HZ);
}

function signal(valueAt: (n: number) => number): Int16Array {
  const count = DURATION_SEC * G722_RATE_HZ;
  return Int16Array.from({ length: count }, (_, n) => Math.round(valueAt(n)));
}

const loud = noise(32_767);
const soft = noise(200);
const syllable = tone(180, 9_000);
const hiss = noise(3_000);

/** What telephones carry, and the extremes of both bands. */
export const G722_SIGNALS: Readonly<Record<string, Int16Array>> = {
  silence: signal(() => 0),
  "a low tone": signal(tone(440, 12_000)),
  "a tone in the upper band": signal(tone(6_500, 20_000)),
  "a square wave at full scale": signal((n) => (n % 16 < 8 ? 32_767 : -32_768)),
  "loud noise": signal(loud),
  "soft noise": signal(soft),
  "a sweep that stops and starts": signal((n) =>
    n % 4_000 < 2_000 ? tone(100 + n / 5, 15_000)(n) : 0,
  ),
  "syllables of tone and hiss": signal((n) => (n % 3_200 < 2_000 ? syllable(n) + soft() : hiss())),
};

/** A line that lost two packets. */
export function withoutLostPackets(codes: Uint8Array): Uint8Array {
  return Buffer.concat([codes.subarray(0, LOST_FROM), codes.subarray(LOST_FROM + LOST_CODES)]);
}

export function sha256(audio: Uint8Array | Int16Array): string {
  const { buffer, byteOffset, byteLength } = audio;
  return createHash("sha256")
    .update(new Uint8Array(buffer, byteOffset, byteLength))
    .digest("hex");
}

export interface G722Digests {
  readonly codes: string;
  readonly decoded: string;
  /** Decoded after packets were lost. */
  readonly decodedAfterLoss: string;
}
