import { MP3_HEADER_BYTES, type Mp3Header, readMp3Header } from "./mp3-header.js";

export interface Mp3Stream {
  /** The sample rate of the first frame; 0 without frames. */
  readonly sampleRateHz: number;
  /** The channels of the first frame; 0 without frames. */
  readonly channels: number;
  readonly durationMs: number;
  readonly frames: number;
  /** The whole frames alone: no tags, no information frame, no garbage, no cut last frame. May share memory with the input. */
  readonly audio: Uint8Array;
}

interface Piece {
  readonly from: number;
  readonly to: number;
}

/** How long the whole frames in these bytes play. Any bytes are taken; in what is not MP3 there is nothing to play. */
export function mp3DurationMs(bytes: Uint8Array): number {
  return mp3Stream(bytes).durationMs;
}

/** Walks the frames once, in linear time, and never throws. */
export function mp3Stream(bytes: Uint8Array): Mp3Stream {
  const pieces: Piece[] = [];
  let first: Mp3Header | undefined;
  let frames = 0;
  let samples = 0;
  let at = 0;
  while (at < bytes.length) {
    const header = readMp3Header(bytes, at);
    if (header === undefined || !isFrame(bytes, at, header, first, pieces.at(-1)?.to === at)) {
      at = afterGarbage(bytes, at);
      continue;
    }
    const to = at + header.frameBytes;
    if (first !== undefined || !isInformation(bytes, at, header)) {
      first ??= header;
      frames += 1;
      samples += header.samples;
      append(pieces, at, to);
    }
    at = to;
  }
  return {
    sampleRateHz: first?.sampleRateHz ?? 0,
    channels: first?.channels ?? 0,
    durationMs: first === undefined ? 0 : (samples * 1_000) / first.sampleRateHz,
    frames,
    audio: joined(bytes, pieces),
  };
}

/** Two bytes look like a header once in a while; what follows must be a header of the same kind, a tag or the end. */
function isFrame(
  bytes: Uint8Array,
  at: number,
  header: Mp3Header,
  first: Mp3Header | undefined,
  followsFrame: boolean,
): boolean {
  const end = at + header.frameBytes;
  if (end > bytes.length) return false;
  if (first !== undefined && !isSameKind(header, first)) return false;
  if (bytes.length - end < MP3_HEADER_BYTES || isTag(bytes, end)) return true;
  const next = readMp3Header(bytes, end);
  if (next !== undefined) return isSameKind(next, header);
  // Garbage may follow a frame that itself follows one; after garbage that would be too little proof.
  return followsFrame;
}

function isSameKind(one: Mp3Header, other: Mp3Header): boolean {
  return one.version === other.version && one.sampleRateHz === other.sampleRateHz;
}

/** Skips a tag at once, anything else byte by byte up to the next that may begin a frame or a tag. */
function afterGarbage(bytes: Uint8Array, at: number): number {
  if (isId3v2(bytes, at)) return at + id3v2Bytes(bytes, at);
  let next = at + 1;
  while (next < bytes.length && bytes[next] !== 0xff && bytes[next] !== ID3_FIRST) next += 1;
  return next;
}

const ID3_FIRST = 0x49;
const ID3V2_HEADER_BYTES = 10;

function isTag(bytes: Uint8Array, at: number): boolean {
  return isId3v2(bytes, at) || spells(bytes, at, "TAG") || spells(bytes, at, "APETAGEX");
}

function isId3v2(bytes: Uint8Array, at: number): boolean {
  return spells(bytes, at, "ID3") && at + ID3V2_HEADER_BYTES <= bytes.length;
}

/** Seven bits a byte (ID3v2.4, section 3.1). The header is not in the number, nor a footer, in which no frame can begin. */
function id3v2Bytes(bytes: Uint8Array, at: number): number {
  let size = 0;
  for (let index = at + 6; index < at + ID3V2_HEADER_BYTES; index += 1) {
    size = size * 128 + ((bytes[index] ?? 0) & 0x7f);
  }
  return ID3V2_HEADER_BYTES + size;
}

const VBRI_OFFSET_BYTES = MP3_HEADER_BYTES + 32;

/** A first frame that holds tables for seeking instead of sound: Xing or Info after the side information, or VBRI. */
function isInformation(bytes: Uint8Array, at: number, header: Mp3Header): boolean {
  const mark = at + header.sideEndBytes;
  const plainMark = at + header.sideEndBytes - ((bytes[at + 1] ?? 0) & 1 ? 0 : 2);
  return (
    [mark, plainMark].some(
      (place) => spells(bytes, place, "Xing") || spells(bytes, place, "Info"),
    ) || spells(bytes, at + VBRI_OFFSET_BYTES, "VBRI")
  );
}

function spells(bytes: Uint8Array, at: number, word: string): boolean {
  for (let index = 0; index < word.length; index += 1) {
    if (bytes[at + index] !== word.charCodeAt(index)) return false;
  }
  return true;
}

function append(pieces: Piece[], from: number, to: number): void {
  const last = pieces.at(-1);
  if (last?.to === from) pieces[pieces.length - 1] = { from: last.from, to };
  else pieces.push({ from, to });
}

function joined(bytes: Uint8Array, pieces: readonly Piece[]): Uint8Array {
  const [only] = pieces;
  if (only === undefined) return new Uint8Array(0);
  if (pieces.length === 1) return bytes.subarray(only.from, only.to);
  const audio = new Uint8Array(pieces.reduce((sum, { from, to }) => sum + to - from, 0));
  let at = 0;
  for (const { from, to } of pieces) {
    audio.set(bytes.subarray(from, to), at);
    at += to - from;
  }
  return audio;
}
