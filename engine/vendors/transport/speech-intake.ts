import {
  type AudioKind,
  audioKindOf,
  holdsMp3,
  WavError,
  type WavFormat,
  WavReader,
  wavToPcm16,
} from "../../audio/audio-container.js";
import { bytesPerSample, durationMsOf, isSameFormat } from "../../audio/audio-format.js";
import { readMp3Header } from "../../audio/mp3-frames.js";
import { decodeMulaw } from "../../audio/mulaw.js";
import { decodeSamples, encodePcm } from "../../audio/sample-coding.js";
import { type SpeechFormat, type SpeechRequest, VendorError } from "../contracts.js";
import { isLongText, isQuiet, isTooLittle } from "./speech-tail.js";

/** Content declared as MP3 that does not begin as MP3 is searched up to this size. */
const MP3_SEARCH_MAX_BYTES = 4_096;

/** The level is measured in steps of 10 ms of PCM at 24 kHz, from the end of a piece. */
const LEVEL_WINDOW_BYTES = 480;

/** MP3 is requested at 48 kbit/s. */
const MP3_ASKED_BYTES_PER_MS = 6;

/** Content types without a decoder, whatever their bytes look like. */
const UNPLAYABLE_TYPE = /^audio\/(?:x-)?(?:ogg|opus|webm|flac|aac|aacp|mp4|m4a|3gpp|amr|amr-wb)\b/;
const PCM_TYPE = /^audio\/(?:x-)?(?:l16|pcm|raw)\b/;
const MULAW_TYPE = /^audio\/(?:x-)?(?:basic|pcmu|mulaw|mu-law)\b/;
const MP3_TYPE = /^audio\/(?:x-)?(?:mpeg|mp3)\b/;

type SpokenRequest = Pick<SpeechRequest, "text" | "speed" | "format" | "onFormat" | "measure">;

/**
 * Checks TTS audio before it plays. Audio in another format than requested is decoded if the request accepts that
 * (`onFormat`). Audio that cannot be played is a `badAnswer` with its reason, so that the chain moves on to the next
 * vendor.
 */
export class SpeechIntake {
  readonly #vendor: string;
  readonly #request: SpokenRequest;
  readonly #onChunk: (audio: Uint8Array) => void;
  readonly #contentType: string;
  #header: Buffer | undefined = Buffer.alloc(0);
  #convert: (bytes: Uint8Array) => Uint8Array = (bytes) => bytes;
  /** The format that is passed on: the requested one, or the one that `onFormat` accepted. */
  #format: SpeechFormat;
  #outputMs = 0;
  /** Where the last sound ends; the silence after it is not part of the text. */
  #soundMs = 0;
  #outputBytes = 0;
  #mp3BytesPerMs: number | undefined;
  /** Silence at the beginning of a long text's audio: it is passed on with the first sound. */
  #silence: Uint8Array[] | undefined;

  constructor(
    vendor: string,
    request: SpokenRequest,
    onChunk: (audio: Uint8Array) => void,
    contentType = "",
  ) {
    this.#vendor = vendor;
    this.#request = request;
    this.#onChunk = onChunk;
    this.#contentType = contentType.toLowerCase();
    this.#format = request.format;
    this.#silence = isLongText(request.text) ? [] : undefined;
  }

