import { FairCache } from "../fair-cache.js";
import type { Clock } from "../time/clock.js";
import type { TimedWord } from "./playback-ledger.js";
import { ownerOf, type SpeechCache, type SpokenSentence, sizeBytesOf } from "./speech-cache.js";
import { type AgentTts, speakSentence, TIMED_WORDS_MAX } from "./synthesis.js";

/** Room for a few phrases of two seconds in hundreds of voices. */
const PHRASES_SIZE_MAX_BYTES = 32 * 1024 * 1024;
/** TTS that has not said three words by then does not help a waiting caller. */
const PREPARE_MAX_MS = 10_000;
/** Concurrent TTS requests, in all calls of this process, and in the calls of one organization. */
const UNDERWAY_MAX = 64;
const UNDERWAY_PER_ORGANIZATION_MAX = 16;

/**
 * Phrases that must be available when a vendor is not: synthesized once per voice before they are needed, and
 * shared by all calls of that voice. They are separate from the speech cache, which an operator may disable and
 * which holds only sentences that were said twice.
 */
export class PreparedPhrases {
  readonly #clock: Clock;
  readonly #cache = new FairCache<SpokenSentence>({
    sizeMax: PHRASES_SIZE_MAX_BYTES,
    sizeOf: sizeBytesOf,
  });
  readonly #underway = new Map<string, Promise<SpokenSentence | undefined>>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  find(tts: AgentTts, text: string): SpokenSentence | undefined {
    return this.#cache.get(ownerOf(tts.cacheKey), keyOf(tts, text));
  }

  /** Synthesizes the phrase, once for all concurrent requests. Undefined if TTS cannot at the moment; never rejects. */
  prepare(tts: AgentTts, text: string, cache: SpeechCache): Promise<SpokenSentence | undefined> {
    const key = keyOf(tts, text);
    const known = this.find(tts, text);
    if (known !== undefined) return Promise.resolve(known);
    const underway = this.#underway.get(key);
    if (underway !== undefined) return underway;
    if (!this.#maySynthesize(ownerOf(tts.cacheKey))) return Promise.resolve(undefined);
    const asked = this.#synthesize(tts, text, cache)
      .then(
        (spoken) => {
          // Another voice may have stood in for the requested one.
          this.#cache.set(ownerOf(tts.cacheKey), keyOf(tts, text), spoken);
          return spoken;
        },
        () => undefined,
      )
      .finally(() => this.#underway.delete(key));
    this.#underway.set(key, asked);
    return asked;
  }

  #maySynthesize(owner: string): boolean {
    if (this.#underway.size >= UNDERWAY_MAX) return false;
    const own = [...this.#underway.keys()].filter((key) => key.startsWith(`${owner}/`));
    return own.length < UNDERWAY_PER_ORGANIZATION_MAX;
  }

  async #synthesize(tts: AgentTts, text: string, cache: SpeechCache): Promise<SpokenSentence> {
    const abort = new AbortController();
    const cancel = this.#clock.after(PREPARE_MAX_MS, () => abort.abort());
    const pieces: Uint8Array[] = [];
    const words: TimedWord[] = [];
    let durationMs = 0;
    const delivery = {
      firstByte: () => undefined,
      timed: (timings: readonly TimedWord[]) => {
        words.push(...timings.slice(0, TIMED_WORDS_MAX - words.length));
      },
      add: (audio: Uint8Array, pieceMs: number) => {
        pieces.push(audio);
        durationMs += pieceMs;
      },
      finish: () => undefined,
    };
    try {
      await speakSentence(tts, text, cache, delivery, abort.signal, this.#clock);
    } finally {
      cancel();
    }
    return { audio: Buffer.concat(pieces), durationMs, words };
  }
}

function keyOf(tts: AgentTts, text: string): string {
  return `${tts.cacheKey}${text}`;
}
