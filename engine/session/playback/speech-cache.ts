import { createHash } from "node:crypto";
import { LRUCache } from "lru-cache";
import { sparseCache } from "../../sparse-cache.js";
import type { TimedWord } from "../../speech/word-marks.js";

/** One sentence as it came from the vendor, without tags, ready to be sent. */
export interface SpokenSentence {
  readonly audio: Uint8Array;
  readonly durationMs: number;
  /** Where its words end in the audio; empty where its voice does not tell. */
  readonly words: readonly TimedWord[];
}

/** Two numbers and a string beside its characters. */
const WORD_SIZE_BYTES = 48;

/** What a sentence takes in a cache, at least 1. */
export function sizeBytesOf({ audio, words }: SpokenSentence): number {
  const charsOf = (chars: number, { text }: TimedWord) => chars + text.length;
  const wordsBytes = words.length * WORD_SIZE_BYTES + 2 * words.reduce(charsOf, 0);
  return Math.max(1, audio.byteLength + wordsBytes);
}

/** Longer sentences are hardly ever said twice. */
const CACHED_TEXT_CHARS_MAX = 200;
/** A sentence said once is remembered as 32 bits only; two that share them cost a place in the cache. */
const SAID_ONCE_MAX = 16_384;

/**
 * Sentences spoken twice or more, bounded in bytes: most of what a model says, it says once, and would only fill memory and
 * push out the greetings. The key holds everything that shapes the sound, and the organization:
 * nobody is ever answered from another tenant's speech.
 */
export class SpeechCache {
  /** Undefined: an operator wants none. */
  readonly #sentences: LRUCache<string, SpokenSentence> | undefined;
  readonly #saidOnce = sparseCache<number, true>(SAID_ONCE_MAX);

  /** Zero keeps nothing. */
  constructor(sizeBytesMax: number) {
    if (sizeBytesMax === 0) return;
    this.#sentences = new LRUCache({
      maxSize: sizeBytesMax,
      sizeCalculation: sizeBytesOf,
    });
  }

  get sizeBytes(): number {
    return this.#sentences?.calculatedSize ?? 0;
  }

  find(voiceKey: string, text: string): SpokenSentence | undefined {
    return this.#sentences?.get(cacheKey(voiceKey, text));
  }

  /** To be called each time a vendor has spoken it: it is found from the second time on. */
  keep(voiceKey: string, text: string, sentence: SpokenSentence): void {
    if (this.#sentences === undefined) return;
    if (text.length > CACHED_TEXT_CHARS_MAX || sentence.audio.byteLength === 0) return;
    const key = cacheKey(voiceKey, text);
    const sign = createHash("sha256").update(key).digest().readUInt32LE();
    if (this.#saidOnce.has(sign)) this.#sentences.set(key, sentence);
    else this.#saidOnce.set(sign, true);
  }
}

/** `parts` are all that tells one voice from another, the organization first. */
export function voiceKeyOf(parts: readonly (string | number)[]): string {
  return createHash("sha256").update(JSON.stringify(parts)).digest("base64");
}

function cacheKey(voiceKey: string, text: string): string {
  return `${voiceKey}${text}`;
}
