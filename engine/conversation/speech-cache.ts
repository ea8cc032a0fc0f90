import { createHash } from "node:crypto";
import { FairCache } from "../fair-cache.js";
import type { TimedWord } from "./playback-ledger.js";
import { VOICE_MS_PER_CHAR } from "./state.js";
import { PACE_CHARS_MIN } from "./voice-pace.js";

/** One sentence as the vendor returned it, without tags, ready to send. */
export interface SpokenSentence {
  readonly audio: Uint8Array;
  readonly durationMs: number;
  /** Where its words end in the audio; empty if TTS does not report times. */
  readonly words: readonly TimedWord[];
}

/** Two numbers and a string, in addition to its characters. */
const WORD_SIZE_BYTES = 48;

/** The size of a sentence in a cache, at least 1. */
export function sizeBytesOf({ audio, words }: SpokenSentence): number {
  const charsOf = (chars: number, { text }: TimedWord) => chars + text.length;
  const wordsBytes = words.length * WORD_SIZE_BYTES + 2 * words.reduce(charsOf, 0);
  return Math.max(1, audio.byteLength + wordsBytes);
}

/** Longer sentences are hardly ever said twice. */
const CACHED_TEXT_CHARS_MAX = 200;
/** A sentence said once is remembered as 32 bits only; a collision costs a place in the cache. */
const SEEN_ONCE_MAX = 16_384;
const SIGN_BYTES = 4;

/**
 * Sentences spoken twice or more, bounded in bytes: an LLM says most sentences once, and those would fill memory
 * and evict the greetings. The key holds everything that shapes the sound, and the organization: tenants never
 * share cached speech, and none can evict another's.
 */
export class SpeechCache {
  /** Undefined if the operator disabled the cache. */
  readonly #sentences: FairCache<SpokenSentence> | undefined;
  readonly #seenOnce = new FairCache<true>({ sizeMax: SEEN_ONCE_MAX, sizeOf: () => 1 });

  /** Zero disables the cache. */
  constructor(sizeBytesMax: number) {
    if (sizeBytesMax === 0) return;
    this.#sentences = new FairCache({ sizeMax: sizeBytesMax, sizeOf: sizeBytesOf });
  }

  get sizeBytes(): number {
    return this.#sentences?.size ?? 0;
  }

  find(voiceKey: string, text: string): SpokenSentence | undefined {
    return this.#sentences?.get(ownerOf(voiceKey), cacheKey(voiceKey, text));
  }

  /** Call this each time a vendor has spoken a sentence: it is cached from the second time on. */
  keep(voiceKey: string, text: string, sentence: SpokenSentence): void {
    if (this.#sentences === undefined) return;
    if (text.length > CACHED_TEXT_CHARS_MAX || sentence.audio.byteLength === 0) return;
    const key = cacheKey(voiceKey, text);
    const owner = ownerOf(voiceKey);
    const sign = createHash("sha256").update(key).digest().toString("latin1", 0, SIGN_BYTES);
    if (this.#seenOnce.get(owner, sign) === true) this.#sentences.set(owner, key, sentence);
    else this.#seenOnce.set(owner, sign, true);
  }
}

/** `parts` are everything that distinguishes one voice from another, besides the organization. */
export function voiceKeyOf(orgId: string, parts: readonly (string | number)[]): string {
  const voice = createHash("sha256").update(JSON.stringify(parts)).digest("base64url");
  return `${orgId}/${voice}`;
}

/** The organization in a voice key. */
export function ownerOf(voiceKey: string): string {
  return voiceKey.split("/", 1)[0] ?? "";
}

function cacheKey(voiceKey: string, text: string): string {
  return `${voiceKey}${text}`;
}

/** More than the voices in use at the same time on one server. */
const VOICES_MAX = 1_024;
/**
 * The weight of the newest sentence: a number that is read out takes three times as long per character as its
 * words.
 */
const NEWEST_SHARE = 1 / 8;

/** How long each voice in this process takes per character, so that a call's first sentence has an estimate. */
export class VoicePaces {
  readonly #msPerChar = new FairCache<number>({ sizeMax: VOICES_MAX, sizeOf: () => 1 });

  /** A whole number; the default pace for a voice that has not been measured yet. */
  of(voiceKey: string): number {
    return Math.round(this.#msPerChar.get(ownerOf(voiceKey), voiceKey) ?? VOICE_MS_PER_CHAR);
  }

  /** The voice has said this complete text. */
  record(voiceKey: string, text: string, durationMs: number): void {
    if (text.length < PACE_CHARS_MIN) return;
    const heard = durationMs / text.length;
    const before = this.#msPerChar.get(ownerOf(voiceKey), voiceKey) ?? heard;
    this.#msPerChar.set(ownerOf(voiceKey), voiceKey, before + (heard - before) * NEWEST_SHARE);
  }
}
