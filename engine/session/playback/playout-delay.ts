import { FairCache } from "../../fair-cache.js";
import { ownerOf } from "./speech-cache.js";

/** Before a voice has been heard: more than most vendors' unevenness, less than anybody notices. */
const PLAYOUT_DELAY_UNKNOWN_MS = 40;
/** A caller who waits longer would rather hear a gap. */
const PLAYOUT_DELAY_MAX_MS = 3_000;
/** A voice that was slow for a while is forgiven after so many sentences. */
const SENTENCES_KEPT_MAX = 32;
/** One sentence in ten may be heard with a gap, rather than all ten later: one that stalls says nothing of the next. */
const PLAYED_WHOLE_SHARE = 0.9;
/** So much is to be left to play when more comes: the next piece may come a frame later than any before it. */
const LEFT_MIN_MS = 20;
/** So short a wait is spent on the worst of the sentences kept: it is noticed less than a gap. */
const SHORT_DELAY_MS = 60;
/** Voices in use at the same time on one box, and more. */
const VOICES_MAX = 1_024;

/** How the audio of one sentence came. */
export interface SentenceArrival {
  readonly durationMs: number;
  /** From its first audio to its last. */
  readonly elapsedMs: number;
  /**
   * What would have been left to play when more came, had it begun with its first audio; the least of it. Negative where
   * something would have been missing, and without end where nothing followed the first.
   */
  readonly leastLeftMs: number;
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
    const needs = this.#arrivals.map((arrival) => neededMs(arrival, expectedMs));
    needs.sort((one, other) => one - other);
    const enoughMs = needs[Math.ceil(PLAYED_WHOLE_SHARE * (needs.length - 1))] ?? 0;
    const shortMs = needs.findLast((needMs) => needMs <= SHORT_DELAY_MS) ?? 0;
    return Math.min(PLAYOUT_DELAY_MAX_MS, Math.max(enoughMs, shortMs));
  }
}

/** What such a sentence would have needed, to be heard without a gap and with LEFT_MIN_MS to spare. */
function neededMs(
  { durationMs, elapsedMs, leastLeftMs }: SentenceArrival,
  expectedMs: number,
): number {
  // What comes slower than it plays is missing the more, the longer it lasts.
  const isSlow = elapsedMs > durationMs && durationMs > 0 && leastLeftMs < 0;
  const leftMs = isSlow ? leastLeftMs * Math.max(1, expectedMs / durationMs) : leastLeftMs;
  return Math.max(0, LEFT_MIN_MS - leftMs);
}

/** The delays of all voices that the calls of this process use. */
export class PlayoutDelays {
  readonly #byVoice = new FairCache<PlayoutDelay>({ sizeMax: VOICES_MAX, sizeOf: () => 1 });

  of(voiceKey: string): PlayoutDelay {
    const known = this.#byVoice.get(ownerOf(voiceKey), voiceKey);
    if (known !== undefined) return known;
    const delay = new PlayoutDelay();
    this.#byVoice.set(ownerOf(voiceKey), voiceKey, delay);
    return delay;
  }
}
