import type { DeepgramFault } from "../faults.js";
import { languageOf } from "../spoken-language.js";
import { type DecodedWord, humanWord, ToneDecoder } from "../telephone/tone-code.js";

export interface RecognizerOptions {
  readonly sampleRateHz: number;
  /** Undefined: never reports the end of speech. */
  readonly endpointingMs: number | undefined;
  readonly utteranceEndMs: number | undefined;
  readonly hasInterimResults: boolean;
  readonly hasVoiceEvents: boolean;
  /** `punctuate` or `smart_format`: otherwise words are in lower case and without punctuation. */
  readonly hasMarks: boolean;
  readonly keyterms: readonly string[];
  /** `language=multi`: results name the languages of their words. */
  readonly isMultilingual: boolean;
}

/** Deepgram's three messages during a stream; times are seconds of audio. */
export type RecognizerMessage =
  | {
      readonly type: "SpeechStarted";
      readonly channel: readonly number[];
      readonly timestamp: number;
    }
  | {
      readonly type: "UtteranceEnd";
      readonly channel: readonly number[];
      readonly last_word_end: number;
    }
  | ResultMessage;

export interface ResultMessage {
  readonly type: "Results";
  readonly channel_index: readonly number[];
  readonly start: number;
  readonly duration: number;
  readonly is_final?: boolean;
  readonly speech_final?: boolean;
  readonly from_finalize?: boolean;
  readonly channel: {
    readonly alternatives: readonly {
      readonly transcript: string;
      readonly confidence: number;
      readonly words: readonly UnmarkedWord[];
      /** The language of most words first. */
      readonly languages?: readonly string[];
    }[];
  };
}

interface UnmarkedWord {
  readonly word: string;
  readonly start: number;
  readonly end: number;
  readonly confidence: number;
  readonly language?: string;
}

export interface RecognizedWord extends UnmarkedWord {
  readonly punctuated_word: string;
}

/** Read at each use: tests change them while a call is in progress. */
export interface RecognizerHost {
  emit(message: RecognizerMessage): void;
  takeFault(...among: DeepgramFault[]): DeepgramFault | undefined;
  readonly interimIntervalMs: number;
  readonly segmentMs: number;
  /** See the sandbox's faults. */
  readonly misheardEvery?: number | undefined;
  readonly rareWord?: string | undefined;
}

/** During silence, an empty final result follows after this many milliseconds of audio. */
const SILENCE_RESULT_MS = 5000;
/** How often the faults of silence and of noise occur. */
const FAULT_PERIOD_MS = 1000;
const CONFIDENCE = 0.99;
const MISHEARD = "murmur";

function isSameWord(one: string, other: string): boolean {
  const letters = (text: string) => text.toLowerCase().replaceAll(/[^\p{L}\p{N}]/gu, "");
  return letters(one) === letters(other);
}

/** Transcribes PCM and reports it as Deepgram does: interims, finals, speech-final, utterance end. */
export class Recognizer {
  readonly #options: RecognizerOptions;
  readonly #host: RecognizerHost;
  readonly #decoder: ToneDecoder;
  #words: DecodedWord[] = [];
  #heardCount = 0;
  #segmentStartMs = 0;
  #lastInterimMs = 0;
  #isUtteranceOpen = false;
  #lastWordEndMs: number | undefined;
  #isLoud = false;
  #isDropping = false;

