import { FairCache } from "../../fair-cache.js";
import type { SpeechMeasure, SpeechRequest } from "../contracts.js";
import { isTooLittle, lettersWeightOf, wordsWeightOf } from "../transport/speech-tail.js";

/** The number of voices kept, over all organizations of the process. */
export const MEASURED_VOICES_MAX = 1_024;
/** The number of newest sentences that count per voice, and the fewest that allow an estimate. */
export const SENTENCES_MAX = 30;
export const SENTENCES_MIN = 8;
/** In a shorter text the pauses before and after the words weigh too much. */
const WEIGHT_MIN = 30;
/** Below this share of its fastest sentence's pace a voice has not said the whole text. Half a sentence is at 0.5. */
const QUICKEST_SHARE = 0.7;
/** After this many consecutive sentences that were too short the voice counts as changed, and is measured again. */
export const TOO_SHORT_IN_ROW_MAX = 3;
/** Numbers, symbols and acronyms take longer than their letters, so they are not measured. */
const PLAIN_TEXT = /^[\p{L}\p{M}\s.,!?;:'’"“”«»-]+$/u;
const ACRONYM = /\p{Lu}{2}/u;

type Spoken = Pick<SpeechRequest, "text" | "speed">;

interface LearnedVoice {
  /** How long each sentence took, in ms per letter or gap after a word. */
  readonly paces: readonly number[];
  readonly tooShortInRow: number;
}

/**
 * How fast each organization's voices speak, measured from earlier sentences: shorter audio is not the whole text.
 * Measurements of one organization are used for no other.
 */
export class SpeechDurations {
  readonly #voices = new FairCache<LearnedVoice>({
    sizeMax: MEASURED_VOICES_MAX,
    sizeOf: () => 1,
  });

  get size(): number {
    return this.#voices.size;
  }

  /** For one sentence. `voice` names everything that changes the pace: provider, voice, language and speed. */
  of(orgId: string, voice: string, { text, speed }: Spoken): SpeechMeasure {
    const leastMs = this.#leastMs(orgId, voice, text);
    return {
      leastMs,
      measured: (soundMs) => {
        if (leastMs !== undefined && soundMs < leastMs) this.#tooShort(orgId, voice);
        else if (!isTooLittle(soundMs, { text, speed })) this.#learn(orgId, voice, text, soundMs);
      },
    };
  }

  #leastMs(orgId: string, voice: string, text: string): number | undefined {
    const { paces = [] } = this.#voices.get(orgId, voice) ?? {};
    if (lettersWeightOf(text) < WEIGHT_MIN || paces.length < SENTENCES_MIN) return undefined;
    return Math.min(...paces) * QUICKEST_SHARE * weightOf(text);
  }

  #learn(orgId: string, voice: string, text: string, soundMs: number): void {
    const { paces = [] } = this.#voices.get(orgId, voice) ?? {};
    const isPlain =
      lettersWeightOf(text) >= WEIGHT_MIN && PLAIN_TEXT.test(text) && !ACRONYM.test(text);
    const newest = isPlain ? [...paces, soundMs / weightOf(text)].slice(-SENTENCES_MAX) : paces;
    if (newest.length > 0) this.#voices.set(orgId, voice, { paces: newest, tooShortInRow: 0 });
  }

  #tooShort(orgId: string, voice: string): void {
    const { paces = [], tooShortInRow = 0 } = this.#voices.get(orgId, voice) ?? {};
    const inRow = tooShortInRow + 1;
    const isOther = inRow >= TOO_SHORT_IN_ROW_MAX;
    const next = isOther ? { paces: [], tooShortInRow: 0 } : { paces, tooShortInRow: inRow };
    this.#voices.set(orgId, voice, next);
  }
}

const weightOf = (text: string): number => lettersWeightOf(text) + wordsWeightOf(text);
