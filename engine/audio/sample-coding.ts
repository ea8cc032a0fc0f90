import type { RawEncoding } from "./audio-format.js";
import { decodeAlaw, decodeMulaw, encodeAlaw, encodeMulaw } from "./mulaw.js";

/** Samples of raw audio; half a sample at the end is dropped. */
export function decodeSamples(bytes: Uint8Array, encoding: RawEncoding): Int16Array {
  switch (encoding) {
    case "mulaw":
      return decodeMulaw(bytes);
    case "alaw":
      return decodeAlaw(bytes);
    case "pcm16":
      return decodePcm(bytes, true);
    case "pcm16be":
      return decodePcm(bytes, false);
  }
}

export function encodeSamples(pcm: Int16Array, encoding: RawEncoding): Uint8Array {
  switch (encoding) {
    case "mulaw":
      return encodeMulaw(pcm);
    case "alaw":
      return encodeAlaw(pcm);
    case "pcm16":
      return encodePcm(pcm, true);
    case "pcm16be":
      return encodePcm(pcm, false);
  }
}

/** µ-law unchanged; everything else as 16-bit samples, low byte first. */
export function forRecognizer(bytes: Uint8Array, encoding: RawEncoding): Uint8Array {
  switch (encoding) {
    case "mulaw":
    case "pcm16":
      return bytes;
    case "alaw":
      return encodePcm(decodeAlaw(bytes), true);
    case "pcm16be":
      return Buffer.from(bytes).swap16();
  }
}

/** 16-bit PCM; half a sample at the end is dropped. */
export function decodePcm(bytes: Uint8Array, littleEndian: boolean): Int16Array {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const pcm = new Int16Array(bytes.length >> 1);
  for (let index = 0; index < pcm.length; index += 1) {
    pcm[index] = view.getInt16(2 * index, littleEndian);
  }
  return pcm;
}

const IS_LITTLE_ENDIAN = new Uint8Array(Uint16Array.of(1).buffer)[0] === 1;

/** As `decodePcm` with the low byte first, without a copy if the machine and the alignment of the bytes allow it. */
export function viewPcm(bytes: Uint8Array): Int16Array {
  const isAligned = bytes.byteOffset % Int16Array.BYTES_PER_ELEMENT === 0;
  if (!IS_LITTLE_ENDIAN || !isAligned) return decodePcm(bytes, true);
  return new Int16Array(bytes.buffer, bytes.byteOffset, bytes.length >> 1);
}

export function encodePcm(pcm: Int16Array, littleEndian: boolean): Uint8Array {
  const bytes = new Uint8Array(2 * pcm.length);
  const view = new DataView(bytes.buffer);
  for (let index = 0; index < pcm.length; index += 1) {
    view.setInt16(2 * index, pcm[index] ?? 0, littleEndian);
  }
  return bytes;
}
