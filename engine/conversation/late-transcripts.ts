import type { Transcript } from "../vendors/contracts.js";
import { isSameWords, spokenWords, wordsOf } from "./lexicon.js";

/** STT finalizes an interim result within this time, or never. */
const LATE_MAX_MS = 4_000;
/** Two reports of the same word's end may differ by rounding and by the vendor's own alignment. */
const WORD_END_TOLERANCE_MS = 50;
/** The same words ending this much later were said again. */
const REPEATED_MIN_MS = 700;
/** People do not speak faster: words that would have been repeated in less time are the earlier ones. */
const MS_PER_WORD_MIN = 150;
/** This share of the interim words occurs in their final version; STT changes its results. */
const SAME_SHARE_MIN = 0.5;
/** The maximum number of words in the final version between two matching interim words. */
const GAP_WORDS_MAX = 2;

/** The state that distinguishes repeated results from new words. Begin with NO_LATE_WORDS. */
export interface LateTranscripts {
  /** The newest final result, '' if there is none. */
  readonly finalText: string;
  readonly finalEndMs: number | undefined;
  readonly finalAtMs: number;
  /** The newest interim result since then, '' if there is none. */
  readonly guessedSince: string;
  /** Interim words that ended a turn and whose final version is still to come, '' if there are none. */
  readonly guess: string;
  readonly guessEndMs: number | undefined;
  readonly committedAtMs: number;
}

export const NO_LATE_WORDS: LateTranscripts = {
  finalText: "",
  finalEndMs: undefined,
  finalAtMs: Number.NEGATIVE_INFINITY,
  guessedSince: "",
  guess: "",
  guessEndMs: undefined,
  committedAtMs: Number.NEGATIVE_INFINITY,
};

/** A turn has ended at `atMs` with words that are only interim so far. */
export function guessCommitted(
  late: LateTranscripts,
  guess: string,
  guessEndMs: number | undefined,
  atMs: number,
): LateTranscripts {
  return { ...late, guess, guessEndMs, committedAtMs: atMs };
}

export interface LateStep<Heard> {
  readonly late: LateTranscripts;
  readonly transcript: Heard;
}

/**
 * The transcript without words that were already used: a repeated final, and the beginning of a final for words
 * that a turn has already ended with. Times are on the call's clock, word times on the stream's.
 */
export function withoutLateWords<Heard extends Transcript>(
  late: LateTranscripts,
  transcript: Heard,
  atMs: number,
): LateStep<Heard> {
  const { text, lastWordEndMs, isFinal, speechFinal } = transcript;
  const settles = isFinal || speechFinal;
  if (text.trim() === "") return { late, transcript };
  if (settles && isSameFinal(late, transcript, atMs)) {
    return { late, transcript: { ...transcript, text: "" } };
  }
  const noted = settles
    ? {
        ...late,
        finalText: text,
        finalEndMs: lastWordEndMs,
        finalAtMs: atMs,
        guessedSince: "",
        guess: "",
      }
    : { ...late, guessedSince: text };
  const rest = restOf(late, transcript, atMs) ?? restOfFinal(late, transcript);
  // A turn whose end is never reported is part of each of its interim results, however long it lasts.
  const isGoingOn = rest !== undefined && !settles && transcript.hasTurnDetection === true;
  return {
    late: isGoingOn ? { ...noted, committedAtMs: atMs } : noted,
    transcript: rest === undefined ? transcript : { ...transcript, text: rest },
  };
}

function isSameFinal(
  late: LateTranscripts,
  { text, lastWordEndMs }: Transcript,
  atMs: number,
): boolean {
  if (atMs - late.finalAtMs > LATE_MAX_MS) return false;
  if (lastWordEndMs !== undefined && late.finalEndMs !== undefined) {
    if (Math.abs(lastWordEndMs - late.finalEndMs) > WORD_END_TOLERANCE_MS) return false;
    // Without word times, new interim words mean that the caller spoke again.
  } else if (isSameWords(text, late.guessedSince)) return false;
  return isSameWords(text, late.finalText);
}

/** Some STTs repeat a final result with one more word instead of sending the word alone. */
function restOfFinal(
  { finalText, finalEndMs }: LateTranscripts,
  { text, lastWordEndMs }: Transcript,
): string | undefined {
  if (finalText === "" || finalEndMs === undefined || lastWordEndMs === undefined) return undefined;
  const laterMs = lastWordEndMs - finalEndMs;
  // No text has more words than characters: most results are known to be new before they are split.
  if (laterMs < 0 || laterMs >= text.length * MS_PER_WORD_MIN) return undefined;
  const said = spokenWords(text);
  const before = wordsOf(finalText);
  if (said.length <= before.length || laterMs >= said.length * MS_PER_WORD_MIN) return undefined;
  if (before.some((word, at) => said[at]?.word !== word)) return undefined;
  return restAfter(text, said[before.length - 1]?.end ?? 0);
}

function restAfter(text: string, index: number): string {
  return text.slice(index).replace(/^[\s\p{P}]+/u, "");
}

/** What follows the words that were already used; undefined if these are other words. */
function restOf(
  { guess, guessEndMs, committedAtMs }: LateTranscripts,
  { text, lastWordEndMs }: Transcript,
  atMs: number,
): string | undefined {
  if (guess === "" || atMs - committedAtMs > LATE_MAX_MS) return undefined;
  const said = spokenWords(text);
  const guessed = wordsOf(guess);
  let matched = 0;
  let next = 0;
  for (const word of guessed) {
    const found = said.findIndex((candidate, at) => at >= next && candidate.word === word);
    if (found < 0 || found - next > GAP_WORDS_MAX) continue;
    matched += 1;
    next = found + 1;
  }
  if (matched === 0 || matched < guessed.length * SAME_SHARE_MIN) return undefined;
  const rest = restAfter(text, said[next - 1]?.end ?? 0);
  if (lastWordEndMs === undefined || guessEndMs === undefined) return rest;
  return rest === "" && lastWordEndMs - guessEndMs >= REPEATED_MIN_MS ? undefined : rest;
}
