import {
  ALWAYS_CONTINUED,
  CONTINUED_BY_NUMBER,
  GERMAN_MONTHS,
  SENTENCE_OPENERS,
  SOMETIMES_CONTINUED,
} from "./abbreviations.js";
import {
  beginsUnspaced,
  isCloser,
  isHighSurrogate,
  isOpener,
  isPlainTerminatorAt,
  isSpace,
  isTerminator,
  isWideTerminator,
} from "./character-class.js";

export const NOT_A_BOUNDARY = -1;
/** More text is needed to tell. */
export const UNDECIDED = -2;

/** How far past a full stop is read to judge it; what is not settled by then is no boundary. */
const LOOKAHEAD_MAX = 40;
/** The longest word that is looked up, in characters; longer ones are no abbreviation. */
const WORD_MAX = 16;

const NEWLINE = 10;
const FULL_STOP = 46;
const ELLIPSIS = 0x2026;

const DIGIT = /^\p{Nd}/u;
const LIST_NUMBER = /^[\s*_#>•(-]*\p{Nd}{1,3}$/u;
const SINGLE_LETTERS = /^(?:\p{L}\.)*\p{L}$/u;
const NUMBER = /^\d+$/;
const UPPER_CASE = /^\p{Lu}/u;
const LOWER_CASE = /^\p{Ll}/u;
const LETTER = /^[\p{L}'’]/u;

/**
 * Whether the terminator at `at`, in the sentence that begins at `start`, ends it: the index after its closing quotes
 * and brackets, or NOT_A_BOUNDARY, or UNDECIDED. More text after an answer other than UNDECIDED never changes the answer.
 */
export function boundaryAt(text: string, start: number, at: number): number {
  const code = text.charCodeAt(at);
  if (code === NEWLINE) return at + 1;
  const end = endOfMarks(text, at);
  if (end === NOT_A_BOUNDARY || end === UNDECIDED) return end;

  const next = text.charCodeAt(end);
  if (hasMark(text, at, end, isWideTerminatorAt)) return end;
  if (hasMark(text, at, end, isPlainTerminatorAt))
    return isInNumber(text, start, at, end) ? NOT_A_BOUNDARY : end;
  if (!isSpace(next) && !beginsUnspaced(next)) return NOT_A_BOUNDARY;
  if (hasMark(text, at, end, isFinalMarkAt)) return end;
  if (isEllipsis(text, at)) return afterEllipsis(text, end);
  if (end > at + 1 && isSpace(next)) return afterClosedStop(text, end);
  return afterFullStop(text, start, at, end);
}

/** The terminators and closers from `at` on belong together: `?!`, `."`, `!**`. */
function endOfMarks(text: string, at: number): number {
  let end = at + 1;
  while (end < text.length) {
    const code = text.charCodeAt(end);
    // The pair tells whether it is a mark.
    if (isHighSurrogate(code)) {
      if (end + 1 === text.length) return UNDECIDED;
      if (!isPlainTerminatorAt(text, end + 1)) return end;
      end += 2;
    } else {
      const isMark = code !== NEWLINE && (isTerminator(code) || isCloser(code));
      if (!isMark) return end;
      end += 1;
    }
    if (end - at > LOOKAHEAD_MAX) return NOT_A_BOUNDARY;
  }
  return UNDECIDED;
}

/** "۳۔۵" is a number, and "۱۔" before the first word of a line is one of a list. */
function isInNumber(text: string, start: number, at: number, end: number): boolean {
  if (!DIGIT.test(text.charAt(at - 1))) return false;
  return (
    DIGIT.test(text.charAt(end)) || LIST_NUMBER.test(text.slice(start, at).split("\n").at(-1) ?? "")
  );
}

type MarkTest = (text: string, index: number) => boolean;

function hasMark(text: string, from: number, to: number, isMarkAt: MarkTest): boolean {
  for (let index = from; index < to; index += 1) {
    if (isMarkAt(text, index)) return true;
  }
  return false;
}

const isWideTerminatorAt: MarkTest = (text, index) => isWideTerminator(text.charCodeAt(index));

const isFinalMarkAt: MarkTest = (text, index) => {
  const code = text.charCodeAt(index);
  return isTerminator(code) && code !== FULL_STOP && code !== ELLIPSIS;
};

function isEllipsis(text: string, at: number): boolean {
  const isDots = text.charCodeAt(at + 1) === FULL_STOP || text.charCodeAt(at - 1) === FULL_STOP;
  return isDots || text.charCodeAt(at) === ELLIPSIS;
}

/** "Well... I think" goes on, "That was all... Goodbye" does not. */
function afterEllipsis(text: string, end: number): number {
  if (!isSpace(text.charCodeAt(end))) return NOT_A_BOUNDARY;
  const word = wordAfter(text, end);
  if (word === undefined) return UNDECIDED;
  const isPronoun = word === "I" || /^I['’]/.test(word);
  return UPPER_CASE.test(word) && !isPronoun ? end : NOT_A_BOUNDARY;
}

/** 'He left (at last.) Then', but not 'He left (at last.) and'. */
function afterClosedStop(text: string, end: number): number {
  const word = wordAfter(text, end);
  if (word === undefined) return UNDECIDED;
  return LOWER_CASE.test(word) ? NOT_A_BOUNDARY : end;
}

function afterFullStop(text: string, start: number, at: number, end: number): number {
  const word = wordBefore(text, start, at);
  if (NUMBER.test(word)) return afterNumber(text, start, at, end, word);
  if (ALWAYS_CONTINUED.has(word)) return NOT_A_BOUNDARY;
  if (CONTINUED_BY_NUMBER.has(word)) return unlessNumberFollows(text, end);
  if (SOMETIMES_CONTINUED.has(word) || SINGLE_LETTERS.test(word)) return ifOpenerFollows(text, end);
  return end;
}

/** "1. Wash it" in a list and "3. Mai" in German go on, "It costs 30." does not. */
function afterNumber(text: string, start: number, at: number, end: number, digits: string): number {
  const sentence = text.slice(start, at);
  if (LIST_NUMBER.test(sentence.slice(sentence.lastIndexOf("\n") + 1))) return NOT_A_BOUNDARY;
  if (digits.length > 2) return end;
  const word = wordAfter(text, end);
  if (word === undefined) return UNDECIDED;
  return GERMAN_MONTHS.has(word.toLowerCase()) ? NOT_A_BOUNDARY : end;
}

function unlessNumberFollows(text: string, end: number): number {
  const next = nextInk(text, end);
  if (next === UNDECIDED || next === NOT_A_BOUNDARY) return next;
  const code = text.charCodeAt(next);
  return code >= 48 && code <= 57 ? NOT_A_BOUNDARY : end;
}

function ifOpenerFollows(text: string, end: number): number {
  const word = wordAfter(text, end);
  if (word === undefined) return UNDECIDED;
  const following = text.slice(end, end + LOOKAHEAD_MAX).trimStart();
  if (beginsUnspaced(following.charCodeAt(0))) return end;
  if (!UPPER_CASE.test(word)) return NOT_A_BOUNDARY;
  return SENTENCE_OPENERS.has(word.toLowerCase().replace("’", "'")) ? end : NOT_A_BOUNDARY;
}

/** The word before the full stop, in lower case, with its inner stops; a longer one than is looked up comes cut. */
function wordBefore(text: string, start: number, at: number): string {
  let from = at;
  while (from > start && at - from <= WORD_MAX) {
    const code = text.charCodeAt(from - 1);
    // The hyphen is in "c.-à-d.", so it is the one opener that may stand inside.
    if (isSpace(code) || (isOpener(code) && code !== 45)) break;
    from -= 1;
  }
  return text.slice(from, at).toLowerCase();
}

/** The whole next word without what opens it, "" when a number or mark comes first, undefined when it may go on. */
function wordAfter(text: string, end: number): string | undefined {
  const from = nextInk(text, end);
  if (from === UNDECIDED) return undefined;
  if (from === NOT_A_BOUNDARY) return "";
  let to = from;
  while (to < text.length && to - from < WORD_MAX && LETTER.test(text.charAt(to))) to += 1;
  if (to === text.length) return undefined;
  const isInitial = to - from === 1 && text.charCodeAt(to) === FULL_STOP;
  return isInitial ? "" : text.slice(from, to);
}

/** Where the next word begins, past spaces and opening marks. */
function nextInk(text: string, end: number): number {
  for (let index = end; index < end + LOOKAHEAD_MAX; index += 1) {
    if (index >= text.length) return UNDECIDED;
    const code = text.charCodeAt(index);
    if (!isSpace(code) && !isOpener(code)) return index;
  }
  return NOT_A_BOUNDARY;
}
