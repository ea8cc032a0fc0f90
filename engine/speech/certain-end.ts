import { ALWAYS_CONTINUED, CONTINUED_BY_NUMBER, SOMETIMES_CONTINUED } from "./abbreviations.js";
import { isPlainTerminator, isWideTerminator } from "./character-class.js";
import { type SplitStep, type SplitterState, splitToken } from "./sentence-splitter.js";

const FULL_STOP = 46;
const QUESTION_MARK = 63;
const EXCLAMATION_MARK = 33;
/** A word of letters, and marks on them, with an apostrophe at most: no number, initial, address, file or abbreviation with stops inside. */
const PLAIN_WORD = /(?:^|[\s\p{Pi}"'(¿¡*_-])((?:\p{L}\p{M}*){2,40}|(?:\p{L}\p{M}*)+['’]\p{L}+)\.$/u;
const SPOKEN = /[\p{L}\p{N}]/u;

/**
 * Takes the next token of a reply as `splitToken` does, and gives the first sentence out with its last token where the
 * mark at its end can be nothing else: the caller waits for it in silence, and the next token may take long. That a
 * token ends there is part of the evidence, since models write ".com" and "..." in one.
 */
export function splitReplyToken(state: SplitterState, token: string): SplitStep {
  const step = splitToken(state, token);
  const { begun, pending } = step.state;
  if (begun || !endsForCertain(pending)) return step;
  const { given, weight } = step.state;
  const begunState = { ...step.state, pending: "", scanned: 0, weight: 0, given: given + weight };
  return { state: { ...begunState, begun: true }, sentences: [...step.sentences, pending] };
}

function endsForCertain(text: string): boolean {
  const last = text.charCodeAt(text.length - 1);
  const isMark = last === QUESTION_MARK || last === EXCLAMATION_MARK;
  if (isMark || isWideTerminator(last) || isPlainTerminator(last)) return SPOKEN.test(text);
  // Only a look: most tokens end with none, and the pattern reads the whole text.
  if (last !== FULL_STOP) return false;
  const word = PLAIN_WORD.exec(text)?.[1]?.toLowerCase();
  return word !== undefined && !isAbbreviation(word);
}

function isAbbreviation(word: string): boolean {
  return (
    ALWAYS_CONTINUED.has(word) || CONTINUED_BY_NUMBER.has(word) || SOMETIMES_CONTINUED.has(word)
  );
}
