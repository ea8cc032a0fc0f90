import { wordsOf } from "./spoken-words.js";

/** This share of an echo's words must be the agent's, in their order; recognizers mishear some. */
const OWN_SHARE_MIN = 0.8;
/** With so many words one that is not the agent's is a mishearing; with fewer it may be what the caller wants changed. */
const MISHEARD_WORDS_MIN = 8;
const MISHEARD_SHARE_MIN = 0.85;
/** So many of the agent's words in a row are an echo, wherever they were taken from; fewer may be an answer. */
const CERTAIN_WORDS_MIN = 5;
/** Fewer are one when they begin a sentence, or are a whole one: nobody answers so. */
const FROM_START_WORDS_MIN = 4;
const WHOLE_SENTENCE_WORDS_MIN = 3;
/** The agent's words that are passed over between two that came back, at most. */
const GAP_WORDS_MAX = 2;
/** Only so many words are compared: the newest of the caller's, and of what was played. */
const CALLER_WORDS_MAX = 40;
const PLAYED_WORDS_MAX = 120;

/** How much earlier than estimated a word may have been played: a sentence's words are not spoken evenly. */
const EARLY_MAX_MS = 1_500;
/** Loudspeaker, room, network and jitter buffers, and how much later than estimated a word may have been played. */
const LATE_MAX_MS = 2_500;
/** A caller who repeats words has to hear and to say them first: an echo is back before that. */
const REPEATED_MS_PER_WORD = 200;
const REPEATED_MIN_MS = 600;
const REPEATED_MAX_MS = 1_500;
/** Where a sentence ends is known, not estimated: who ends with it spoke at the same time as the agent. */
const AT_THE_END_EARLY_MS = 100;
const AT_THE_END_LATE_MS = 400;
const AT_THE_END_WORDS_MIN = 2;

/** People interrupt with these; words that are only these are the caller's, whatever the agent is saying. */
const INTERRUPTIONS = new Set(
  `stop no nope wait hold on hang up pause quiet enough excuse me sorry hey hello yes yeah okay ok please one moment a minute second
  para pare alto espera espere momento un basta perdón perdone disculpe oiga sí vale
  arrêtez arrête attendez attends stopp halt warte warten sie moment bitte nein ja non oui`.split(
    /\s+/,
  ),
);

/** A word that the caller can have heard from the agent, and when it was over, on the call's clock. */
export interface PlayedWord {
  readonly word: string;
  readonly endsAtMs: number;
  readonly beginsSentence: boolean;
  readonly endsSentence: boolean;
}

/** Whether words are the agent's own, come back through loudspeaker and microphone. What is `possible` may be an answer. */
export type Echo = "none" | "possible" | "certain";

interface Match {
  readonly count: number;
  readonly from: number;
  readonly to: number;
  /** The last of the heard words is only the beginning of the agent's. */
  readonly isCut: boolean;
}

/** A shorter piece of a word may be of any word. */
const PIECE_CHARS_MIN = 2;

interface Circumstances {
  /** The agent's sound stands still. */
  readonly standsStill?: boolean;
  /** The part that was said last, where words before a pause are compared with it: only to repeat these took time since. */
  readonly newestText?: string;
}

/**
 * Compares what the recognizer heard, ended at `endedAtMs` on the call's clock, with what was played until now, oldest
 * word first. An echo stands in it nearly whole, in order and close together, and is back sooner than anybody repeats it.
 * Where the agent's sound stands still, a word that breaks off in its middle has broken off with the agent's: nobody else
 * ends so.
 */
export function echoOf(
  callerText: string,
  endedAtMs: number,
  playedWords: readonly PlayedWord[],
  { standsStill = false, newestText = callerText }: Circumstances = {},
): Echo {
  // Most of what callers say is said in silence.
  if ((playedWords.at(-1)?.endsAtMs ?? Number.NEGATIVE_INFINITY) < endedAtMs - LATE_MAX_MS) {
    return "none";
  }
  const heard = wordsOf(callerText).slice(-CALLER_WORDS_MAX);
  if (heard.every((word) => INTERRUPTIONS.has(word))) return "none";
  const played = playedWords.slice(-PLAYED_WORDS_MAX);
  const said = { words: heard.length, inOneGo: wordsOf(newestText).length };
  let echo: Echo = "none";
  for (let from = 0; from < played.length; from += 1) {
    const match = matchedFrom(heard, played, from);
    if (match.count === 0 || match.count < heard.length * OWN_SHARE_MIN) continue;
    const lagMs = endedAtMs - (played[match.to]?.endsAtMs ?? 0);
    if (lagMs < -EARLY_MAX_MS || lagMs > LATE_MAX_MS) continue;
    const brokeOff = standsStill && match.isCut && match.count === heard.length;
    if (brokeOff || isCertain(said, match, played, lagMs)) return "certain";
    echo = "possible";
  }
  return echo;
}

function isCertain(
  { words, inOneGo }: { readonly words: number; readonly inOneGo: number },
  { count, from, to }: Match,
  played: readonly PlayedWord[],
  lagMs: number,
): boolean {
  const mayBeMisheard = words >= MISHEARD_WORDS_MIN && count >= words * MISHEARD_SHARE_MIN;
  if (count < words && !mayBeMisheard) return false;
  const endsSentence = played[to]?.endsSentence === true;
  if (endsSentence && count >= AT_THE_END_WORDS_MIN) {
    if (lagMs >= -AT_THE_END_EARLY_MS && lagMs <= AT_THE_END_LATE_MS) return true;
  }
  const lagMaxMs = Math.max(REPEATED_MIN_MS, inOneGo * REPEATED_MS_PER_WORD);
  if (lagMs > Math.min(lagMaxMs, REPEATED_MAX_MS)) return false;
  if (words >= CERTAIN_WORDS_MIN) return true;
  const beginsSentence = played[from]?.beginsSentence === true;
  if (beginsSentence && endsSentence) return words >= WHOLE_SENTENCE_WORDS_MIN;
  return beginsSentence && words >= FROM_START_WORDS_MIN;
}

/** How many of the heard words are found one after the other from there on, with small gaps; and where the first and last stand. */
function matchedFrom(heard: readonly string[], played: readonly PlayedWord[], from: number): Match {
  let match: Match = { count: 0, from, to: from, isCut: false };
  let at = from;
  for (const [index, word] of heard.entries()) {
    const reach = Math.min(played.length, at + GAP_WORDS_MAX + 1);
    const isLast = index === heard.length - 1;
    let found = at;
    while (found < reach && !isPlayed(word, played[found]?.word ?? "", isLast || index === 0)) {
      found += 1;
    }
    if (found >= reach) continue;
    match = {
      count: match.count + 1,
      from: match.count === 0 ? found : match.from,
      to: found,
      isCut: isLast && played[found]?.word !== word,
    };
    at = found + 1;
  }
  return match;
}

/** Sound that stood still in the middle of a word comes back with pieces of it, at the beginning or the end. */
function isPlayed(word: string, playedWord: string, mayBePiece: boolean): boolean {
  if (word === playedWord) return true;
  if (!mayBePiece || word.length < PIECE_CHARS_MIN) return false;
  return playedWord.startsWith(word) || playedWord.endsWith(word);
}
