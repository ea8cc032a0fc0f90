// Own code, since frames are passed on unchanged, and the packages for MP3 decode them.
/** The four bytes before every frame of MPEG audio, Layer III. Source: ISO/IEC 11172-3 (MPEG-1), 13818-3 (MPEG-2), and the 2.5 extension. */
export interface Mp3Header {
  readonly version: "1" | "2" | "2.5";
  readonly sampleRateHz: number;
  readonly channels: 1 | 2;
  /** Samples per channel that the frame decodes to. */
  readonly samples: number;
  /** The whole frame with its header. */
  readonly frameBytes: number;
  /** Where the main data would begin if it were a tag frame: header, check sum and side information. */
  readonly sideEndBytes: number;
}

export const MP3_HEADER_BYTES = 4;

/** kbit/s by the header's index; 0 = "free" and 15 = forbidden, which are refused. */
const MPEG1_KBITS = [0, 32, 40, 48, 56, 64, 80, 96, 112, 128, 160, 192, 224, 256, 320];
const MPEG2_KBITS = [0, 8, 16, 24, 32, 40, 48, 56, 64, 80, 96, 112, 128, 144, 160];

const SAMPLE_RATES_HZ = {
  "1": [44_100, 48_000, 32_000],
  "2": [22_050, 24_000, 16_000],
  "2.5": [11_025, 12_000, 8_000],
} as const;

const VERSIONS = ["2.5", undefined, "2", "1"] as const;
const LAYER_III = 1;
const MONO = 3;
const CHECKSUM_BYTES = 2;

/** The header at `at`, or undefined if these bytes do not begin a Layer III frame of a known size. */
export function readMp3Header(bytes: Uint8Array, at: number): Mp3Header | undefined {
  const first = bytes[at];
  const second = bytes[at + 1];
  const third = bytes[at + 2];
  const fourth = bytes[at + 3];
  if (second === undefined || third === undefined || fourth === undefined) return undefined;
  if (first !== 0xff || (second & 0xe0) !== 0xe0 || ((second >> 1) & 3) !== LAYER_III)
    return undefined;
  const version = VERSIONS[(second >> 3) & 3];
  if (version === undefined) return undefined;
  const kbits = (version === "1" ? MPEG1_KBITS : MPEG2_KBITS)[third >> 4];
  const sampleRateHz = SAMPLE_RATES_HZ[version][(third >> 2) & 3];
  if (kbits === undefined || kbits === 0 || sampleRateHz === undefined) return undefined;
  const samples = version === "1" ? 1_152 : 576;
  const padding = (third >> 1) & 1;
  const channels = fourth >> 6 === MONO ? 1 : 2;
  return {
    version,
    sampleRateHz,
    channels,
    samples,
    frameBytes: Math.floor((samples * kbits * 125) / sampleRateHz) + padding,
    sideEndBytes:
      MP3_HEADER_BYTES + ((second & 1) === 0 ? CHECKSUM_BYTES : 0) + sideBytes(version, channels),
  };
}

function sideBytes(version: Mp3Header["version"], channels: 1 | 2): number {
  if (version === "1") return channels === 1 ? 17 : 32;
  return channels === 1 ? 9 : 17;
}

export interface Mp3Stream {
  /** The sample rate of the first frame; 0 without frames. */
  readonly sampleRateHz: number;
  /** The channels of the first frame; 0 without frames. */
  readonly channels: number;
  readonly durationMs: number;
  readonly frames: number;
  /**
   * Only the whole frames: no tags, no information frame, no garbage, no cut last frame. May share memory with the
   * input.
   */
  readonly audio: Uint8Array;
}

interface Piece {
  readonly from: number;
  readonly to: number;
}

/** The playing time of the whole frames in these bytes. Accepts any bytes; 0 if they contain no MP3. */
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

/** Two bytes occasionally look like a header; a header of the same kind, a tag or the end must follow. */
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

/** Skips a whole tag, and anything else byte by byte up to the next that may begin a frame or a tag. */
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

/**
 * Seven bits per byte (ID3v2.4, section 3.1). The number excludes the header and a footer, in which no frame can
 * begin.
 */
function id3v2Bytes(bytes: Uint8Array, at: number): number {
  let size = 0;
  for (let index = at + 6; index < at + ID3V2_HEADER_BYTES; index += 1) {
    size = size * 128 + ((bytes[index] ?? 0) & 0x7f);
  }
  return ID3V2_HEADER_BYTES + size;
}

const VBRI_OFFSET_BYTES = MP3_HEADER_BYTES + 32;

/** A first frame that contains seek tables instead of audio: Xing or Info after the side information, or VBRI. */
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
