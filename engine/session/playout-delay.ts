import { LRUCache } from "lru-cache";

/** Before a voice has been heard: more than most vendors' unevenness, less than anybody notices. */
export const PLAYOUT_DELAY_UNKNOWN_MS = 40;
/** A caller who waits longer would rather hear a gap. */
export const PLAYOUT_DELAY_MAX_MS = 3_000;
/** A voice that was slow for a while is forgiven after so many sentences. */
const SENTENCES_KEPT_MAX = 32;
/** One sentence in ten may be heard with a gap, rather than all ten later: one that stalls says nothing of the next. */
const PLAYED_WHOLE_SHARE = 0.9;
/** Voices in use at the same time on one box, and more. */
const VOICES_MAX = 1_024;

/** How the audio of one sentence came. */
export interface SentenceArrival {
  readonly durationMs: number;
  /** From its first audio to its last. */
  readonly elapsedMs: number;
  /** How much later than at its first audio it should have begun to play, so that nothing would have been missing. */
  readonly deficitMs: number;
}

/** How long the sentences of one voice are held back, after their first audio, so that they play without a gap. */
export class PlayoutDelay {
  readonly #arrivals: SentenceArrival[] = [];

  observe(arrival: SentenceArrival): void {
    this.#arrivals.push(arrival);
    if (this.#arrivals.length > SENTENCES_KEPT_MAX) this.#arrivals.shift();
  }

  /** In ms, for a sentence that will last `expectedMs`. */
  of(expectedMs: number): number {
    if (this.#arrivals.length === 0) return PLAYOUT_DELAY_UNKNOWN_MS;
    const needs = this.#arrivals.map(({ durationMs, elapsedMs, deficitMs }) => {
      // What comes slower than it plays is missing the more, the longer it lasts.
      const isSlow = elapsedMs > durationMs && durationMs > 0;
      return isSlow ? deficitMs * Math.max(1, expectedMs / durationMs) : deficitMs;
    });
    needs.sort((one, other) => one - other);
    const enoughMs = needs[Math.ceil(PLAYED_WHOLE_SHARE * (needs.length - 1))] ?? 0;
    return Math.min(PLAYOUT_DELAY_MAX_MS, enoughMs);
  }
}

/** The delays of all voices that the calls of this process use. */
export class PlayoutDelays {
  readonly #byVoice = new LRUCache<string, PlayoutDelay>({ max: VOICES_MAX });

  of(voiceKey: string): PlayoutDelay {
    const known = this.#byVoice.get(voiceKey);
    if (known !== undefined) return known;
    const delay = new PlayoutDelay();
    this.#byVoice.set(voiceKey, delay);
    return delay;
  }
}
