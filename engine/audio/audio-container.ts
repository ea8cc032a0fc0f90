import { ParleyError } from "../../storage/parley-error.js";
import { MP3_HEADER_BYTES, readMp3Header } from "./mp3-frames.js";
import { decodeAlaw, decodeMulaw } from "./mulaw.js";
import { encodePcm } from "./sample-coding.js";

/** The format that the first bytes show. `plain`: no known format, so perhaps samples without a header. */
export type AudioKind = "wav" | "mp3" | "plain" | UnplayableKind;
export type UnplayableKind =
  | "Ogg"
  | "FLAC"
  | "WebM"
  | "MP4"
  | "AAC"
  | "AIFF"
  | "AU"
  | "AMR"
  | "text";

/** Formats without a decoder, by their signature at this offset. */
const SIGNATURES: readonly (readonly [UnplayableKind, number, string])[] = [
  ["Ogg", 0, "OggS"],
  ["FLAC", 0, "fLaC"],
  ["WebM", 0, "\u001aE\u00df\u00a3"],
  ["AIFF", 0, "FORM"],
  ["AU", 0, ".snd"],
  ["AMR", 0, "#!AMR"],
  ["MP4", 4, "ftyp"],
];
const TEXT_BEGINS = /^\s*(?:<(?:!doctype|html|\?xml)|\{\s*"[a-z_]+"\s*:)/i;
/** The bytes that identify any of the above, except frames whose next header must be seen. */
const PROBE_BYTES = 32;

/** The format that these bytes begin; undefined if more bytes are needed, which `isAll` excludes. */
export function audioKindOf(bytes: Uint8Array, isAll: boolean): AudioKind | undefined {
  const head = Buffer.from(bytes.buffer, bytes.byteOffset, Math.min(bytes.byteLength, PROBE_BYTES));
  const text = head.toString("latin1");
  if (text.startsWith("RIFF")) {
    if (text.length < 12) return isAll ? "plain" : undefined;
    return text.startsWith("WAVE", 8) ? "wav" : "plain";
  }
  if (text.startsWith("ID3")) return "mp3";
  const known = SIGNATURES.find(([, at, mark]) => text.startsWith(mark, at));
  if (known !== undefined) return known[0];
  if (TEXT_BEGINS.test(text)) return "text";
  const framed = frameKindOf(bytes, isAll);
  if (framed !== "plain" || isAll || text.length >= PROBE_BYTES) return framed;
  return couldBeMore(text) ? undefined : "plain";
}

/** Too few bytes to decide; more may show one of the known formats. */
function couldBeMore(text: string): boolean {
  const isPrefix = (mark: string) => text.length < mark.length && mark.startsWith(text);
  if (["RIFF", "ID3"].some(isPrefix)) return true;
  if (SIGNATURES.some(([, at, mark]) => at === 0 && isPrefix(mark))) return true;
  // An MP4 begins with the size of its first box.
  return /^\s*[<{]/.test(text) || (text.startsWith("\0\0\0") && text.length < 8);
}

/** Samples occasionally look like a frame's header: another one of its kind must be at the end of the frame. */
function frameKindOf(bytes: Uint8Array, isAll: boolean): AudioKind | undefined {
  const [first = 0, second] = bytes;
  if (first !== 0xff) return "plain";
  if (second === undefined) return isAll ? "plain" : undefined;
  if ((second & 0xe0) !== 0xe0) return "plain";
  if (bytes.byteLength < 7) return isAll ? "plain" : undefined;
  const isAdts = (second & 0xf6) === 0xf0;
  const sizeBytes = isAdts ? adtsBytes(bytes) : (readMp3Header(bytes, 0)?.frameBytes ?? 0);
  if (sizeBytes === 0) return "plain";
  if (bytes.byteLength < sizeBytes + MP3_HEADER_BYTES) return isAll ? "plain" : undefined;
  if (isAdts) {
    const isNext = bytes[sizeBytes] === first && bytes[sizeBytes + 1] === second;
    return isNext ? "AAC" : "plain";
  }
  return isSameMp3(bytes, 0, sizeBytes) ? "mp3" : "plain";
}

function adtsBytes(bytes: Uint8Array): number {
  const [, , , fourth = 0, fifth = 0, sixth = 0] = bytes;
  return ((fourth & 3) << 11) | (fifth << 3) | (sixth >> 5);
}

function isSameMp3(bytes: Uint8Array, one: number, other: number): boolean {
  const header = readMp3Header(bytes, one);
  const next = readMp3Header(bytes, other);
  if (header === undefined || next === undefined) return false;
  return header.version === next.version && header.sampleRateHz === next.sampleRateHz;
}

/** Whether these bytes contain two consecutive MP3 frames. */
export function holdsMp3(bytes: Uint8Array): boolean {
  for (let at = bytes.indexOf(0xff); at !== -1; at = bytes.indexOf(0xff, at + 1)) {
    const header = readMp3Header(bytes, at);
    if (header !== undefined && isSameMp3(bytes, at, at + header.frameBytes)) return true;
  }
  return false;
}

export interface WavFormat {
  readonly codec: "pcm" | "float" | "mulaw" | "alaw";
  readonly sampleRateHz: number;
  readonly channels: number;
  readonly bitsPerSample: number;
}

/** Other chunks may precede the samples: titles, and padding up to a sector. */
const WAV_HEADER_MAX_BYTES = 64 * 1024;
const CHANNELS_MAX = 8;
const RATE_MIN_HZ = 4_000;
const RATE_MAX_HZ = 192_000;
const EXTENSIBLE = 0xfffe;
const CODECS: ReadonlyMap<number, WavFormat["codec"]> = new Map([
  [1, "pcm"],
  [3, "float"],
  [6, "alaw"],
  [7, "mulaw"],
]);

/** A WAV that cannot be played; the message contains the reason. */
export class WavError extends ParleyError {
  override readonly name = "WavError";
  readonly code = "audio_file_invalid";
}

/** A WAV in pieces, cut anywhere; bytes after its samples are ignored. */
export class WavReader {
  #format: WavFormat | undefined;
  #pending: Buffer = Buffer.alloc(0);
  /** The samples that are still to come; a stream does not know the number, and has 0 or the maximum. */
  #remainingBytes: number | undefined;

  get format(): WavFormat | undefined {
    return this.#remainingBytes === undefined ? undefined : this.#format;
  }

  /** The whole samples of all channels that these bytes complete. Throws a WavError. */
  take(bytes: Uint8Array): Uint8Array {
    this.#pending =
      this.#pending.byteLength === 0 ? Buffer.from(bytes) : Buffer.concat([this.#pending, bytes]);
    if (this.#remainingBytes === undefined) this.#readHeader();
    if (this.#remainingBytes === undefined || this.#format === undefined) return new Uint8Array(0);
    const { channels, bitsPerSample } = this.#format;
    const frameBytes = (channels * bitsPerSample) / 8;
    const dueBytes = Math.min(this.#pending.byteLength, this.#remainingBytes);
    const wholeBytes = dueBytes - (dueBytes % frameBytes);
    const samples = this.#pending.subarray(0, wholeBytes);
    this.#remainingBytes -= wholeBytes;
    this.#pending =
      this.#remainingBytes === 0 ? Buffer.alloc(0) : this.#pending.subarray(wholeBytes);
    return samples;
  }

  #readHeader(): void {
    const held = this.#pending;
    let at = 12;
    while (at + 8 <= held.byteLength) {
      const name = held.toString("latin1", at, at + 4);
      const sizeBytes = held.readUInt32LE(at + 4);
      if (name === "data") {
        if (this.#format === undefined) throw new WavError("has no format");
        const isOpen = sizeBytes === 0 || sizeBytes >= 0x7fff_f000;
        this.#remainingBytes = isOpen ? Number.POSITIVE_INFINITY : sizeBytes;
        this.#pending = held.subarray(at + 8);
        return;
      }
      const end = at + 8 + sizeBytes + (sizeBytes % 2);
      if (end > WAV_HEADER_MAX_BYTES) throw new WavError("has no samples in its first 64 KiB");
      if (end > held.byteLength) return;
      if (name === "fmt ") this.#format = wavFormatOf(held.subarray(at + 8, at + 8 + sizeBytes));
      at = end;
    }
  }
}

function wavFormatOf(chunk: Buffer): WavFormat {
  if (chunk.byteLength < 16) throw new WavError("has a format that is cut short");
  const tag = chunk.readUInt16LE(0);
  const isExtended = tag === EXTENSIBLE && chunk.byteLength >= 26;
  const codec = CODECS.get(isExtended ? chunk.readUInt16LE(24) : tag);
  const channels = chunk.readUInt16LE(2);
  const sampleRateHz = chunk.readUInt32LE(4);
  const bitsPerSample = chunk.readUInt16LE(14);
  if (codec === undefined) throw new WavError(`has the codec ${tag}, which cannot be decoded`);
  const isChannels = channels >= 1 && channels <= CHANNELS_MAX;
  const isRate = sampleRateHz >= RATE_MIN_HZ && sampleRateHz <= RATE_MAX_HZ;
  if (!isChannels || !isRate || !isBits(codec, bitsPerSample)) {
    throw new WavError(
      `has ${channels} channels of ${bitsPerSample} bits at ${sampleRateHz} Hz, which cannot be decoded`,
    );
  }
  return { codec, sampleRateHz, channels, bitsPerSample };
}

function isBits(codec: WavFormat["codec"], bits: number): boolean {
  if (codec === "pcm") return bits === 8 || bits === 16 || bits === 24 || bits === 32;
  return codec === "float" ? bits === 32 || bits === 64 : bits === 8;
}

/** Whole samples of a WAV as 16-bit PCM, its channels mixed into one. */
export function wavToPcm16(bytes: Uint8Array, format: WavFormat): Uint8Array {
  const { codec, channels, bitsPerSample } = format;
  if (codec === "pcm" && bitsPerSample === 16 && channels === 1) return bytes;
  const all = samplesOfWav(bytes, codec, bitsPerSample);
  if (channels === 1) return encodePcm(all, true);
  const mixed = new Int16Array(all.length / channels);
  for (let index = 0; index < mixed.length; index += 1) {
    let sum = 0;
    for (let channel = 0; channel < channels; channel += 1)
      sum += all[index * channels + channel] ?? 0;
    mixed[index] = Math.round(sum / channels);
  }
  return encodePcm(mixed, true);
}

function samplesOfWav(bytes: Uint8Array, codec: WavFormat["codec"], bits: number): Int16Array {
  if (codec === "mulaw") return decodeMulaw(bytes);
  if (codec === "alaw") return decodeAlaw(bytes);
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const sampleBytes = bits / 8;
  const samples = new Int16Array(bytes.byteLength / sampleBytes);
  for (let index = 0; index < samples.length; index += 1) {
    samples[index] = sampleAt(view, index * sampleBytes, codec, bits);
  }
  return samples;
}

function sampleAt(view: DataView, at: number, codec: WavFormat["codec"], bits: number): number {
  if (codec === "float") {
    const value = bits === 32 ? view.getFloat32(at, true) : view.getFloat64(at, true);
    return Math.round(Math.max(-1, Math.min(1, value)) * 32_767);
  }
  // Samples of more than 16 bits are cut to the upper ones; 8-bit samples are unsigned.
  if (bits === 8) return (view.getUint8(at) - 128) << 8;
  return view.getInt16(at + bits / 8 - 2, true);
}
