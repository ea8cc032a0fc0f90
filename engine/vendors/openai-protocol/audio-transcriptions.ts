import * as v from "valibot";
import { refuseOpenAi } from "../chat-completions/openai-refusal.js";
import {
  type ListenOptions,
  type SpeechListener,
  type SpeechStream,
  type SpeechToText,
  VendorError,
} from "../contracts.js";
import { wholeNumber } from "../setting-fields.js";
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
import { transcriptionRequest } from "./transcription-request.js";
import { TranscriptionStream } from "./transcription-stream.js";

/** A model at home without a graphics card needs seconds for a long utterance. */
const LIMITS: StreamLimits = {
  firstByteMs: 15_000,
  betweenBytesMs: 5_000,
  totalMs: 20_000,
  replyMaxBytes: 256 * 1024,
};

const SILENCE_MIN_MS = 200;
const SILENCE_MAX_MS = 3_000;
/** Whole sentences are understood better than halves: longer than what ends the words of a recognizer that hears as it goes. */
const SILENCE_MS = 500;

export const TRANSCRIPTION_FIELDS = {
  /** The silence that ends an utterance. */
  silenceMs: v.optional(wholeNumber(SILENCE_MIN_MS, SILENCE_MAX_MS), SILENCE_MS),
};

const answerSchema = v.object({ text: v.string() });

export interface TranscriptionDialect {
  readonly vendor: string;
  readonly publicUrl: string;
  readonly isKeyRequired: boolean;
}

/** OpenAI's transcription of recordings (`POST /audio/transcriptions`): each utterance, cut out by our own ear, is one. */
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

  /** Asks the vendor nothing yet: a fault shows at the first utterance. */
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
  ): Promise<string> {
    const { body, contentType } = transcriptionRequest(audio, options);
    const { name } = this.#vendor;
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
    return parseAnswer(name, answerSchema, Buffer.concat(chunks).toString()).text.trim();
  }
}
