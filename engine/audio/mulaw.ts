// Own code, since it is one page of a standard and runs for every frame of a telephone call.
/**
 * G.711 (ITU-T G.711, 1988), both laws, by tables: a sample of 16-bit PCM to a byte and back. A byte's sample is
 * the middle of its interval, at 16 bits: µ-law reaches ±32,124, A-law ±32,256.
 */

const MULAW_BIAS = 132;
const MULAW_CLIP = 32_635;

const MULAW_SAMPLES = Int16Array.from({ length: 256 }, (_, code) => mulawSample(code));
const ALAW_SAMPLES = Int16Array.from({ length: 256 }, (_, code) => alawSample(code));
/** µ-law distinguishes 14 bits and A-law 13, so the table does not need the lowest bits of a sample. */
const MULAW_CODES = Uint8Array.from({ length: 1 << 14 }, (_, top) => mulawCode((top << 18) >> 16));
const ALAW_CODES = Uint8Array.from({ length: 1 << 13 }, (_, top) => alawCode((top << 19) >> 16));

/** Silence in µ-law. */
export const MULAW_SILENCE = 0xff;
/** Silence in A-law. */
export const ALAW_SILENCE = 0xd5;

export function encodeMulaw(pcm: Int16Array): Uint8Array {
  const codes = new Uint8Array(pcm.length);
  for (let index = 0; index < pcm.length; index += 1) {
    codes[index] = MULAW_CODES[((pcm[index] ?? 0) >> 2) & 0x3fff] ?? MULAW_SILENCE;
  }
  return codes;
}

export function decodeMulaw(codes: Uint8Array): Int16Array {
  const pcm = new Int16Array(codes.length);
  for (let index = 0; index < codes.length; index += 1) {
    pcm[index] = MULAW_SAMPLES[codes[index] ?? MULAW_SILENCE] ?? 0;
  }
  return pcm;
}

export function encodeAlaw(pcm: Int16Array): Uint8Array {
  const codes = new Uint8Array(pcm.length);
  for (let index = 0; index < pcm.length; index += 1) {
    codes[index] = ALAW_CODES[((pcm[index] ?? 0) >> 3) & 0x1fff] ?? ALAW_SILENCE;
  }
  return codes;
}

export function decodeAlaw(codes: Uint8Array): Int16Array {
  const pcm = new Int16Array(codes.length);
  for (let index = 0; index < codes.length; index += 1) {
    pcm[index] = ALAW_SAMPLES[codes[index] ?? ALAW_SILENCE] ?? 0;
  }
  return pcm;
}

/** Sign, three bits of segment, four of step, all inverted in transmission. */
function mulawSample(code: number): number {
  const bits = ~code;
  const magnitude = ((((bits & 0x0f) << 3) + MULAW_BIAS) << ((bits >> 4) & 7)) - MULAW_BIAS;
  return (bits & 0x80) === 0 ? magnitude : -magnitude;
}

function mulawCode(sample: number): number {
  const sign = sample < 0 ? 0x80 : 0;
  // A negative sample is complemented, as the law does with its 14 bits: -1 maps next to 0, not to 1.
  const size = Math.min(sample < 0 ? -sample - 4 : sample, MULAW_CLIP) + MULAW_BIAS;
  const segment = 24 - Math.clz32(size);
  return ~(sign | (segment << 4) | ((size >> (segment + 3)) & 0x0f)) & 0xff;
}

/** As above, but every second bit is inverted, and the sign bit is set for positive samples. */
function alawSample(code: number): number {
  const bits = code ^ 0x55;
  const segment = (bits >> 4) & 7;
  const step = ((bits & 0x0f) << 4) + 8;
  const magnitude = segment === 0 ? step : (step + 256) << (segment - 1);
  return (bits & 0x80) === 0 ? -magnitude : magnitude;
}

function alawCode(sample: number): number {
  const sign = sample < 0 ? 0 : 0x80;
  const size = sample < 0 ? -sample - 8 : sample;
  const segment = Math.max(0, 24 - Math.clz32(size | 0xff));
  const step = segment === 0 ? size >> 4 : size >> (segment + 3);
  return (sign | (segment << 4) | (step & 0x0f)) ^ 0x55;
}
