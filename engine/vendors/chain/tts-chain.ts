import { MP3_HEADER_BYTES, readMp3Header } from "../../audio/mp3-frames.js";
import {
  type SpeechFormat,
  type SpeechRequest,
  type SpokenWord,
  type TextToSpeech,
  VendorError,
} from "../contracts.js";
import type { AnswerTimes } from "./answer-times.js";
import { asVendorError, type Chain, type ChainLink, worstOf } from "./chain.js";
import { ReplyTimeout } from "./chain-timeouts.js";

/** Audio comes faster than it is heard: a voice that pauses for longer when its sentence is given up has stalled. */
const GAP_MAX_MS = 500;
/** Before its audio an MP3 may have a tag that begins so. */
const ID3 = [0x49, 0x44, 0x33];

export interface VoiceLink extends ChainLink<TextToSpeech> {
  readonly speed: number;
}

export interface VoiceTerms {
  /** A voice may take so long to its first audio, at most, and from one piece to the next. */
  readonly maxEndpointingDelayMs: number;
  /** Where it is kept how long the voices take to their first audio. */
  readonly times: AnswerTimes;
}

/**
 * Voices one behind the other. Who gives nothing for too long, or fails, before its first audio is left for the next. Who
 * does so later has failed with a fault that may pass: what has been heard stands, and the call asks for the words that are
 * left, which the next one then says.
 */
export class ChainedVoice implements TextToSpeech {
  readonly #chain: Chain<TextToSpeech, VoiceLink>;
  readonly #terms: VoiceTerms;

  /** All of them must give every format of the first. */
  constructor(chain: Chain<TextToSpeech, VoiceLink>, terms: VoiceTerms) {
    this.#chain = chain;
    this.#terms = terms;
  }

  get formats(): readonly SpeechFormat[] {
    return this.#chain.first.client.formats;
  }

  /** Each vendor speaks with the model and at the speed of its own: those of the request count for nothing. */
  async synthesize(
    request: SpeechRequest,
    onChunk: (audio: Uint8Array) => void,
    signal: AbortSignal,
  ): Promise<void> {
    const failures: VendorError[] = [];
    let given = request.format;
    const { onFormat: tellFormat } = request;
    const onFormat = (format: SpeechFormat): boolean => {
      if (tellFormat?.(format) !== true) return false;
      given = format;
      return true;
    };
    const own = tellFormat === undefined ? request : { ...request, onFormat };
    const links = this.#chain.candidates();
    for (const [index, link] of links.entries()) {
      const attempt = new Attempt(this.#chain, link, this.#terms, links[index + 1], signal);
      // A vendor that failed before its first audio leaves nothing to the next, not even its format.
      if (given !== request.format) onFormat(request.format);
      try {
        await attempt.speak(own, onChunk);
        this.#chain.answered(link);
        return;
      } catch (cause) {
        const error = attempt.faultOf(cause);
        if (signal.aborted) throw error;
        attempt.failed(error);
        if (attempt.hasStarted) throw this.#chain.isSingle ? error : asPassing(error);
        failures.push(error);
      } finally {
        attempt.end();
      }
    }
    throw worstOf(failures);
  }

  warm(): void {
    this.#chain.next.client.warm();
  }
}

/** One voice asked for one sentence. */
class Attempt {
  hasStarted = false;
  readonly #chain: Chain<TextToSpeech, VoiceLink>;
  readonly #link: VoiceLink;
  readonly #signal: AbortSignal;
  readonly #terms: VoiceTerms;
  readonly #timeouts: ReplyTimeout;
  readonly #broken = new AbortController();
  readonly #onAbort = () => this.#leave();

