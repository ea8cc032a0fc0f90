import { ALWAYS_CONTINUED, CONTINUED_BY_NUMBER, SOMETIMES_CONTINUED } from "./abbreviations.js";
import {
  isCloser,
  isPlainTerminatorAt,
  isSpace,
  isTerminatorAt,
  isWideTerminator,
} from "./character-class.js";
import { type SplitStep, type SplitterState, splitToken } from "./sentence-splitter.js";

const FULL_STOP = 46;
const QUESTION_MARK = 63;
const EXCLAMATION_MARK = 33;
/** A word of letters, and marks on them, with an apostrophe at most: no number, initial, address, file or abbreviation with stops inside. */
const PLAIN_WORD = /(?:^|[\s\p{Pi}"'(¿¡*_-])((?:\p{L}\p{M}*){2,40}|(?:\p{L}\p{M}*)+['’]\p{L}+)\.$/u;
const LAST_WORD = /[^\s"'([{*_`]{1,40}$/u;
/** A number, or initials. */
const DOUBTFUL_END = /\d$|^(?:\p{L}\.)*\p{L}$/u;
const LIST_NUMBER = /(?:^|\n)[\s*_#>•(-]*\d{1,3}$/;
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

/** An LLM that sends no token for this long has stalled behind a sentence that is certainly complete. */
const MODEL_STALL_MS = 300;
/** The same behind a sentence that ends with a number or an abbreviation: "3." may go on as "3.5", "U.S." as "U.S. Open". */
const DOUBTFUL_STALL_MS = 1_000;

/** The pending sentence, if it is complete and the LLM has sent no token for `stalledMs`. */
export function splitStalled(state: SplitterState, stalledMs: number): SplitStep | undefined {
  const { pending, weight, given } = state;
  const text = pending.trimEnd();
  const waitMs = stallBehind(text);
  if (waitMs === undefined || stalledMs < waitMs) return undefined;
  const rest = { pending: "", scanned: 0, weight: 0 };
  return { state: { ...state, ...rest, given: given + weight, begun: true }, sentences: [text] };
}

/** How long a model is to stall before what is pending counts as whole; undefined where it is not. Cheap where no mark ends it. */
export function stallMsOf({ pending }: SplitterState): number | undefined {
  let end = pending.length;
  while (end > 0 && isBehindMark(pending.charCodeAt(end - 1))) end -= 1;
  if (end === 0 || !isTerminatorAt(pending, end - 1)) return undefined;
  return stallBehind(pending.trimEnd());
}

const isBehindMark = (code: number): boolean => isSpace(code) || isCloser(code);

function stallBehind(text: string): number | undefined {
  let end = text.length;
  while (end > 0 && isCloser(text.charCodeAt(end - 1))) end -= 1;
  const last = text.charCodeAt(end - 1);
  if (end === 0 || !isTerminatorAt(text, end - 1) || !SPOKEN.test(text)) return undefined;
  if (last !== FULL_STOP) return MODEL_STALL_MS;
  const before = text.slice(0, end - 1);
  const word = LAST_WORD.exec(before)?.[0].toLowerCase() ?? "";
  if (ALWAYS_CONTINUED.has(word) || LIST_NUMBER.test(before)) return undefined;
  const isDoubtful = DOUBTFUL_END.test(word) || isAbbreviation(word);
  return isDoubtful ? DOUBTFUL_STALL_MS : MODEL_STALL_MS;
}

function endsForCertain(text: string): boolean {
  const last = text.charCodeAt(text.length - 1);
  const isMark = last === QUESTION_MARK || last === EXCLAMATION_MARK;
  if (isMark || isWideTerminator(last) || isPlainTerminatorAt(text, text.length - 1)) {
    return SPOKEN.test(text);
  }
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
