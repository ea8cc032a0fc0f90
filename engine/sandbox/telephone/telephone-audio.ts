/** G.711 µ-law, a separate implementation on purpose: the simulators share no code with what they test. */

const BIAS = 0x84;
const CLIP = 32_635;

const linear = Int16Array.from({ length: 256 }, (_, code) => {
  const inverted = ~code & 0xff;
  const magnitude = (((inverted & 0x0f) << 3) + BIAS) << ((inverted >> 4) & 0x07);
  return inverted & 0x80 ? BIAS - magnitude : magnitude - BIAS;
});

export function decodeMuLaw(bytes: Uint8Array): Int16Array {
  const pcm = new Int16Array(bytes.length);
  for (let n = 0; n < bytes.length; n += 1) pcm[n] = linear[bytes[n] ?? 0xff] ?? 0;
  return pcm;
}

export function encodeMuLaw(pcm: Int16Array): Uint8Array {
  const codes = new Uint8Array(pcm.length);
  for (let n = 0; n < pcm.length; n += 1) codes[n] = muLawCode(pcm[n] ?? 0);
  return codes;
}

function muLawCode(sample: number): number {
  const magnitude = Math.min(Math.abs(sample), CLIP) + BIAS;
  const exponent = 31 - Math.clz32(magnitude) - 7;
  const mantissa = (magnitude >> (exponent + 3)) & 0x0f;
  return ~((sample < 0 ? 0x80 : 0) | (exponent << 4) | mantissa) & 0xff;
}

/** Little-endian 16-bit samples; `bytes` must hold whole ones. */
export function samplesOf(bytes: Uint8Array): Int16Array {
  if (bytes.byteOffset % 2 === 0) {
    return new Int16Array(bytes.buffer, bytes.byteOffset, bytes.length >> 1);
  }
  return new Int16Array(Uint8Array.from(bytes).buffer, 0, bytes.length >> 1);
}

export function bytesOf(pcm: Int16Array): Buffer {
  return Buffer.from(pcm.buffer, pcm.byteOffset, pcm.byteLength);
}
