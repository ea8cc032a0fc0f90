import {
  ALAW_SILENCE,
  decodeAlaw,
  decodeMulaw,
  encodeAlaw,
  encodeMulaw,
  MULAW_SILENCE,
} from "./mulaw.js";

/**
 * How the audio of a telephone leg is written, at 8 kHz, mono: `l16` is PCM of 16 bits, low byte first; `l16be` high
 * byte first.
 */
export type PhoneEncoding = "mulaw" | "alaw" | "l16" | "l16be";

export const PHONE_RATE_HZ = 8_000;

export function bytesPerSample(encoding: PhoneEncoding): 1 | 2 {
  return encoding === "mulaw" || encoding === "alaw" ? 1 : 2;
}

/** The byte that silence is made of. */
export function silenceByte(encoding: PhoneEncoding): number {
  if (encoding === "mulaw") return MULAW_SILENCE;
  return encoding === "alaw" ? ALAW_SILENCE : 0;
}

/** Samples of the leg's bytes; half a sample at the end is left out. */
export function decodePhoneAudio(bytes: Uint8Array, encoding: PhoneEncoding): Int16Array {
  switch (encoding) {
    case "mulaw":
      return decodeMulaw(bytes);
    case "alaw":
      return decodeAlaw(bytes);
    case "l16":
      return decodePcm(bytes, true);
    case "l16be":
      return decodePcm(bytes, false);
  }
}

export function encodePhoneAudio(pcm: Int16Array, encoding: PhoneEncoding): Uint8Array {
  switch (encoding) {
    case "mulaw":
      return encodeMulaw(pcm);
    case "alaw":
      return encodeAlaw(pcm);
    case "l16":
      return encodePcm(pcm, true);
    case "l16be":
      return encodePcm(pcm, false);
  }
}

/** PCM of 16 bits; half a sample at the end is left out. */
export function decodePcm(bytes: Uint8Array, littleEndian: boolean): Int16Array {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const pcm = new Int16Array(bytes.length >> 1);
  for (let index = 0; index < pcm.length; index += 1) {
    pcm[index] = view.getInt16(2 * index, littleEndian);
  }
  return pcm;
}

export function encodePcm(pcm: Int16Array, littleEndian: boolean): Uint8Array {
  const bytes = new Uint8Array(2 * pcm.length);
  const view = new DataView(bytes.buffer);
  for (let index = 0; index < pcm.length; index += 1) {
    view.setInt16(2 * index, pcm[index] ?? 0, littleEndian);
  }
  return bytes;
}
