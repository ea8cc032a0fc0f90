import { goesOnWithDigits, isInDigits, saysDigits } from "./number-words.js";

/** The agent's words that are passed over between two that came back, at most. */
const GAP_WORDS_MAX = 2;
/** A shorter piece of a word may be of any word. */
const PIECE_CHARS_MIN = 2;

/** A word that the caller can have heard from the agent, and when it was over, on the call's clock. */
export interface PlayedWord {
  readonly word: string;
  readonly endsAtMs: number;
  readonly beginsSentence: boolean;
  readonly endsSentence: boolean;
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
  /** So many of the heard words in a row are not the agent's at the most. */
  readonly othersInRow: number;
  /** The heard words that are not the agent's. */
  readonly others: readonly string[];
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
  let at = from;
  const others: string[] = [];
  for (const [index, word] of heard.entries()) {
    const othersBefore = index - lastHeard - 1;
    const reach = Math.min(played.length, at + othersBefore + GAP_WORDS_MAX + 1);
    const ends = { isFirst: index === 0, isLast: index === heard.length - 1 };
    let found = at;
    while (found < reach && !isPlayed(word, played[found]?.word ?? "", ends)) found += 1;
    if (found < reach) {
      if (count === 0) [first, firstHeard] = [found, index];
      to = found;
      isCut = ends.isLast && isBeginning(word, played[found]?.word ?? "");
      at = found + 1;
    } else if (count === 0 || othersBefore > 0 || !goesOnWithNumber(word, played[to]?.word ?? "")) {
      others.push(word);
      othersInRow = Math.max(othersInRow, othersBefore + 1);
      continue;
    }
    lastHeard = index;
    count += 1;
  }
  return { count, from: first, to, firstHeard, lastHeard, othersInRow, others, isCut };
}

interface Ends {
  readonly isFirst: boolean;
  readonly isLast: boolean;
}

/** Sound that stood still in the middle of a word comes back with pieces of it, at the beginning or the end. */
function isPlayed(word: string, playedWord: string, { isFirst, isLast }: Ends): boolean {
  if (word === playedWord) return true;
  if (isInDigits(playedWord)) return saysDigits(word, playedWord);
  if (isInDigits(word)) return saysDigits(playedWord, word);
  if (word.length < PIECE_CHARS_MIN) return false;
  return (isLast && isBeginning(word, playedWord)) || (isFirst && playedWord.endsWith(word));
}

function isBeginning(word: string, playedWord: string): boolean {
  return playedWord.length > word.length && playedWord.startsWith(word);
}

/** "Four hundred twenty seven dollars" is one number in digits. */
function goesOnWithNumber(word: string, playedWord: string): boolean {
  return isInDigits(playedWord) && goesOnWithDigits(word, playedWord);
}
