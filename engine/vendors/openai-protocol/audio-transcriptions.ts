import * as v from "valibot";
import {
  bytesOfMs,
  bytesPerMs,
  bytesPerSample,
  type InputFormat,
} from "../../audio/audio-format.js";
import { decodeMulaw } from "../../audio/mulaw.js";
import type { CancelTimer, Clock } from "../../time/clock.js";
import { refuseOpenAi } from "../chat-completions/openai-refusal.js";
import {
  type ListenOptions,
  type SpeechListener,
  type SpeechStream,
  type SpeechToText,
  type SpokenLanguage,
  VendorError,
} from "../contracts.js";
import { languagesToDetect } from "../model-catalog.js";
import { wholeNumber } from "../setting-fields.js";
import { languageField, primaryLanguage, spokenLanguage } from "../spoken-language.js";
import { AudioRing } from "../stt-stream/audio-feed.js";
import type { StreamLimits } from "../transport/http-stream.js";
import { HttpVendor } from "../transport/http-vendor.js";
import { parseAnswer } from "../vendor-json.js";
import {
  bearer,
  parseSettings,
  requireApiKey,
  type VendorContext,
  type VendorSettings,
} from "../vendor-settings.js";

const BOUNDARY = "parley-9c1f0d3a7b52";
const PCM_CODE = 1;
/** WAV's code for µ-law. The servers decode it with libraries that support it (FFmpeg, libsndfile, dr_wav). */
const MULAW_CODE = 7;

/** The multipart body of `POST /audio/transcriptions`, and its header. */
export function transcriptionRequest(
  audio: Uint8Array,
  options: ListenOptions,
  detectsLanguage = false,
) {
  const fields = {
    model: options.modelId,
    // Only the verbose answer names a detected language; a given one is ISO 639-1, as the protocol requires.
    ...(detectsLanguage
      ? { response_format: "verbose_json" }
      : { language: primaryLanguage(options.language), response_format: "json" }),
  };
  const parts = Object.entries(fields).map(
    ([name, value]) =>
      `--${BOUNDARY}\r\nContent-Disposition: form-data; name="${name}"\r\n\r\n${value}\r\n`,
  );
  const file =
    `--${BOUNDARY}\r\nContent-Disposition: form-data; name="file"; filename="utterance.wav"\r\n` +
    "Content-Type: audio/wav\r\n\r\n";
  const body = Buffer.concat([
    Buffer.from(parts.join("") + file),
    wavHeader(audio.length, options.format),
    audio,
    Buffer.from(`\r\n--${BOUNDARY}--\r\n`),
  ]);
  return { body, contentType: `multipart/form-data; boundary=${BOUNDARY}` };
}

function wavHeader(dataBytes: number, { encoding, sampleRateHz }: InputFormat): Buffer {
  const sampleBytes = bytesPerSample(encoding);
  const header = Buffer.alloc(44);
  header.write("RIFF", 0, "latin1");
  header.writeUInt32LE(36 + dataBytes, 4);
  header.write("WAVEfmt ", 8, "latin1");
  header.writeUInt32LE(16, 16);
  header.writeUInt16LE(encoding === "mulaw" ? MULAW_CODE : PCM_CODE, 20);
  header.writeUInt16LE(1, 22);
  header.writeUInt32LE(sampleRateHz, 24);
  header.writeUInt32LE(sampleRateHz * sampleBytes, 28);
  header.writeUInt16LE(sampleBytes, 32);
  header.writeUInt16LE(sampleBytes * 8, 34);
  header.write("data", 36, "latin1");
  header.writeUInt32LE(dataBytes, 40);
  return header;
}

/** Loudness is measured in pieces of this length. */
const HOP_MS = 20;
/** This much sound starts an utterance, so that a click does not. */
const START_MS = 60;
/** Words begin softly: this much audio before the first sound is included. */
const BEFORE_MS = 300;
/** This much silence after an utterance is included; without it models cut off the last word. */
const AFTER_MS = 200;
/** An utterance without a pause is cut here. */
const UTTERANCE_MAX_MS = 30_000;

/** Root mean square of 16-bit samples; speech on the telephone is ten times as loud, the noise of a quiet call is below. */
const SPEECH_LEVEL_MIN = 180;
/** Speech is louder than the room by this factor. */
const OVER_NOISE = 3;
/**
 * The room's level is the quietest recent level; from there it rises by this factor per hop, fivefold in four
 * seconds.
 */
const NOISE_RISE = 1.008;
/** A voice as loud as this is detected however loud the room is. */
const NOISE_LEVEL_MAX = 1_000;

export interface UtteranceListener {
  onStarted(): void;
  /** `endMs` is where the sound ended, in ms of the stream. `isWhole`: a silence ended it, not its length. */
  onUtterance(audio: Uint8Array, endMs: number, isWhole: boolean): void;
}

