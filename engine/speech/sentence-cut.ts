import {
  isHighSurrogate,
  isPausedBySpace,
  isSpace,
  isWideClauseMark,
  isWideLetter,
} from "./character-class.js";

const EM_DASH = 0x2014;
/** After one of these and a space a new clause begins. Hyphen only between two spaces. */
const CLAUSE_MARKS = new Set(Array.from(",;:–—", (mark) => mark.charCodeAt(0)));
const HYPHEN = 45;
/** Clauses begin with these, so the cut goes before them. English, Spanish, French, German. */
const CONJUNCTIONS = [
  "and ",
  "but ",
  "or ",
  "y ",
  "pero ",
  "et ",
  "mais ",
  "und ",
  "aber ",
  "oder ",
];

/** Where no clause ends, a speaker who must pause does it before one of these. */
const JOINTS = new Set(
  `that which who because if when while so for with in at from by on
  dass weil wenn für mit in an auf bei nach parce pour avec dans chez porque para con en desde
  perché per com em omdat voor met op że bo dla`.split(/\s+/),
);

const words = new Intl.Segmenter("th", { granularity: "word" });
const graphemes = new Intl.Segmenter("und", { granularity: "grapheme" });

/**
 * The latest place in (from, to] where one clause ends and another begins, or -1. Reads nothing after `to`, and the
 * character at `to` only to see that it is a space.
 */
export function lastClauseEnd(text: string, from: number, to: number): number {
  for (let index = to; index > from; index -= 1) {
    const before = text.charCodeAt(index - 1);
    if (isWideClauseMark(before) || (before === EM_DASH && index < to)) return index;
    if (!isSpace(text.charCodeAt(index))) continue;
    if (CLAUSE_MARKS.has(before) || isPausedBySpace(before)) return index;
    if (before === HYPHEN && isSpace(text.charCodeAt(index - 2))) return index;
    if (CONJUNCTIONS.some((word) => startsWithin(text, word, index + 1, to))) return index;
  }
  return -1;
}

/** Whether `lastClauseEnd` up to `to` may find an end that it did not find up to the character before. */
export function mayEndClause(text: string, to: number): boolean {
  const code = text.charCodeAt(to);
  if (isSpace(code) || isPausedBySpace(code)) return true;
  return isWideClauseMark(text.charCodeAt(to - 1)) || text.charCodeAt(to - 2) === EM_DASH;
}

/** The latest space in (from, to) with a word after it that a speaker may pause before, or -1. */
export function lastJoint(text: string, from: number, to: number): number {
  let wordEnd = to;
  for (let index = to - 1; index > from; index -= 1) {
    if (!isSpace(text.charCodeAt(index))) continue;
    if (JOINTS.has(text.slice(index + 1, wordEnd).toLowerCase())) return index;
    wordEnd = index;
  }
  return -1;
}

function startsWithin(text: string, word: string, at: number, to: number): boolean {
  return at + word.length - 1 <= to && text.startsWith(word, at);
}

/** Where to cut text[start, to) when it must be cut: the end of a clause, else of a word, else of a whole character. */
export function forcedCut(text: string, start: number, to: number): number {
  const half = start + Math.floor((to - start) / 2);
  const clause = lastClauseEnd(text, half, to);
  if (clause !== -1) return clause;
  for (let index = to; index > half; index -= 1) {
    if (isSpace(text.charCodeAt(index))) return index;
  }
  const before = text.charCodeAt(to - 1);
  if (isPausedBySpace(before) || isWideLetter(before)) {
    const word = lastWordEnd(text.slice(start, to));
    if (word > 0) return start + word;
  }
  return characterBorder(text, start, to);
}

/** Where the last word begins that may still go on, in a script that writes words together; 0 when it is the only one. */
function lastWordEnd(text: string): number {
  let last = 0;
  for (const { index } of words.segment(text)) last = index;
  return last;
}

/** Never inside a grapheme, unless that one alone is longer than what may be kept; never inside a surrogate pair. */
function characterBorder(text: string, start: number, to: number): number {
  const window = text.slice(start, to + 2);
  const grapheme = graphemes.segment(window).containing(to - start);
  if (grapheme !== undefined && grapheme.index > 0) return start + grapheme.index;
  return isHighSurrogate(text.charCodeAt(to - 1)) ? to - 1 : to;
}
