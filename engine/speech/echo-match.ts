import { isInDigits, isNumberJoint, saidDigits } from "./number-words.js";
import { isCharacter } from "./spoken-words.js";

/** The agent's words that are passed over between two that came back, at most. */
const GAP_WORDS_MAX = 2;
/** So many words a character of Chinese or Japanese counts as: most of theirs have two. */
const CHARACTER_WORDS = 0.5;
/** A shorter piece of a word may be of any word. */
const PIECE_CHARS_MIN = 2;

/** A word that the caller can have heard from the agent, and when it was over, on the call's clock. */
export interface PlayedWord {
  readonly word: string;
  readonly endsAtMs: number;
  readonly beginsSentence: boolean;
  readonly endsSentence: boolean;
  /** It stands in a question, or just before one, as what is read back to the caller does. */
  readonly isAsked?: true;
}

/** Which of the heard words were found among the agent's, one after the other. */
export interface EchoMatch {
  readonly count: number;
  /** Where the first and the last of them stand among the agent's. */
  readonly from: number;
  readonly to: number;
  /** Which of the heard words are the first and the last of them. */
  readonly firstHeard: number;
  readonly lastHeard: number;
  /** So many of the heard words in a row are not the agent's at the most; a character of Chinese or Japanese is half a word. */
  readonly othersInRow: number;
  /** The heard words that are not the agent's, and those that are only said for a number of its in digits, or the other way round. */
  readonly others: readonly string[];
  readonly inDigits: readonly string[];
  /** The last of the heard words is only the beginning of the agent's. */
  readonly isCut: boolean;
}

/** How many of the heard words are found one after the other from there on, with small gaps. */
export function matchedFrom(
  heard: readonly string[],
  played: readonly PlayedWord[],
  from: number,
): EchoMatch {
  let count = 0;
  let first = from;
  let to = from;
  let firstHeard = 0;
  let lastHeard = -1;
  let isCut = false;
  let othersInRow = 0;
  let rowLength = 0;
  let at = from;
  /** So many digits have been said of a number of the agent's that the words are in. */
  let saidCount: number | undefined;
  const others: string[] = [];
  const inDigits: string[] = [];
  for (const [index, word] of heard.entries()) {
    const othersBefore = index - lastHeard - 1;
    const reach = Math.min(played.length, at + othersBefore + GAP_WORDS_MAX + 1);
    const isLast = index === heard.length - 1;
    const mayBePiece = (isLast || index === 0) && word.length >= PIECE_CHARS_MIN;
    let found = at;
    while (found < reach && !isPlayed(word, played[found]?.word ?? "", mayBePiece)) found += 1;
    const isFound = found < reach;
    const ownWord = played[isFound ? found : to]?.word ?? "";
    saidCount = isFound ? saidBy(word, ownWord) : goneOn(word, ownWord, saidCount);
    if (!isFound && saidCount === undefined) {
      others.push(word);
      rowLength += isCharacter(word) ? CHARACTER_WORDS : 1;
      othersInRow = Math.max(othersInRow, rowLength);
      continue;
    }
    if (isFound) {
      if (count === 0) [first, firstHeard] = [found, index];
      to = found;
      isCut = isLast && isBeginning(word, ownWord);
      at = found + 1;
    }
    if (isInDigits(word) !== isInDigits(ownWord)) inDigits.push(word);
    rowLength = 0;
    lastHeard = index;
    count += 1;
  }
  return { count, from: first, to, firstHeard, lastHeard, othersInRow, others, inDigits, isCut };
}

/** Sound that stood still in the middle of a word comes back with pieces of it, at the beginning or the end. */
function isPlayed(word: string, playedWord: string, mayBePiece: boolean): boolean {
  if (word === playedWord) return true;
  if (isInDigits(playedWord)) {
    if (!isInDigits(word)) return saidDigits(word, playedWord) !== undefined;
  } else if (isInDigits(word)) return saidDigits(playedWord, word) !== undefined;
  return mayBePiece && (playedWord.startsWith(word) || playedWord.endsWith(word));
}

function isBeginning(word: string, playedWord: string): boolean {
  return playedWord.length > word.length && playedWord.startsWith(word);
}

/** How many digits of a number of the agent's the word says; undefined where that is none. */
function saidBy(word: string, playedWord: string): number | undefined {
  const isSaid = isInDigits(playedWord) && !isInDigits(word);
  return isSaid ? saidDigits(word, playedWord) : undefined;
}

/** "Four hundred twenty seven dollars" is one number in digits; undefined where no number is being said, or not with this word. */
function goneOn(
  word: string,
  playedWord: string,
  saidCount: number | undefined,
): number | undefined {
  if (saidCount === undefined) return undefined;
  return isNumberJoint(word) ? saidCount : saidDigits(word, playedWord, saidCount);
}