/** The built-in VAD: cuts a stream into utterances. */
export class UtteranceCutter {
  readonly #format: InputFormat;
  readonly #silenceMs: number;
  readonly #listener: UtteranceListener;
  readonly #ring: AudioRing;
  readonly #hop: Uint8Array;
  #hopBytes = 0;
  #noiseLevel = NOISE_LEVEL_MAX / 10;
  #loudMs = 0;
  #fromByte: number | undefined;
  #soundEndByte = 0;
  /** Where the audio of the newest utterance ended. */
  #cutToByte = 0;

  constructor(format: InputFormat, silenceMs: number, listener: UtteranceListener) {
    this.#format = format;
    this.#silenceMs = silenceMs;
    this.#listener = listener;
    this.#ring = new AudioRing(bytesOfMs(format, UTTERANCE_MAX_MS));
    this.#hop = new Uint8Array(bytesOfMs(format, HOP_MS));
  }

  write(audio: Uint8Array): void {
    for (let at = 0; at < audio.length; ) {
      const part = audio.subarray(at, at + this.#hop.length - this.#hopBytes);
      this.#hop.set(part, this.#hopBytes);
      this.#hopBytes += part.length;
      at += part.length;
      if (this.#hopBytes < this.#hop.length) return;
      this.#hopBytes = 0;
      this.#ring.write(this.#hop);
      this.#judge(this.#isLoud());
    }
  }

  /** No more audio follows: the current utterance counts as whole. */
  end(): void {
    if (this.#fromByte !== undefined) this.#finish(true);
  }

  /** The newest audio, at most `durationMs` of it. */
  newest(durationMs: number): Uint8Array {
    const { endByte } = this.#ring;
    return this.#ring.read(Math.max(0, endByte - bytesOfMs(this.#format, durationMs)), endByte);
  }

  #judge(isLoud: boolean): void {
    const { endByte } = this.#ring;
    this.#loudMs = isLoud ? this.#loudMs + HOP_MS : 0;
    if (isLoud) this.#soundEndByte = endByte;
    if (this.#fromByte === undefined) {
      if (this.#loudMs < START_MS) return;
      const startByte = endByte - bytesOfMs(this.#format, START_MS + BEFORE_MS);
      // Without audio that was part of the previous utterance.
      this.#fromByte = Math.max(startByte, this.#ring.startByte, this.#cutToByte);
      this.#listener.onStarted();
    } else if (endByte - this.#soundEndByte >= bytesOfMs(this.#format, this.#silenceMs)) {
      this.#finish(true);
    } else if (endByte - this.#fromByte >= bytesOfMs(this.#format, UTTERANCE_MAX_MS)) {
      this.#finish(false);
    }
  }

  #finish(isWhole: boolean): void {
    const fromByte = this.#fromByte ?? 0;
    this.#fromByte = isWhole ? undefined : this.#ring.endByte;
    const afterByte = this.#soundEndByte + bytesOfMs(this.#format, AFTER_MS);
    this.#cutToByte = Math.min(this.#ring.endByte, afterByte);
    const audio = this.#ring.read(fromByte, this.#cutToByte);
    this.#listener.onUtterance(audio, this.#soundEndByte / bytesPerMs(this.#format), isWhole);
  }

  #isLoud(): boolean {
    const level = levelOf(this.#hop, this.#format);
    this.#noiseLevel = Math.min(level, this.#noiseLevel * NOISE_RISE, NOISE_LEVEL_MAX);
    this.#noiseLevel = Math.max(this.#noiseLevel, 1);
    return level >= Math.max(SPEECH_LEVEL_MIN, this.#noiseLevel * OVER_NOISE);
  }
}

/** Root mean square. */
function levelOf(audio: Uint8Array, { encoding }: InputFormat): number {
  let sum = 0;
  if (encoding === "mulaw") {
    for (const sample of decodeMulaw(audio)) sum += sample * sample;
    return Math.sqrt(sum / audio.length);
  }
  const view = new DataView(audio.buffer, audio.byteOffset, audio.byteLength);
  for (let at = 0; at < audio.length; at += 2) sum += view.getInt16(at, true) ** 2;
  return Math.sqrt(sum / (audio.length / 2));
}

/** Delays before each attempt at one utterance. */
const RETRY_DELAYS_MS = [0, 250, 1_000] as const;
/** Utterances that wait for the vendor; a vendor with a longer queue does not keep up with the caller. */
const WAITING_MAX = 8;
/** The last words arrive within this time, or not at all. */
const FINISH_TIMEOUT_MS = 5_000;
/** A stream of only silence sends the newest of it to the vendor once, so that a wrong key or address is noticed. */
const SILENCE_SHOWN_MS = 1_000;

interface Utterance {
  readonly audio: Uint8Array;
  readonly endMs: number;
  readonly isWhole: boolean;
}

interface Transcribed {
  readonly text: string;
  readonly language?: SpokenLanguage | undefined;
}

export interface TranscriptionStreamParts {
  readonly vendor: string;
  readonly clock: Clock;
  readonly options: ListenOptions;
  readonly silenceMs: number;
  readonly listener: SpeechListener;
  readonly transcribe: (audio: Uint8Array, signal: AbortSignal) => Promise<Transcribed>;
}

/** One call's STT with a vendor that transcribes recordings: one utterance after the other, in order. */
export class TranscriptionStream implements SpeechStream {
  readonly #parts: TranscriptionStreamParts;
  readonly #signal: AbortSignal;
  readonly #ending = new AbortController();
  readonly #onAbort = () => this.close();
  readonly #cutter: UtteranceCutter;
  readonly #waiting: Utterance[] = [];
  #isAsking = false;
  #hasRequested = false;
  #hasAudio = false;
  #tries = 0;
  #lostMs: number | undefined;
  #cancelTimer: CancelTimer = () => undefined;
  #cancelFinish: CancelTimer = () => undefined;
  #finished: Promise<void> | undefined;
  #resolveFinished: () => void = () => undefined;
  #isClosed = false;

  constructor(parts: TranscriptionStreamParts, signal: AbortSignal) {
    this.#parts = parts;
    this.#signal = signal;
    signal.addEventListener("abort", this.#onAbort);
    this.#cutter = new UtteranceCutter(parts.options.format, parts.silenceMs, {
      onStarted: () => {
        if (!this.#isClosed) parts.listener.onSpeechStarted();
      },
      onUtterance: (audio, endMs, isWhole) => this.#take({ audio, endMs, isWhole }),
    });
  }

  write(audio: Uint8Array): void {
    if (this.#isClosed || this.#finished !== undefined || audio.length === 0) return;
    this.#hasAudio = true;
    this.#cutter.write(audio);
  }

  finish(): Promise<void> {
    if (this.#finished !== undefined) return this.#finished;
    this.#finished = new Promise((resolve) => {
      this.#resolveFinished = resolve;
    });
    if (this.#isClosed) {
      this.#resolveFinished();
      return this.#finished;
    }
    this.#cancelFinish = this.#parts.clock.after(FINISH_TIMEOUT_MS, () => this.close());
    this.#cutter.end();
    if (!this.#hasRequested && this.#hasAudio) {
      this.#take({ audio: this.#cutter.newest(SILENCE_SHOWN_MS), endMs: 0, isWhole: true });
    }
    if (!this.#isAsking) this.close();
    return this.#finished;
  }

  close(): void {
    if (this.#isClosed) return;
    this.#isClosed = true;
    this.#signal.removeEventListener("abort", this.#onAbort);
    this.#cancelTimer();
    this.#cancelFinish();
    this.#waiting.length = 0;
    this.#ending.abort();
    this.#resolveFinished();
  }

  #take(utterance: Utterance): void {
    if (this.#isClosed) return;
    this.#hasRequested = true;
    this.#waiting.push(utterance);
    const { vendor } = this.#parts;
    if (this.#waiting.length > WAITING_MAX) {
      this.#fail(new VendorError(vendor, "unavailable", `${vendor}: does not keep up`));
    } else if (!this.#isAsking) this.#requestNext();
  }

  #requestNext(): void {
    const utterance = this.#waiting[0];
    this.#isAsking = utterance !== undefined;
    if (utterance === undefined) {
      if (this.#finished !== undefined) this.close();
      return;
    }
    this.#parts.transcribe(utterance.audio, this.#ending.signal).then(
      (transcribed) => this.#emit(utterance, transcribed),
      (cause: unknown) => this.#retry(cause),
    );
  }

  #emit({ endMs, isWhole }: Utterance, { text, language }: Transcribed): void {
    if (this.#isClosed) return;
    const { listener, clock } = this.#parts;
    this.#tries = 0;
    if (this.#lostMs !== undefined) {
      listener.onRecovered(clock.monotonicMs() - this.#lostMs);
      this.#lostMs = undefined;
    }
    this.#waiting.shift();
    const lastWordEndMs = text === "" ? undefined : Math.round(endMs);
    const words = { text, isFinal: true, speechFinal: isWhole, lastWordEndMs };
    listener.onTranscript({ ...words, ...languageField(language) });
    this.#requestNext();
  }

  #retry(cause: unknown): void {
    if (this.#isClosed) return;
    const { vendor, listener, clock } = this.#parts;
    const error =
      cause instanceof VendorError
        ? cause
        : new VendorError(vendor, "badAnswer", `${vendor}: transcription failed`, { cause });
    const delayMs = RETRY_DELAYS_MS[this.#tries];
    if (!error.retryable || delayMs === undefined) {
      this.#fail(error);
      return;
    }
    this.#tries++;
    if (this.#lostMs === undefined) {
      this.#lostMs = clock.monotonicMs();
      listener.onLost(error);
    }
    if (!this.#isClosed) this.#cancelTimer = clock.after(delayMs, () => this.#requestNext());
  }

  #fail(error: VendorError): void {
    this.close();
    this.#parts.listener.onFailed(error);
  }
}

/** A self-hosted model without a graphics card needs seconds for a long utterance. */
const LIMITS: StreamLimits = {
  firstByteMs: 15_000,
  betweenBytesMs: 5_000,
  totalMs: 20_000,
  replyMaxBytes: 256 * 1024,
};

const SILENCE_MIN_MS = 200;
const SILENCE_MAX_MS = 3_000;
/** Whole sentences are transcribed better than fragments, so this is longer than the endpointing of a streaming STT. */
const SILENCE_MS = 500;

export const TRANSCRIPTION_FIELDS = {
  /** The silence that ends an utterance. */
  silenceMs: v.optional(wholeNumber(SILENCE_MIN_MS, SILENCE_MAX_MS), SILENCE_MS),
};

const answerSchema = v.object({
  text: v.string(),
  /** A verbose answer has it: as a code, or by its English name, as OpenAI does. */
  language: v.fallback(v.nullish(v.string()), undefined),
});

const LANGUAGE_CODE_CHARS_MAX = 3;
const languageNames = new Intl.DisplayNames(["en"], { type: "language", fallback: "none" });

/** Named by its code, or by its English name where it is one of these; undefined for another name. */
function namedLanguage(
  name: string | null | undefined,
  tags: readonly string[],
): SpokenLanguage | undefined {
  const wanted = name?.trim().toLowerCase() ?? "";
  if (wanted.length <= LANGUAGE_CODE_CHARS_MAX) return spokenLanguage(wanted);
  const codes = tags.map(primaryLanguage).filter((code) => /^[a-z]{2,8}$/.test(code));
  return spokenLanguage(codes.find((code) => languageNames.of(code)?.toLowerCase() === wanted));
}

export interface TranscriptionDialect {
  readonly vendor: string;
  readonly publicUrl: string;
  readonly isKeyRequired: boolean;
}

/**
 * OpenAI's transcription of recordings (`POST /audio/transcriptions`): each utterance, cut by the built-in VAD, is
 * one.
 */
export class AudioTranscriptions implements SpeechToText {
  readonly #vendor: HttpVendor;
  readonly #context: VendorContext;
  readonly #apiKey: string | undefined;
  readonly #silenceMs: number;

  constructor(dialect: TranscriptionDialect, given: VendorSettings, context: VendorContext) {
    const { vendor, publicUrl, isKeyRequired } = dialect;
    this.#vendor = new HttpVendor(vendor, given, publicUrl, context);
    this.#context = context;
    this.#apiKey = isKeyRequired ? requireApiKey(vendor, given) : given.apiKey;
    this.#silenceMs = parseSettings(vendor, TRANSCRIPTION_FIELDS, given).silenceMs;
  }

  /** Sends no request yet: a fault shows at the first utterance. */
  open(
    options: ListenOptions,
    listener: SpeechListener,
    signal: AbortSignal,
  ): Promise<SpeechStream> {
    const { name } = this.#vendor;
    if (signal.aborted) {
      return Promise.reject(new VendorError(name, "aborted", `${name}: aborted`));
    }
    this.#vendor.warm();
    const parts = {
      vendor: name,
      clock: this.#context.clock,
      options,
      silenceMs: this.#silenceMs,
      listener,
      transcribe: (audio: Uint8Array, until: AbortSignal) =>
        this.#transcribe(audio, options, until),
    };
    return Promise.resolve(new TranscriptionStream(parts, signal));
  }

  async #transcribe(
    audio: Uint8Array,
    options: ListenOptions,
    signal: AbortSignal,
  ): Promise<Transcribed> {
    const { name } = this.#vendor;
    const languages = languagesToDetect(name, options);
    const detects = languages.length > 1;
    const { body, contentType } = transcriptionRequest(audio, options, detects);
    const chunks: Buffer[] = [];
    await this.#vendor.post(
      {
        path: "/audio/transcriptions",
        headers: { ...bearer(this.#apiKey), "content-type": contentType },
        body,
        limits: LIMITS,
        refuse: refuseOpenAi(name, this.#apiKey),
      },
      (chunk) => {
        chunks.push(chunk);
        return false;
      },
      signal,
    );
    const answer = parseAnswer(name, answerSchema, Buffer.concat(chunks).toString());
    const text = answer.text.trim();
    if (!detects) return { text };
    return { text, language: namedLanguage(answer.language, languages) };
  }
}
