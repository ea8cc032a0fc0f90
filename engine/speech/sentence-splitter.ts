import {
  isHighSurrogate,
  isPausedBySpace,
  isSpace,
  isTerminatorAt,
  isWideLetter,
  weightOf,
} from "./character-class.js";
import { boundaryAt, NOT_A_BOUNDARY, UNDECIDED } from "./sentence-boundary.js";
import { forcedCut, lastClauseEnd, lastJoint, mayEndClause } from "./sentence-cut.js";

// Lengths below are weights: a Latin letter counts 1, a character of a wide script 3 (it takes as long to say).

/** A sentence may not grow past this, so that memory and the wait for its audio stay bounded. About 20 s of speech. */
const SENTENCE_WEIGHT_MAX = 300;
/** The caller waits for the first sentence in silence: past this it is cut at the end of a clause. */
const FIRST_SENTENCE_WEIGHT = 80;
/** A later sentence below this ("Yes!") goes with the next one: a synthesis of its own would sound chopped. */
export const SHORT_SENTENCE_WEIGHT = 12;
/**
 * While little has been given out, the next piece must not take a voice longer than what it gave before lasts: at 1.5 times
 * real time, with two pieces under way, so many times the weight of all before it.
 */
const NEXT_OF_GIVEN = 1.3;
const NEXT_WEIGHT_MIN = 30;
/** However much was given out, only two pieces are under way, and most of that has been heard. About 10 s of speech. */
const NEXT_WEIGHT_MAX = 150;
/** A clause that is so many times longer than that is cut before a joint, and one that is longer still at any word. */
const JOINT_CUT_FACTOR = 1.2;
const WORD_CUT_FACTOR = 1.3;
/** A piece that a caller waits for behind a short one has several words nevertheless. */
const WORD_CUT_WEIGHT_MIN = 75;
/** A first sentence a little above its limit sounds better whole, and the caller hears no gap before it. */
const FIRST_JOINT_CUT_FACTOR = 1.5;
const FIRST_WORD_CUT_FACTOR = 2;
/** A single word (a link, digits) that is longer than a piece may be is cut inside, but none below this weight. */
const LONG_WORD_WEIGHT = 120;
const LONG_WORD_FACTOR = 1.2;
/** Scripts that mark no sentences are cut at a speaker's pause from here on. */
const UNMARKED_WEIGHT_MAX = 100;
/** No clause below this is cut off. */
const CLAUSE_WEIGHT_MIN = 20;

/** Begin with EMPTY_SPLITTER; every state is a value that stays good. */
export interface SplitterState {
  /** What was not given out yet, without leading spaces. */
  readonly pending: string;
  /** Up to here `pending` holds no undecided boundary. */
  readonly scanned: number;
  /** The weight of `pending` up to `scanned`. */
  readonly weight: number;
  /** Whether any sentence was given out. */
  readonly begun: boolean;
  /** The weight of what was given out. */
  readonly given: number;
  /** A piece is played while it comes: only the wait for its text counts, not that for its last sound. */
  readonly isStreamed: boolean;
}

export interface SplitStep {
  readonly state: SplitterState;
  /** Trimmed; each holds at least one letter or digit; markup is still in them. */
  readonly sentences: readonly string[];
}

export const EMPTY_SPLITTER: SplitterState = {
  pending: "",
  scanned: 0,
  weight: 0,
  begun: false,
  given: 0,
  isStreamed: false,
};

export const EMPTY_STREAMED_SPLITTER: SplitterState = { ...EMPTY_SPLITTER, isStreamed: true };

const NONE: readonly string[] = [];
const SPOKEN = /[\p{L}\p{N}]/u;

/**
 * Takes the next piece of the stream. The sentences do not depend on how the stream is cut into pieces. A sentence is
 * given out as soon as the characters after it prove that it has ended.
 */
export function splitToken(state: SplitterState, text: string): SplitStep {
  if (state.pending === "" || state.scanned < state.pending.length) return scan(state, text);
  let limit = Math.min(clauseLimit(state), SENTENCE_WEIGHT_MAX);
  // A space behind such a script is where it may be cut.
  if (isPausedBySpace(state.pending.charCodeAt(state.pending.length - 1))) {
    limit = Math.min(limit, UNMARKED_WEIGHT_MAX);
  }
  // The token may begin with the second half of a character.
  if (isTerminatorAt(state.pending.slice(-1) + text.slice(0, 1), 1)) return scan(state, text);
  let weight = state.weight;
  for (let index = 0; index < text.length; index += 1) {
    const code = text.charCodeAt(index);
    if (isTerminatorAt(text, index)) return scan(state, text);
    if (isPausedBySpace(code)) limit = Math.min(limit, UNMARKED_WEIGHT_MAX);
    weight += weightOf(code);
  }
  if (weight > limit) return scan(state, text);
  const pending = state.pending + text;
  return {
    state: {
      pending,
      scanned: pending.length,
      weight,
      begun: state.begun,
      given: state.given,
      isStreamed: state.isStreamed,
    },
    sentences: NONE,
  };
}

/** The stream has ended: what is left, or undefined when nothing of it can be spoken. */
export function splitEnd(state: SplitterState): string | undefined {
  const rest = state.pending.trim();
  return SPOKEN.test(rest) ? rest : undefined;
}

/** Where the sentence being read begins and how far it was read; lives only inside `scan`. */
interface Reading {
  start: number;
  index: number;
  weight: number;
  begun: boolean;
  given: number;
  readonly isStreamed: boolean;
  sentences: string[];
}

