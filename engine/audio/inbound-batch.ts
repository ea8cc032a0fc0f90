import { bytesPerSample, decodePhoneAudio, type PhoneEncoding } from "./phone-encoding.js";
import { UPSAMPLER_HISTORY, upsamplerWindow, upsampleWindow } from "./upsampler.js";

/**
 * What goes to a worker as one task, in one buffer: the number of pieces; for each its encoding and the bytes of new audio;
 * then the pieces, each after the bytes of the past that its filter needs. So a worker keeps nothing between batches.
 */
export interface InboundPiece {
  readonly encoding: PhoneEncoding;
  /** The past, `historyBytes(encoding)` of it, and then the new audio in whole samples. */
  readonly bytes: Uint8Array;
}

const ENCODINGS = ["mulaw", "alaw", "l16", "l16be"] as const;
const WORD_BYTES = 4;
/** Two samples of two bytes for each that came in. */
const WIDE_BYTES_PER_SAMPLE = 4;

export function historyBytes(encoding: PhoneEncoding): number {
  return UPSAMPLER_HISTORY * bytesPerSample(encoding);
}

/** Of what a piece becomes. */
export function wideBytes({ encoding, bytes }: InboundPiece): number {
  const samples = (bytes.length - historyBytes(encoding)) / bytesPerSample(encoding);
  return samples * WIDE_BYTES_PER_SAMPLE;
}

export function packBatch(pieces: readonly InboundPiece[]): Uint8Array<ArrayBuffer> {
  const headWords = 1 + 2 * pieces.length;
  let size = headWords * WORD_BYTES;
  for (const { bytes } of pieces) size += bytes.length;
  const buffer = new ArrayBuffer(size);
  const head = new Uint32Array(buffer, 0, headWords);
  const batch = new Uint8Array(buffer);
  head[0] = pieces.length;
  let word = 1;
  let at = headWords * WORD_BYTES;
  for (const { encoding, bytes } of pieces) {
    head[word] = ENCODINGS.indexOf(encoding);
    head[word + 1] = bytes.length;
    word += 2;
    batch.set(bytes, at);
    at += bytes.length;
  }
  return batch;
}

/** PCM of 16 bits at 16 kHz of all pieces, one after another; runs in the worker. */
export function convertBatch(batch: Uint8Array): Uint8Array {
  const view = new DataView(batch.buffer, batch.byteOffset, batch.byteLength);
  const pieces = view.getUint32(0, true);
  const wide = new Int16Array(wideSamples(view, pieces));
  let at = (1 + 2 * pieces) * WORD_BYTES;
  let wideAt = 0;
  for (let piece = 0; piece < pieces; piece += 1) {
    const { encoding, size } = pieceAt(view, piece);
    const past = decodePhoneAudio(batch.subarray(at, at + size), encoding);
    const count = past.length - UPSAMPLER_HISTORY;
    upsamplerWindow(count).set(past);
    upsampleWindow(count, wide, wideAt);
    at += size;
    wideAt += 2 * count;
  }
  return new Uint8Array(wide.buffer);
}

function wideSamples(view: DataView, pieces: number): number {
  let samples = 0;
  for (let piece = 0; piece < pieces; piece += 1) {
    const { encoding, size } = pieceAt(view, piece);
    samples += 2 * (size / bytesPerSample(encoding) - UPSAMPLER_HISTORY);
  }
  return samples;
}

function pieceAt(view: DataView, piece: number): { encoding: PhoneEncoding; size: number } {
  const at = (1 + 2 * piece) * WORD_BYTES;
  const encoding = ENCODINGS[view.getUint32(at, true)];
  if (encoding === undefined) throw new Error("the batch names no encoding");
  return { encoding, size: view.getUint32(at + WORD_BYTES, true) };
}