  /** The next bytes, which may be cut anywhere. Throws a VendorError. */
  take(bytes: Uint8Array): void {
    if (bytes.byteLength === 0) return;
    if (this.#header === undefined) return this.#emit(bytes);
    this.#header = Buffer.concat([this.#header, bytes]);
    this.#detectFormat(this.#header, false);
  }

  /** No more bytes follow. Throws a VendorError. */
  end(): void {
    if (this.#header !== undefined && this.#header.byteLength > 0)
      this.#detectFormat(this.#header, true);
    if (this.#outputMs === 0) return;
    const ms = Math.round(this.#outputMs);
    if (this.#silence !== undefined) throw this.#failure(`returned ${ms} ms of silence for a text`);
    const { measure, text } = this.#request;
    const soundMs = Math.round(this.#soundMs);
    const isTooShort = isTooLittle(soundMs, this.#request);
    measure?.measured(soundMs);
    if (!isTooShort) return;
    throw this.#failure(`returned ${soundMs} ms of audio for ${text.length} characters`);
  }

  #detectFormat(held: Buffer, isAll: boolean): void {
    const kind = this.#kindOf(held, isAll);
    if (kind === undefined) return;
    this.#header = undefined;
    this.#start(kind);
    this.#emit(held);
  }

  #kindOf(held: Buffer, isAll: boolean): AudioKind | undefined {
    const isMp3Asked = this.#request.format.encoding === "mp3";
    // A frame in the requested format is passed on unchanged.
    if (isMp3Asked && held.byteLength >= 2 && held[0] === 0xff) {
      const isAdts = ((held[1] ?? 0) & 0xf6) === 0xf0;
      if (!isAdts) return "mp3";
    }
    const kind = audioKindOf(held, isAll);
    if (kind !== "plain" || isMp3Asked || !MP3_TYPE.test(this.#contentType)) return kind;
    if (holdsMp3(held)) return "mp3";
    return isAll || held.byteLength >= MP3_SEARCH_MAX_BYTES ? "plain" : undefined;
  }

  #start(kind: AudioKind): void {
    const { format } = this.#request;
    if (kind === "wav") return this.#startWav();
    if (kind === "mp3") {
      if (format.encoding !== "mp3") this.#demand({ ...format, encoding: "mp3" }, "MP3");
      return;
    }
    if (kind !== "plain") throw this.#unplayable(kind);
    if (UNPLAYABLE_TYPE.test(this.#contentType)) throw this.#unplayable(this.#contentType);
    this.#startRaw();
  }

  /** Samples without a header are in the format of the content type, or otherwise in the requested one. */
  #startRaw(): void {
    const { format } = this.#request;
    if (format.encoding === "mp3") return;
    const type = this.#contentType;
    const rateHz = Number(/[;\s]rate=(\d{4,6})\b/.exec(type)?.[1] ?? format.sampleRateHz);
    if (/[;\s]channels=[2-9]/.test(type)) throw this.#unplayable(type);
    if (PCM_TYPE.test(type) && (format.encoding === "pcm16" || /rate=/.test(type))) {
      const given = { encoding: "pcm16", sampleRateHz: rateHz } as const;
      if (!isSameFormat(given, format)) this.#demand(given, `PCM of ${rateHz} Hz`);
    } else if (MULAW_TYPE.test(type) && format.encoding === "pcm16") {
      const sampleRateHz = /rate=/.test(type) ? rateHz : 8_000;
      this.#demand({ encoding: "pcm16", sampleRateHz }, `µ-law of ${sampleRateHz} Hz`);
      this.#convert = (bytes) => encodePcm(decodeMulaw(bytes), true);
    }
  }

  #startWav(): void {
    const reader = new WavReader();
    let begun = false;
    this.#convert = (bytes) => {
      const samples = this.#readWav(reader, bytes);
      const { format } = reader;
      if (format === undefined) return samples;
      const isAsked = this.#isMulawRequested(format);
      if (!begun && !isAsked) this.#requirePcm(format);
      begun = true;
      return isAsked ? samples : wavToPcm16(samples, format);
    };
  }

  #readWav(reader: WavReader, bytes: Uint8Array): Uint8Array {
    try {
      return reader.take(bytes);
    } catch (error) {
      if (error instanceof WavError) throw this.#failure(`sent a WAV that ${error.message}`);
      throw error;
    }
  }

  #isMulawRequested({ codec, channels, sampleRateHz }: WavFormat): boolean {
    const { format } = this.#request;
    const isMulaw = codec === "mulaw" && channels === 1;
    return isMulaw && format.encoding === "mulaw" && format.sampleRateHz === sampleRateHz;
  }

  #requirePcm({ sampleRateHz, codec }: WavFormat): void {
    const given = { encoding: "pcm16", sampleRateHz } as const;
    if (isSameFormat(given, this.#request.format)) return;
    this.#demand(given, `WAV (${codec}, ${sampleRateHz} Hz)`);
  }

  /** Offers this format to the caller in place of the requested one. */
  #demand(given: SpeechFormat, what: string): void {
    if (this.#request.onFormat?.(given) === true) {
      this.#format = given;
      return;
    }
    const { encoding, sampleRateHz } = this.#request.format;
    throw this.#failure(`sent ${what} where ${encoding} of ${sampleRateHz} Hz was asked for`);
  }

  #emit(bytes: Uint8Array): void {
    const audio = this.#convert(bytes);
    if (audio.byteLength === 0) return;
    const beforeMs = this.#outputMs;
    this.#outputMs += this.#durationMsOf(audio);
    this.#noteSound(audio, beforeMs);
    const silence = this.#silence;
    if (silence === undefined) return this.#onChunk(audio);
    silence.push(audio);
    if (this.#isSilent(audio)) return;
    this.#silence = undefined;
    for (const piece of silence) this.#onChunk(piece);
  }

  #durationMsOf(audio: Uint8Array): number {
    if (this.#format.encoding !== "mp3") return durationMsOf(audio, this.#format);
    // The first frame shows the bytes per ms; with a variable bit rate the difference over a sentence is small.
    this.#mp3BytesPerMs ??= mp3BytesPerMsOf(audio);
    return audio.byteLength / (this.#mp3BytesPerMs ?? MP3_ASKED_BYTES_PER_MS);
  }

  #noteSound(audio: Uint8Array, beforeMs: number): void {
    const { encoding } = this.#format;
    if (encoding === "mp3") {
      this.#soundMs = this.#outputMs;
      return;
    }
    // A piece may begin with the second half of a sample.
    const sampleBytes = bytesPerSample(encoding);
    const from = this.#outputBytes % sampleBytes;
    this.#outputBytes += audio.byteLength;
    const end = audio.byteLength - ((audio.byteLength - from) % sampleBytes);
    for (let to = end; to > from; to -= LEVEL_WINDOW_BYTES) {
      const window = audio.subarray(Math.max(from, to - LEVEL_WINDOW_BYTES), to);
      if (isQuiet(decodeSamples(window, encoding))) continue;
      this.#soundMs = beforeMs + durationMsOf(audio.subarray(0, to), this.#format);
      return;
    }
  }

  /** A piece may begin with the second half of a sample, so it is silent if it is silent in either alignment. */
  #isSilent(audio: Uint8Array): boolean {
    const { encoding } = this.#format;
    if (encoding === "mp3") return false;
    const isHere = isQuiet(decodeSamples(audio, encoding));
    return isHere || (encoding === "pcm16" && isQuiet(decodeSamples(audio.subarray(1), encoding)));
  }

  #unplayable(what: string): VendorError {
    if (what === "text") return this.#failure("sent text instead of audio");
    return this.#failure(`sent ${what.slice(0, 60)}, which cannot be played`);
  }

  #failure(message: string): VendorError {
    return new VendorError(this.#vendor, "badAnswer", `${this.#vendor}: ${message}`);
  }
}

function mp3BytesPerMsOf(audio: Uint8Array): number | undefined {
  const at = audio.indexOf(0xff);
  const header = at === -1 ? undefined : readMp3Header(audio, at);
  if (header === undefined) return undefined;
  return (header.frameBytes * header.sampleRateHz) / (1_000 * header.samples);
}