  constructor(
    chain: Chain<TextToSpeech, VoiceLink>,
    link: VoiceLink,
    terms: VoiceTerms,
    standIn: VoiceLink | undefined,
    signal: AbortSignal,
  ) {
    this.#chain = chain;
    this.#link = link;
    this.#signal = signal;
    this.#terms = terms;
    const { maxEndpointingDelayMs, times } = terms;
    const isReplaced = standIn !== undefined && chain.trusts(standIn);
    const waitedMs = isReplaced
      ? times.timeoutMs(link, maxEndpointingDelayMs)
      : maxEndpointingDelayMs;
    const limitMs = standIn === undefined ? undefined : waitedMs;
    this.#timeouts = new ReplyTimeout(chain.clock, limitMs, signal);
    link.breaker.onRequest();
    // At once: who asks for the rest of the sentence in the same moment is to ask somebody else.
    signal.addEventListener("abort", this.#onAbort);
  }

  async speak(request: SpeechRequest, onChunk: (audio: Uint8Array) => void): Promise<void> {
    const { client, modelId, speed, vendor } = this.#link;
    const { signal } = this.#timeouts;
    const until = this.#chain.isSingle ? signal : AbortSignal.any([signal, this.#broken.signal]);
    let { format } = request;
    const onFormat = (given: SpeechFormat): boolean => {
      if (until.aborted || request.onFormat?.(given) !== true) return false;
      format = given;
      return true;
    };
    const take = (audio: Uint8Array) => {
      if (until.aborted || audio.byteLength === 0) return;
      if (!this.hasStarted && !this.#isAudio(audio, format)) return this.#broken.abort();
      if (!this.hasStarted) this.#terms.times.record(this.#link, this.#timeouts.passedMs);
      this.hasStarted = true;
      this.#timeouts.progress(this.#terms.maxEndpointingDelayMs);
      onChunk(audio);
    };
    // Those of a voice that is left before its audio are not those of the next one.
    const onWords = (words: readonly SpokenWord[]) => {
      if (this.hasStarted && !until.aborted) request.onWords?.(words);
    };
    const own = {
      ...(request.onWords === undefined ? {} : { onWords }),
      ...(request.onFormat === undefined ? {} : { onFormat }),
    };
    await client.synthesize({ ...request, modelId, speed, ...own }, take, until);
    if (!this.hasStarted && !this.#chain.isSingle) {
      throw new VendorError(vendor, "badAnswer", `${vendor}: no audio`);
    }
  }

  faultOf(cause: unknown): VendorError {
    const { vendor } = this.#link;
    if (this.#broken.signal.aborted) {
      return new VendorError(vendor, "badAnswer", `${vendor}: what it gives is no audio`);
    }
    if (!this.#timeouts.isOver) return asVendorError(vendor, cause);
    const quietMs = Math.round(this.#timeouts.quietMs);
    return new VendorError(vendor, "timeout", `${vendor}: gave nothing for ${quietMs} ms`);
  }

  failed(error: VendorError): void {
    const isLate = !this.hasStarted && this.#timeouts.isOver;
    if (isLate) this.#terms.times.record(this.#link, this.#timeouts.passedMs);
    this.#chain.failed(this.#link, error, { ms: Math.round(this.#timeouts.passedMs), tokens: 0 });
  }

  end(): void {
    this.#timeouts.end();
    this.#signal.removeEventListener("abort", this.#onAbort);
  }

  #leave(): void {
    const { quietMs } = this.#timeouts;
    const isHung = quietMs >= (this.hasStarted ? GAP_MAX_MS : this.#terms.maxEndpointingDelayMs);
    if (!isHung) return this.#link.breaker.abandoned();
    const { vendor } = this.#link;
    this.failed(new VendorError(vendor, "timeout", `${vendor}: gave nothing`));
  }

  /** Raw samples are any bytes at all; of MP3 the beginning is known. */
  #isAudio(audio: Uint8Array, format: SpeechFormat): boolean {
    if (this.#chain.isSingle || format.encoding !== "mp3") return true;
    if (audio.byteLength < MP3_HEADER_BYTES) return true;
    return ID3.every((byte, at) => audio[at] === byte) || readMp3Header(audio, 0) !== undefined;
  }
}

/** Another TTS continues, so the end of this one's audio is not the end of the sentence. */
function asPassing(error: VendorError): VendorError {
  if (error.retryable) return error;
  return new VendorError(error.vendor, "disconnected", error.message, { cause: error });
}