function scan(state: SplitterState, token: string): SplitStep {
  const text = state.pending === "" ? token.trimStart() : state.pending + token;
  const reading: Reading = {
    start: 0,
    index: state.scanned,
    weight: state.weight,
    begun: state.begun,
    given: state.given,
    isStreamed: state.isStreamed,
    sentences: [],
  };
  while (reading.index < text.length) {
    if (!readCharacter(reading, text)) break;
  }
  const { start, index, weight, begun, given, isStreamed, sentences } = reading;
  return {
    state: { pending: text.slice(start), scanned: index - start, weight, begun, given, isStreamed },
    sentences,
  };
}

/** Moves on by a character, a boundary or a cut; false when the next characters must be known first. */
function readCharacter(reading: Reading, text: string): boolean {
  const { start, index } = reading;
  const code = text.charCodeAt(index);
  if (isTerminatorAt(text, index)) {
    const end = boundaryAt(text, start, index);
    if (end === UNDECIDED) return false;
    if (end !== NOT_A_BOUNDARY) {
      endSentence(reading, text, end);
      return true;
    }
  }
  const weight = reading.weight + weightOf(code);
  if (weight > SENTENCE_WEIGHT_MAX) {
    // Half a pair does not tell where its character ends.
    if (index + 1 === text.length && isHighSurrogate(code)) return false;
    cutSentence(reading, text, forcedCut(text, start, index));
    return true;
  }
  const cut = openingCut(reading, text, weight);
  if (cut !== -1) {
    cutSentence(reading, text, cut);
    return true;
  }
  reading.weight = weight;
  reading.index = index + 1;
  return true;
}

/** Where the piece that is read may end early, so that the caller need not wait for all of it; -1 for nowhere. */
function openingCut(reading: Reading, text: string, weight: number): number {
  const { start, index } = reading;
  const code = text.charCodeAt(index);
  const isUnmarked = isPausedBySpace(code) || isPausedBySpace(text.charCodeAt(index - 1));
  const limit = isUnmarked
    ? Math.min(clauseLimit(reading), UNMARKED_WEIGHT_MAX)
    : clauseLimit(reading);
  if (weight <= limit) return -1;
  const { joint, word } = cutWeights(reading, limit);
  const isWide = isWideLetter(code);
  // Inside a word only where no space has come: words of a script that writes them together, links, long runs of digits.
  const longWord = isWide ? word : Math.max(word * LONG_WORD_FACTOR, LONG_WORD_WEIGHT);
  if (weight > longWord && !isSpace(code) && !isHighSurrogate(code)) {
    return forcedCut(text, start, index);
  }
  // All of it is read when the limit is passed, and from then on what has come since.
  if (reading.weight > limit && !mayEndClause(text, index)) return -1;
  const from = clauseMinEnd(text, start);
  const clause = lastClauseEnd(text, from, index);
  if (clause !== -1) return clause;
  if (isUnmarked && weight > limit * JOINT_CUT_FACTOR) return forcedCut(text, start, index);
  if (!isSpace(code)) return -1;
  if (weight > word) return index;
  return weight > joint ? lastJoint(text, from, index) : -1;
}

/** From these weights on a piece may end before a joint, and with any word. */
function cutWeights({ begun }: Reading, limit: number): { joint: number; word: number } {
  if (!begun) return { joint: limit * FIRST_JOINT_CUT_FACTOR, word: limit * FIRST_WORD_CUT_FACTOR };
  const word = Math.max(limit * WORD_CUT_FACTOR, WORD_CUT_WEIGHT_MIN);
  return { joint: limit * JOINT_CUT_FACTOR, word };
}

/** From this weight on a piece may end with a clause; beyond that of any sentence once a piece that grows has enough ahead. */
function clauseLimit({
  begun,
  given,
  isStreamed,
}: Pick<SplitterState, "begun" | "given" | "isStreamed">): number {
  if (!begun || (isStreamed && given < FIRST_SENTENCE_WEIGHT)) return FIRST_SENTENCE_WEIGHT;
  if (isStreamed) return Number.POSITIVE_INFINITY;
  return Math.min(Math.max(NEXT_WEIGHT_MIN, given * NEXT_OF_GIVEN), NEXT_WEIGHT_MAX);
}

function clauseMinEnd(text: string, start: number): number {
  let index = start;
  for (let weight = 0; weight < CLAUSE_WEIGHT_MIN && index < text.length; index += 1) {
    weight += weightOf(text.charCodeAt(index));
  }
  return index;
}

function endSentence(reading: Reading, text: string, end: number): void {
  let weight = reading.weight;
  for (let index = reading.index; index < end; index += 1)
    weight += weightOf(text.charCodeAt(index));
  const isShort = reading.begun && weight < SHORT_SENTENCE_WEIGHT;
  if (isShort || !SPOKEN.test(text.slice(reading.start, end))) {
    reading.weight = weight;
    reading.index = end;
    return;
  }
  cutSentence(reading, text, end);
}

/** Text without a letter or a digit is dropped here when it grows past the limit: there is nothing to say in it. */
function cutSentence(reading: Reading, text: string, end: number): void {
  const sentence = text.slice(reading.start, end).trim();
  if (SPOKEN.test(sentence)) {
    reading.sentences.push(sentence);
    reading.begun = true;
    for (let index = 0; index < sentence.length; index += 1) {
      reading.given += weightOf(sentence.charCodeAt(index));
    }
  }
  let start = end;
  while (start < text.length && isSpace(text.charCodeAt(start))) start += 1;
  reading.start = start;
  reading.index = start;
  reading.weight = 0;
}

/** A whole text at once. */
export function sentencesOf(text: string): readonly string[] {
  const split = splitToken(EMPTY_SPLITTER, text);
  const rest = splitEnd(split.state);
  return rest === undefined ? split.sentences : [...split.sentences, rest];
}
