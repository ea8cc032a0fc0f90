import { MP3, PCM_24K } from "../audio/audio-format.js";
import type { ConversionQueue } from "../audio/conversion-queue.js";
import { decodePcm } from "../audio/sample-coding.js";
import type { SpeechDurations } from "../vendors/chain/speech-durations.js";
import {
  type SpeechFormat,
  type SpeechRequest,
  type SpokenWord,
  type TextToSpeech,
  VendorError,
} from "../vendors/contracts.js";
import { isLongText, isQuiet } from "../vendors/transport/speech-tail.js";

/** The audio pool, or its queue alone. */
type Conversions = Pick<ConversionQueue, "open">;

/** A larger MP3 is passed on whatever its level: two minutes at 64 kbit/s. */
export const SILENT_MP3_MAX_BYTES = 960_000;

/** Beyond this number, word times are dropped with the silence that they come with. */
const SILENT_WORDS_MAX = 1_000;

export interface Verification {
  readonly vendor: string;
  readonly orgId: string;
  /** Identifies everything that changes the voice's pace, except language and speed. */
  readonly voice: string;
  readonly durations: SpeechDurations;
  /** Decodes MP3, whose bytes do not show its level. */
  readonly pool: () => Conversions;
}

/**
 * A vendor's TTS whose audio is checked against the text: silence, and audio that is too short for the voice,
 * count as the vendor's failure. Raw samples are checked as they arrive; the beginning of an MP3 is decoded in the
 * audio pool, up to the first sound.
 */
export class CheckedVoice implements TextToSpeech {
  readonly #client: TextToSpeech;
  readonly #verification: Verification;

  constructor(client: TextToSpeech, verification: Verification) {
    this.#client = client;
    this.#verification = verification;
  }

  get formats(): readonly SpeechFormat[] {
    return this.#client.formats;
  }

  async synthesize(
    request: SpeechRequest,
    onChunk: (audio: Uint8Array) => void,
    signal: AbortSignal,
  ): Promise<void> {
    const { vendor, orgId, voice, durations, pool } = this.#verification;
    const { text, speed, language } = request;
    const measure = durations.of(orgId, JSON.stringify([voice, language, speed]), request);
    const level = new Mp3Level(pool, {
      audio: (audio) => {
        if (!signal.aborted) onChunk(audio);
      },
      words: (words) => {
        if (!signal.aborted) request.onWords?.(words);
      },
    });
    let isMp3 = request.format.encoding === "mp3" && isLongText(text);
    const onFormat = (given: SpeechFormat): boolean => {
      if (request.onFormat?.(given) !== true) return false;
      isMp3 = given.encoding === "mp3" && isLongText(text);
      return true;
    };
    const own: SpeechRequest = {
      ...request,
      measure,
      ...(request.onFormat === undefined ? {} : { onFormat }),
      ...(request.onWords === undefined ? {} : { onWords: (words) => level.words(words) }),
    };
    const take = (audio: Uint8Array) => (isMp3 ? level.take(audio) : onChunk(audio));
    signal.addEventListener("abort", level.drop);
    try {
      await this.#client.synthesize(own, take, signal);
      const isSilent = await level.end();
      if (signal.aborted) throw new VendorError(vendor, "aborted", `${vendor}: aborted`);
      if (isSilent) {
        throw new VendorError(vendor, "badAnswer", `${vendor}: returned silent MP3 for a text`);
      }
    } finally {
      level.drop();
      signal.removeEventListener("abort", level.drop);
    }
  }

  warm(): void {
    this.#client.warm();
  }
}

interface Passing {
  readonly audio: (audio: Uint8Array) => void;
  readonly words: (words: readonly SpokenWord[]) => void;
}

/**
 * Withholds the MP3 of a sentence until some of it is audible. Undecodable audio is passed on: its listener judges
 * it.
 */
class Mp3Level {
  readonly drop = (): void => {
    this.#isDropped = true;
    this.#conversion?.drop();
    this.#settle();
  };
  readonly #pool: () => Conversions;
  readonly #pass: Passing;
  #conversion: ReturnType<Conversions["open"]> | undefined;
  #pending: Uint8Array[] | undefined = [];
  #pendingBytes = 0;
  #words: SpokenWord[] = [];
  #isDropped = false;
  #settle: () => void = () => undefined;
  readonly #settled = new Promise<void>((resolve) => {
    this.#settle = resolve;
  });

  constructor(pool: () => Conversions, pass: Passing) {
    this.#pool = pool;
    this.#pass = pass;
  }

  take(audio: Uint8Array): void {
    if (this.#pending === undefined) return this.#pass.audio(audio);
    this.#pending.push(audio);
    this.#pendingBytes += audio.byteLength;
    if (this.#pendingBytes > SILENT_MP3_MAX_BYTES) return this.#release();
    this.#conversion ??= this.#pool().open({ from: MP3, to: PCM_24K }, "speech", {
      onAudio: (pcm) => {
        if (!isQuiet(decodePcm(pcm, true))) this.#release();
      },
      onEnd: () => this.#settle(),
      onFailed: () => this.#release(),
    });
    this.#conversion.write(audio);
  }

  /** Word times follow the audio that they belong to. */
  words(words: readonly SpokenWord[]): void {
    if (this.#pendingBytes === 0 || this.#pending === undefined) return this.#pass.words(words);
    this.#words.push(...words.slice(0, SILENT_WORDS_MAX - this.#words.length));
  }

  /** No more audio follows. True: none of it is audible, and nothing was passed on. */
  async end(): Promise<boolean> {
    if (this.#conversion === undefined || this.#pending === undefined) return false;
    this.#conversion.end();
    await this.#settled;
    return this.#pending !== undefined && !this.#isDropped;
  }

  #release(): void {
    const held = this.#pending ?? [];
    this.#pending = undefined;
    this.#conversion?.drop();
    this.#settle();
    if (this.#isDropped) return;
    for (const audio of held) this.#pass.audio(audio);
    if (this.#words.length > 0) this.#pass.words(this.#words);
    this.#words = [];
  }
}
