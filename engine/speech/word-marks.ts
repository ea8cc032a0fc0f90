import { spokenWords, wordsOf } from "./spoken-words.js";

/** So many words of the text a voice may leave out or say in another way, as it does with numbers, before it is lost track of. */
const WORDS_SKIPPED_MAX = 4;
const PUNCTUATION = /[\p{P}\p{S}]/u;

/** Up to the character `end` the text has been said `atMs` after the beginning of its audio. */
export interface WordMark {
  readonly end: number;
  readonly atMs: number;
}

/** A word as a voice tells it, with the end of its sound. */
export interface TimedWord {
  readonly text: string;
  readonly endMs: number;
}

/** The marks of a text after its voice has told of more words; those that do not stand in the text are passed over. */
export function markWords(
  text: string,
  marks: readonly WordMark[],
  words: readonly TimedWord[],
): readonly WordMark[] {
  if (words.length === 0) return marks;
  const last = marks.at(-1);
  let [from, fromMs] = [last?.end ?? 0, last?.atMs ?? 0];
  const left = spokenWords(text).filter(({ end }) => end > from);
  const more: WordMark[] = [];
  for (const { text: told, endMs } of words) {
    for (const word of wordsOf(told)) {
      const skipped = left.slice(0, WORDS_SKIPPED_MAX + 1).findIndex((each) => each.word === word);
      const found = left[skipped];
      if (found === undefined) continue;
      left.splice(0, skipped + 1);
      from = behindPunctuation(text, found.end);
      fromMs = Math.max(fromMs, endMs);
      more.push({ end: from, atMs: fromMs });
    }
  }
  return [...marks, ...more];
}

/** How many characters of a text have been said after `playedMs` of its audio, which is `durationMs` long; between marks evenly. */
export function charsSaid(
  text: string,
  marks: readonly WordMark[],
  playedMs: number,
  durationMs: number,
): number {
  let before: WordMark = { end: 0, atMs: 0 };
  for (const mark of marks) {
    if (playedMs < mark.atMs) return between(before, mark, playedMs);
    before = mark;
  }
  return between(before, { end: text.length, atMs: durationMs }, playedMs);
}

/** How long the first `chars` characters of a text take, whose audio is `durationMs` long; between marks evenly. */
export function saidAfterMs(
  text: string,
  marks: readonly WordMark[],
  chars: number,
  durationMs: number,
): number {
  const before = marks.findLast(({ end }) => end < chars) ?? { end: 0, atMs: 0 };
  const after = marks.find(({ end }) => end >= chars) ?? { end: text.length, atMs: durationMs };
  const lengthChars = after.end - before.end;
  const share = lengthChars > 0 ? Math.min(1, (chars - before.end) / lengthChars) : 0;
  return before.atMs + Math.max(0, after.atMs - before.atMs) * share;
}

function between(before: WordMark, after: WordMark, playedMs: number): number {
  const lengthMs = after.atMs - before.atMs;
  const share = lengthMs > 0 ? Math.min(1, (playedMs - before.atMs) / lengthMs) : 0;
  return before.end + (after.end - before.end) * share;
}

function behindPunctuation(text: string, end: number): number {
  let at = end;
  while (PUNCTUATION.test(text.charAt(at))) at += 1;
  return at;
}
