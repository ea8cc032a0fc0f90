import { createHash } from "node:crypto";
import { LRUCache } from "lru-cache";

/** One sentence as it came from the vendor, without tags, ready to be sent. */
export interface SpokenSentence {
  readonly audio: Uint8Array;
  readonly durationMs: number;
}

/** Longer sentences are hardly ever said twice. */
const CACHED_TEXT_CHARS_MAX = 200;

/**
 * Sentences already spoken, bounded in bytes. The key holds everything that shapes the sound, and the organization:
 * nobody is ever answered from another tenant's speech.
 */
export class SpeechCache {
  /** Undefined: an operator wants none. */
  readonly #sentences: LRUCache<string, SpokenSentence> | undefined;

  /** Zero keeps nothing. */
  constructor(sizeBytesMax: number) {
    if (sizeBytesMax === 0) return;
    this.#sentences = new LRUCache({
      maxSize: sizeBytesMax,
      sizeCalculation: (sentence) => sentence.audio.byteLength,
    });
  }

  get sizeBytes(): number {
    return this.#sentences?.calculatedSize ?? 0;
  }

  find(voiceKey: string, text: string): SpokenSentence | undefined {
    return this.#sentences?.get(cacheKey(voiceKey, text));
  }

  keep(voiceKey: string, text: string, sentence: SpokenSentence): void {
    if (text.length > CACHED_TEXT_CHARS_MAX || sentence.audio.byteLength === 0) return;
    this.#sentences?.set(cacheKey(voiceKey, text), sentence);
  }
}

/** `parts` are all that tells one voice from another, the organization first. */
export function voiceKeyOf(parts: readonly (string | number)[]): string {
  return createHash("sha256").update(JSON.stringify(parts)).digest("base64");
}

function cacheKey(voiceKey: string, text: string): string {
  return `${voiceKey}${text}`;
}
