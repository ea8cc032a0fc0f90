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

/** Audio arrives faster than it plays: TTS that has paused for longer when its sentence is given up has stalled. */
const GAP_MAX_MS = 500;
/** An MP3 may have a tag before its audio that begins with these bytes. */
const ID3 = [0x49, 0x44, 0x33];

export interface VoiceLink extends ChainLink<TextToSpeech> {
  readonly speed: number;
}

export interface VoiceTerms {
  /** The maximum time to the first audio, and between two pieces. */
  readonly audioTimeoutMs: number;
  /** Records the time to first audio of each voice. */
  readonly times: AnswerTimes;
}

/**
 * A chain of TTS vendors. A vendor that returns nothing for too long, or fails, before its first audio is replaced
 * by the next. After its first audio it fails with a retryable fault: the played audio stands, and the call
 * requests the remaining words, which the next vendor then says.
 */
export class ChainedVoice implements TextToSpeech {
  readonly #chain: Chain<TextToSpeech, VoiceLink>;
  readonly #terms: VoiceTerms;

  /** All of them must offer every format of the first. */
  constructor(chain: Chain<TextToSpeech, VoiceLink>, terms: VoiceTerms) {
    this.#chain = chain;
    this.#terms = terms;
  }

  get formats(): readonly SpeechFormat[] {
    return this.#chain.first.client.formats;
  }

  /** Each vendor uses its own model and speed; those of the request are ignored. */
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

/** One TTS request for one sentence. */
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
    const { audioTimeoutMs, times } = terms;
    const isReplaced = standIn !== undefined && chain.trusts(standIn);
    const waitedMs = isReplaced ? times.timeoutMs(link, audioTimeoutMs) : audioTimeoutMs;
    const limitMs = standIn === undefined ? undefined : waitedMs;
    this.#timeouts = new ReplyTimeout(chain.clock, limitMs, signal);
    link.breaker.onRequest();
    // Immediately: a request for the rest of the sentence in the same moment must go to another vendor.
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
      this.#timeouts.progress(this.#terms.audioTimeoutMs);
      onChunk(audio);
    };
    // Word times of a vendor that is left before its audio do not apply to the next one.
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
      return new VendorError(vendor, "badAnswer", `${vendor}: the response is not audio`);
    }
    if (!this.#timeouts.isOver) return asVendorError(vendor, cause);
    const quietMs = Math.round(this.#timeouts.quietMs);
    return new VendorError(vendor, "timeout", `${vendor}: returned nothing for ${quietMs} ms`);
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
    const isHung = quietMs >= (this.hasStarted ? GAP_MAX_MS : this.#terms.audioTimeoutMs);
    if (!isHung) return this.#link.breaker.abandoned();
    const { vendor } = this.#link;
    this.failed(new VendorError(vendor, "timeout", `${vendor}: returned nothing`));
  }

  /** Raw samples can be any bytes; MP3 has a known beginning. */
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
