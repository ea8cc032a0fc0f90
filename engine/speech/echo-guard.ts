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
/**
 * Where the caller is known to have a loudspeaker on, words that are back at once and half the agent's are more likely misheard
 * than said along with it.
 */
const LOUDSPEAKER_SHARE_MIN = 0.5;
const LOUDSPEAKER_CERTAIN_SHARE_MIN = 0.6;
const LOUDSPEAKER_CERTAIN_WORDS_MIN = 3;
/** So many words in a row that the agent did not say are the caller's. */
const OTHER_WORDS_MIN = 2;
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

/** Behind words that are an echo these are the caller's, too. Small words are not among them, as which others are misheard. */
const STOPS = new Set(
  `stop wait quiet enough pause
  pare espera espere basta arrêtez arrête attendez attends stopp halt warte warten`.split(/\s+/),
);

/** People interrupt with these; words that are only these are the caller's, whatever the agent is saying. */
const INTERRUPTIONS = new Set([
  ...STOPS,
  ...`no nope hold on hang up excuse me sorry hey hello yes yeah okay ok please one moment a minute second
  para alto un momento perdón perdone disculpe oiga sí vale sie moment bitte nein ja non oui`.split(
    /\s+/,
  ),
]);

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
  /** So many of the heard words in a row are not the agent's at the most, and so many at the end. */
  readonly othersInRow: number;
  readonly othersAtEnd: number;
  /** One of them is among `STOPS`. */
  readonly saysStop: boolean;
  /** The last of the heard words is only the beginning of the agent's. */
  readonly isCut: boolean;
}

/** What was heard, of which a match is a part. */
interface Said {
  readonly words: readonly string[];
  /** The time in which nobody could have repeated them. */
  readonly lagMaxMs: number;
  readonly mayGoOn: boolean;
  readonly isOnLoudspeaker: boolean;
}

/** A shorter piece of a word may be of any word. */
const PIECE_CHARS_MIN = 2;

/** What else is known of the call. */
export interface Circumstances {
  /** The agent's sound stands still. */
  readonly standsStill?: boolean;
  /** The agent's words were certainly heard a short while ago. */
  readonly isOnLoudspeaker?: boolean;
  /** The words may still change, and more of them may come. Left out: they are settled. */
  readonly mayGoOn?: boolean;
  /** The part that was said last, where words before a pause are compared with it: only to repeat these took time since. */
  readonly newestText?: string;
}

/**
 * Compares what the recognizer heard, ended at `endedAtMs` on the call's clock, with what was played until now, oldest
 * word first. An echo stands in it nearly whole, in order and close together, and is back sooner than anybody repeats it.
 * Where the agent's sound stands still, a word that breaks off in its middle has broken off with the agent's: nobody else
 * ends so. On a loudspeaker more of them may have been misheard.
 */
export function echoOf(
  callerText: string,
  endedAtMs: number,
  playedWords: readonly PlayedWord[],
  circumstances: Circumstances = {},
): Echo {
  // Most of what callers say is said in silence.
  if ((playedWords.at(-1)?.endsAtMs ?? Number.NEGATIVE_INFINITY) < endedAtMs - LATE_MAX_MS) {
    return "none";
  }
  const words = wordsOf(callerText).slice(-CALLER_WORDS_MAX);
  if (words.every((word) => INTERRUPTIONS.has(word))) return "none";
  const { standsStill = false, isOnLoudspeaker = false, newestText = callerText } = circumstances;
  // With the agent's sound its echo stands still, and what was heard of it is settled for no other reason.
  const mayGoOn = standsStill || circumstances.mayGoOn === true;
  const lagMaxMs = Math.max(REPEATED_MIN_MS, wordsOf(newestText).length * REPEATED_MS_PER_WORD);
  const said: Said = {
    words,
    lagMaxMs: Math.min(lagMaxMs, REPEATED_MAX_MS),
    mayGoOn,
    isOnLoudspeaker,
  };
  const played = playedWords.slice(-PLAYED_WORDS_MAX);
  // The next word tells a first one that was misheard from the caller's.
  let echo: Echo = isOnLoudspeaker && mayGoOn && words.length === 1 ? "possible" : "none";
  for (let from = 0; from < played.length; from += 1) {
    const match = matchedFrom(words, played, from);
    // A word that was misheard stands for one of the agent's.
    const last = Math.min(match.to + match.othersAtEnd, played.length - 1);
    const lagMs = endedAtMs - (played[last]?.endsAtMs ?? 0);
    if (lagMs < -EARLY_MAX_MS || lagMs > LATE_MAX_MS || !isEcho(said, match, lagMs)) continue;
    const brokeOff = standsStill && match.isCut && match.count === words.length;
    if (brokeOff || isCertain(said, match, played, lagMs)) return "certain";
    echo = "possible";
  }
  return echo;
}