  constructor(options: RecognizerOptions, host: RecognizerHost) {
    this.#options = options;
    this.#host = host;
    this.#decoder = new ToneDecoder(options.sampleRateHz, {
      onWord: (word) => this.#hearWord(word),
      onSpeechStarted: (atMs) => this.#speechStarted(atMs),
      onLoud: (atMs) => this.#advance(atMs),
      onQuiet: (quietMs, atMs) => this.#fallSilent(quietMs, atMs),
    });
  }

  /** Whether the last written audio contained any sound. */
  write(pcm: Int16Array): boolean {
    this.#isLoud = false;
    this.#decoder.write(pcm);
    return this.#isLoud;
  }

  get positionMs(): number {
    return this.#decoder.positionMs;
  }

  /** Reports buffered words; nothing if there are none. */
  finalize(): void {
    this.#decoder.end();
    if (this.#words.length > 0) this.#emitFinal(this.positionMs, false, true);
  }

  /** No more audio follows. */
  end(): void {
    this.#decoder.end();
    if (this.#words.length > 0) this.#emitFinal(this.positionMs, true, false);
  }

  #speechStarted(atMs: number): void {
    if (this.#words.length === 0) this.#segmentStartMs = Math.max(this.#segmentStartMs, atMs);
    if (this.#words.length === 0 && this.#host.takeFault("dropUtterance")) this.#isDropping = true;
    if (this.#host.takeFault("emptyFinals")) this.#emitResult([], atMs, true, true, false);
    if (!this.#options.hasVoiceEvents) return;
    this.#host.emit({ type: "SpeechStarted", channel: [0, 1], timestamp: seconds(atMs) });
  }

  #hearWord(word: DecodedWord): void {
    if (word.text === "" || this.#isDropping) return;
    const isFirst = this.#words.length === 0;
    const before = this.#words.at(-1);
    if (before?.isHuman === true && word.isHuman) {
      this.#words[this.#words.length - 1] = humanWord(before.startMs, word.endMs);
    } else this.#words.push(this.#misheard(word));
    this.#isUtteranceOpen = true;
    this.#lastWordEndMs = word.endMs;
    const nowMs = this.positionMs;
    if (nowMs - this.#segmentStartMs >= this.#host.segmentMs) {
      this.#emitFinal(nowMs, false, false);
    } else if (isFirst) this.#emitInterim(nowMs);
  }

  #misheard(word: DecodedWord): DecodedWord {
    const { misheardEvery = 0, rareWord } = this.#host;
    this.#heardCount += 1;
    if (rareWord !== undefined && isSameWord(word.text, rareWord)) {
      const isKnown = this.#options.keyterms.some((term) => isSameWord(term, rareWord));
      return isKnown ? word : { ...word, text: MISHEARD };
    }
    if (misheardEvery === 0 || this.#heardCount % misheardEvery > 0) return word;
    return { ...word, text: MISHEARD };
  }

  #advance(atMs: number): void {
    this.#isLoud = true;
    if (atMs - this.#lastInterimMs >= this.#host.interimIntervalMs) this.#emitInterim(atMs);
  }

  #fallSilent(quietMs: number, atMs: number): void {
    const { endpointingMs, utteranceEndMs } = this.#options;
    const isOver = endpointingMs !== undefined && quietMs >= endpointingMs;
    if (isOver && this.#isDropping && this.#decoder.ongoing === undefined) {
      this.#isDropping = false;
      this.#emitFinal(atMs, false, false);
    }
    if (isOver && this.#isUtteranceOpen && this.#decoder.ongoing === undefined) {
      this.#endpoint(atMs);
    }
    const lastWordEndMs = this.#lastWordEndMs;
    const hasEnded =
      lastWordEndMs !== undefined &&
      utteranceEndMs !== undefined &&
      atMs - lastWordEndMs >= utteranceEndMs;
    if (hasEnded) this.#emitUtteranceEnd(lastWordEndMs, atMs);
    if (quietMs % SILENCE_RESULT_MS === 0 && !this.#isUtteranceOpen) {
      this.#emitFinal(atMs, false, false);
    }
    if (quietMs % FAULT_PERIOD_MS === 0) this.#disturbSilence(atMs);
  }

  #disturbSilence(atMs: number): void {
    const fault = this.#host.takeFault("emptyFinals", "falseSpeechStarted");
    if (fault === "emptyFinals") this.#emitResult([], atMs, true, true, false);
    if (fault !== "falseSpeechStarted") return;
    this.#host.emit({ type: "SpeechStarted", channel: [0, 1], timestamp: seconds(atMs) });
  }

  #endpoint(atMs: number): void {
    this.#isUtteranceOpen = false;
    const fault = this.#host.takeFault("neverSpeechFinal", "utteranceEndOnly", "doubleSpeechFinal");
    if (fault === "utteranceEndOnly") {
      this.#emitInterim(atMs);
      return;
    }
    if (fault === "doubleSpeechFinal") {
      const half = Math.ceil(this.#words.length / 2);
      this.#emitResult(this.#words.splice(0, half), atMs, true, true, false);
    }
    this.#emitFinal(atMs, fault !== "neverSpeechFinal", false);
  }

  #emitUtteranceEnd(lastWordEndMs: number, atMs: number): void {
    this.#lastWordEndMs = undefined;
    this.#host.emit({
      type: "UtteranceEnd",
      channel: [0, 1],
      last_word_end: seconds(lastWordEndMs),
    });
    if (this.#words.length > 0 && !this.#isUtteranceOpen) this.#startSegment(atMs);
  }

  #emitInterim(atMs: number): void {
    this.#lastInterimMs = atMs;
    const ongoing = this.#decoder.ongoing;
    const words = ongoing === undefined ? this.#words : [...this.#words, ongoing];
    if (!this.#options.hasInterimResults || words.length === 0 || this.#isDropping) return;
    if (this.#host.takeFault("staleUtteranceEnd")) {
      const staleMs = Math.max(0, (words[0]?.startMs ?? 0) - 100);
      this.#host.emit({ type: "UtteranceEnd", channel: [0, 1], last_word_end: seconds(staleMs) });
    }
    this.#emitResult(words, atMs, false, false, false);
  }

  #emitFinal(atMs: number, isSpeechFinal: boolean, isFromFinalize: boolean): void {
    this.#emitResult(this.#words, atMs, true, isSpeechFinal, isFromFinalize);
    this.#startSegment(atMs);
  }

  #startSegment(atMs: number): void {
    this.#words = [];
    this.#segmentStartMs = atMs;
    this.#lastInterimMs = atMs;
  }

  #emitResult(
    words: readonly DecodedWord[],
    atMs: number,
    isFinal: boolean,
    isSpeechFinal: boolean,
    isFromFinalize: boolean,
  ): void {
    const flags =
      !isFinal && this.#host.takeFault("missingFlags") !== undefined
        ? {}
        : { is_final: isFinal, speech_final: isSpeechFinal, from_finalize: isFromFinalize };
    const { hasMarks, isMultilingual } = this.#options;
    const language = isMultilingual ? languageOf(words.map(({ text }) => text)) : undefined;
    const alternative = {
      transcript: words.map((word) => (hasMarks ? word.text : plainWord(word))).join(" "),
      confidence: words.length === 0 ? 0 : CONFIDENCE,
      words: words.map((word) => ({
        ...(hasMarks ? recognized(word) : unmarked(word)),
        ...(language !== undefined && { language }),
      })),
      ...(language !== undefined && words.length > 0 && { languages: [language] }),
    };
    this.#host.emit({
      type: "Results",
      channel_index: [0, 1],
      start: seconds(this.#segmentStartMs),
      duration: seconds(Math.max(0, atMs - this.#segmentStartMs)),
      ...flags,
      channel: { alternatives: [alternative] },
    });
  }
}

/** A word in Deepgram's format. */
export function recognized(word: DecodedWord): RecognizedWord {
  return { ...unmarked(word), punctuated_word: word.text };
}

function unmarked(word: DecodedWord): UnmarkedWord {
  return {
    word: plainWord(word),
    start: seconds(word.startMs),
    end: seconds(word.endMs),
    confidence: CONFIDENCE,
  };
}

function plainWord({ text }: DecodedWord): string {
  return text.toLowerCase().replace(/^[\p{P}\p{S}]+|[\p{P}\p{S}]+$/gu, "") || text;
}

function seconds(ms: number): number {
  return Math.round(ms) / 1000;
}