function isEcho(said: Said, { count, othersInRow, saysStop }: Match, lagMs: number): boolean {
  const { words, lagMaxMs, mayGoOn, isOnLoudspeaker } = said;
  if (count === 0 || saysStop) return false;
  if (isOnLoudspeaker && othersInRow >= OTHER_WORDS_MIN) return false;
  if (count >= words.length * OWN_SHARE_MIN) return true;
  if (!isOnLoudspeaker || lagMs > lagMaxMs) return false;
  const isLongEnough = mayGoOn || words.length >= LOUDSPEAKER_CERTAIN_WORDS_MIN;
  return isLongEnough && count >= words.length * LOUDSPEAKER_SHARE_MIN;
}

function isCertain(
  { words: { length }, lagMaxMs, isOnLoudspeaker }: Said,
  { count, from, to }: Match,
  played: readonly PlayedWord[],
  lagMs: number,
): boolean {
  const isManyOnLoudspeaker = isOnLoudspeaker && length >= LOUDSPEAKER_CERTAIN_WORDS_MIN;
  const mayBeMisheard =
    (length >= MISHEARD_WORDS_MIN && count >= length * MISHEARD_SHARE_MIN) ||
    (isManyOnLoudspeaker && count >= length * LOUDSPEAKER_CERTAIN_SHARE_MIN);
  if (count < length && !mayBeMisheard) return false;
  const endsSentence = played[to]?.endsSentence === true;
  if (endsSentence && count >= AT_THE_END_WORDS_MIN) {
    if (lagMs >= -AT_THE_END_EARLY_MS && lagMs <= AT_THE_END_LATE_MS) return true;
  }
  if (lagMs > lagMaxMs) return false;
  if (length >= CERTAIN_WORDS_MIN || isManyOnLoudspeaker) return true;
  const beginsSentence = played[from]?.beginsSentence === true;
  if (beginsSentence && endsSentence) return length >= WHOLE_SENTENCE_WORDS_MIN;
  return beginsSentence && length >= FROM_START_WORDS_MIN;
}

/** How many of the heard words are found one after the other from there on, with small gaps; and where the first and last stand. */
function matchedFrom(heard: readonly string[], played: readonly PlayedWord[], from: number): Match {
  let count = 0;
  let first = from;
  let to = from;
  let isCut = false;
  let others = 0;
  let othersInRow = 0;
  let saysStop = false;
  let at = from;
  for (const [index, word] of heard.entries()) {
    const reach = Math.min(played.length, at + others + GAP_WORDS_MAX + 1);
    const isLast = index === heard.length - 1;
    let found = at;
    while (found < reach && !isPlayed(word, played[found]?.word ?? "", isLast || index === 0)) {
      found += 1;
    }
    if (found >= reach) {
      others += 1;
      othersInRow = Math.max(othersInRow, others);
      saysStop ||= STOPS.has(word);
      continue;
    }
    others = 0;
    if (count === 0) first = found;
    count += 1;
    to = found;
    isCut = isLast && played[found]?.word !== word;
    at = found + 1;
  }
  return { count, from: first, to, othersInRow, othersAtEnd: others, saysStop, isCut };
}

/** Sound that stood still in the middle of a word comes back with pieces of it, at the beginning or the end. */
function isPlayed(word: string, playedWord: string, mayBePiece: boolean): boolean {
  if (word === playedWord) return true;
  if (!mayBePiece || word.length < PIECE_CHARS_MIN) return false;
  return playedWord.startsWith(word) || playedWord.endsWith(word);
}
