/** Tells the agent's own words, which come back through a loudspeaker, from those of the caller. */

import {
  isCharacter,
  isInDigits,
  isNumberJoint,
  isQuestion,
  spokenDigits,
  spokenWords,
  wordsOf,
  wordsOfAll,
} from "./lexicon.js";
import { type PlaybackLedger, type SentSentence, spokenAfterMs } from "./playback-ledger.js";
import {
  type ConversationState,
  joinWords,
  type ReturnedEcho,
  type SpokenBefore,
  type SuspectedEcho,
  turnOf,
} from "./state.js";

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
  /** It is in a question, or just before one, like words that are read back to the caller. */
  readonly isQuestion?: true;
}

/** Which of the heard words were found among the agent's, one after the other. */
export interface EchoMatch {
  readonly count: number;
  /** Where the first and the last of them stand among the agent's. */
  readonly from: number;
  readonly to: number;
  /** Which of the heard words are the first and the last of them. */
  readonly firstMatched: number;
  readonly lastMatched: number;
  /** So many of the heard words in a row are not the agent's at the most; a character of Chinese or Japanese is half a word. */
  readonly unmatchedInRow: number;
  /** The heard words that are not the agent's, and those that are only said for a number of its in digits, or the other way round. */
  readonly unmatched: readonly string[];
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
  let firstMatched = 0;
  let lastMatched = -1;
  let isCut = false;
  let unmatchedInRow = 0;
  let rowLength = 0;
  let at = from;
  /** So many digits have been said of a number of the agent's that the words are in. */
  let saidCount: number | undefined;
  const unmatched: string[] = [];
  const inDigits: string[] = [];
  for (const [index, word] of heard.entries()) {
    const othersBefore = index - lastMatched - 1;
    const reach = Math.min(played.length, at + othersBefore + GAP_WORDS_MAX + 1);
    const isLast = index === heard.length - 1;
    const mayBePiece = (isLast || index === 0) && word.length >= PIECE_CHARS_MIN;
    let found = at;
    while (found < reach && !isPlayed(word, played[found]?.word ?? "", mayBePiece)) found += 1;
    const isFound = found < reach;
    const ownWord = played[isFound ? found : to]?.word ?? "";
    saidCount = isFound ? playedWordsBy(word, ownWord) : goneOn(word, ownWord, saidCount);
    if (!isFound && saidCount === undefined) {
      unmatched.push(word);
      rowLength += isCharacter(word) ? CHARACTER_WORDS : 1;
      unmatchedInRow = Math.max(unmatchedInRow, rowLength);
      continue;
    }
    if (isFound) {
      if (count === 0) [first, firstMatched] = [found, index];
      to = found;
      isCut = isLast && isBeginning(word, ownWord);
      at = found + 1;
    }
    if (isInDigits(word) !== isInDigits(ownWord)) inDigits.push(word);
    rowLength = 0;
    lastMatched = index;
    count += 1;
  }
  return {
    count,
    from: first,
    to,
    firstMatched,
    lastMatched,
    unmatchedInRow,
    unmatched,
    inDigits,
    isCut,
  };
}

/** Sound that stood still in the middle of a word comes back with pieces of it, at the beginning or the end. */
function isPlayed(word: string, playedWord: string, mayBePiece: boolean): boolean {
  if (word === playedWord) return true;
  if (isInDigits(playedWord)) {
    if (!isInDigits(word)) return spokenDigits(word, playedWord) !== undefined;
  } else if (isInDigits(word)) return spokenDigits(playedWord, word) !== undefined;
  return mayBePiece && (playedWord.startsWith(word) || playedWord.endsWith(word));
}

function isBeginning(word: string, playedWord: string): boolean {
  return playedWord.length > word.length && playedWord.startsWith(word);
}

/** How many digits of a number of the agent's the word says; undefined where that is none. */
function playedWordsBy(word: string, playedWord: string): number | undefined {
  const isSaid = isInDigits(playedWord) && !isInDigits(word);
  return isSaid ? spokenDigits(word, playedWord) : undefined;
}

/** "Four hundred twenty seven dollars" is one number in digits; undefined where no number is being said, or not with this word. */
function goneOn(
  word: string,
  playedWord: string,
  saidCount: number | undefined,
): number | undefined {
  if (saidCount === undefined) return undefined;
  return isNumberJoint(word) ? saidCount : spokenDigits(word, playedWord, saidCount);
}

/** This share of an echo's words must be the agent's, in their order; recognizers mishear some. */
const OWN_SHARE_MIN = 0.8;
/** With this many words a different one is a mishearing; with fewer it may be the caller's correction. */
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
/** A few of the agent's words with another are no echo before they were played: only their place is estimated. */
const MISHEARD_EARLY_MAX_MS = 300;
const MISHEARD_CHARS_SHARE_MAX = 0.5;
/** So many words in a row that the agent did not say are the caller's. */
const OTHER_WORDS_MIN = 2;
/** Maximum number of compared words: the newest of the caller's, and of the played ones. */
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

/**
 * A loudspeaker brings back everything: words in front of which so much of the agent's turn did not come back are the caller's
 * sooner than an echo, as in an answer that repeats a question's end. The beginning of a first word is often lost.
 */
const SKIPPED_MIN_MS = 350;
/** On a known loudspeaker a recognizer leaves out more; behind a longer gap the words must come when this loudspeaker's echo comes. */
const SKIPPED_ON_LOUDSPEAKER_MIN_MS = 1_200;
/**
 * A caller who has to hear the words first cannot speak along so closely. Many know what a question asks for before it
 * is over.
 */
const ALONG_MAX_MS = 500;
/** Nor so many, from a sentence's first word on, a little later. */
const LONG_ALONG_MAX_MS = 400;
const LONG_ALONG_WORDS_MIN = 8;
/** The echo of a known loudspeaker takes as long as it took before, give or take this. */
const LAG_TOLERANCE_MS = 400;
const LAG_KNOWN_MIN_MS = 600;
/** Two reports of where a word ended may differ by rounding. */
const PLACE_TOLERANCE_MS = 50;

/** Behind words that are an echo these are the caller's, too. Small words are not among them, as which others are misheard. */
const STOPS = wordsOfAll("interruptions");

/** People interrupt with these; words that are only these are the caller's, whatever the agent is saying. */
const INTERRUPTIONS = wordsOfAll("interruptions", "floorWords");

/** It interrupts only as a part of "a minute"; before another word it may be of the agent's, misheard. */
const ARTICLE = "a";

/** People answer with these, which recognizers put behind the echo of a question. */
const ANSWERS = wordsOfAll("interruptions", "floorWords", "answers");

/** A caller refuses with one of these; a recognizer seldom mishears another word as one. */
const NEGATIONS = wordsOfAll("negations");

/** Whether words are the agent's own, come back through loudspeaker and microphone. What is `possible` may be an answer. */
export type Echo = "none" | "possible" | "certain";

/** What is known of the words that were heard. */
export interface EchoJudgement {
  readonly echo: Echo;
  /** Where the agent's words end that the best match stands for, and how much later they were heard; undefined without a match. */
  readonly match?: { readonly playedUntilMs: number; readonly lagMs: number };
  /** They would be an echo for certain if the agent's words in front of them had come back, too. */
  readonly lacksBeginning?: boolean;
}

/** The STT's words that contain a match. */
interface Said {
  readonly words: readonly string[];
  /** So many of them were said last. */
  readonly newestCount: number;
  /** The time within which a person could not have repeated these words. */
  readonly lagMaxMs: number;
  readonly mayGoOn: boolean;
  readonly isOnLoudspeaker: boolean;
  readonly returnedWords: ReturnedWords | undefined;
}

/** What has come back of the agent's words, in this call. */
export interface ReturnedWords {
  /** Until where on the call's clock they were played; minus infinity where none came back. */
  readonly untilMs: number;
  /** How much later they were heard, at most; undefined where none came back. */
  readonly lagMs: number | undefined;
  /** When the turn began of which the newest words are. */
  readonly turnBeganAtMs: number;
  /** The turn before that one was long enough to come back, and did not. */
  readonly isTurnBeforeSilent: boolean;
}

/** What else is known of the call. */
export interface Circumstances {
  /** The agent's sound stands still. */
  readonly isOutputPaused?: boolean;
  /** The agent's words were certainly heard a short while ago. */
  readonly isOnLoudspeaker?: boolean;
  /** The words may still change, and more of them may come. Left out: they are settled. */
  readonly mayGoOn?: boolean;
  /** The part that was said last, where words before a pause are compared with it: only to repeat these took time since. */
  readonly newestText?: string;
  /** Left out where it is not known: then words can be an echo whether or not those in front of them came back. */
  readonly returnedWords?: ReturnedWords;
}

/**
 * Compares the STT's words, which ended at `endedAtMs` on the call's clock, with what was played until now, oldest word
 * first. An echo contains nearly all played words, in order and close together, and returns sooner than a person
 * repeats them. While the agent's audio is paused, a word that breaks off in its middle is the agent's. On a
 * loudspeaker more words may have been misheard.
 */
export function echoOf(
  callerText: string,
  endedAtMs: number,
  playedWords: readonly PlayedWord[],
  circumstances: Circumstances = {},
): Echo {
  return judgeEcho(callerText, endedAtMs, playedWords, circumstances).echo;
}

/** As `echoOf`, with what it is judged by. */
export function judgeEcho(
  callerText: string,
  endedAtMs: number,
  playedWords: readonly PlayedWord[],
  circumstances: Circumstances = {},
): EchoJudgement {
  // Most of what callers say is said in silence.
  if ((playedWords.at(-1)?.endsAtMs ?? Number.NEGATIVE_INFINITY) < endedAtMs - LATE_MAX_MS) {
    return { echo: "none" };
  }
  const words = wordsOf(callerText).slice(-CALLER_WORDS_MAX);
  if (words.every((word) => INTERRUPTIONS.has(word))) return { echo: "none" };
  const {
    isOutputPaused = false,
    isOnLoudspeaker = false,
    newestText = callerText,
  } = circumstances;
  // The echo pauses with the agent's audio, and STT finalizes it for no other reason.
  const mayGoOn = isOutputPaused || circumstances.mayGoOn === true;
  const newestCount = wordsOf(newestText).length;
  const lagMaxMs = Math.max(REPEATED_MIN_MS, newestCount * REPEATED_MS_PER_WORD);
  const said: Said = {
    words,
    newestCount,
    lagMaxMs: Math.min(lagMaxMs, REPEATED_MAX_MS),
    mayGoOn,
    isOnLoudspeaker,
    returnedWords: circumstances.returnedWords,
  };
  const played = playedWords.slice(-PLAYED_WORDS_MAX);
  const newestLagMs = endedAtMs - (played.at(-1)?.endsAtMs ?? 0);
  // The next word shows whether the first was misheard or the caller's.
  const mayBeOther = words.length === 1 && !NEGATIONS.has(words[0] ?? "");
  let isPossible = isOnLoudspeaker && mayGoOn && mayBeOther && newestLagMs <= said.lagMaxMs;
  let misheard: EchoJudgement["match"];
  let isWhole = false;
  let lacking: EchoJudgement["match"];
  for (let from = 0; from < played.length; from += 1) {
    const match = matchedFrom(words, played, from);
    const lagMs = endedAtMs - placeOf(match, words, played);
    // The first of several offers may have been made a while ago.
    isWhole ||= lagMs > LATE_MAX_MS && words.length > 1 && match.count === words.length;
    if (lagMs < -EARLY_MAX_MS || lagMs > LATE_MAX_MS || !isEcho(said, match, lagMs)) continue;
    const isAll = match.count === words.length;
    if (!isAll && isCorrection(said, match, played, lagMs)) continue;
    isPossible = true;
    const place = { playedUntilMs: played[match.to]?.endsAtMs ?? 0, lagMs };
    const isCut = isAll && isOutputPaused && match.isCut;
    const isCertainly = isCut || isCertain(said, match, played, lagMs);
    const isOwn = isAll || mayBeMisheard(said, match, played, lagMs);
    if (isCertainly && isOwn && !isCut && !isInOrder(said, match, played, lagMs)) lacking ??= place;
    else if (isCertainly && isAll) return { echo: "certain", match: place };
    else if (isCertainly && isOwn) misheard ??= place;
    isWhole ||= isAll;
  }
  // What the agent said word for word is an answer sooner than other words of its that were misheard.
  if (misheard !== undefined && !isWhole) return { echo: "certain", match: misheard };
  if (lacking !== undefined) return { echo: "possible", match: lacking, lacksBeginning: true };
  return { echo: isPossible ? "possible" : "none" };
}

/** Most of the words are the agent's, said later than an echo comes, and nothing came back of what the agent said before them. */
function isCorrection(
  { returnedWords, isOnLoudspeaker }: Said,
  { from }: EchoMatch,
  played: readonly PlayedWord[],
  lagMs: number,
): boolean {
  if (returnedWords === undefined || isOnLoudspeaker || lagMs <= ALONG_MAX_MS) return false;
  const beganAtMs = played[from - 1]?.endsAtMs ?? Number.NEGATIVE_INFINITY;
  return beganAtMs - Math.max(returnedWords.untilMs, returnedWords.turnBeganAtMs) >= SKIPPED_MIN_MS;
}

/**
 * Whether the agent's words in front of the match came back, too, or so few are missing that a recognizer can have left them out;
 * and the match has not come back before, which an echo does once.
 */
function isInOrder(
  { returnedWords, isOnLoudspeaker, words }: Said,
  { from, to }: EchoMatch,
  played: readonly PlayedWord[],
  lagMs: number,
): boolean {
  if (returnedWords === undefined) return true;
  const untilMs = returnedWords.untilMs + PLACE_TOLERANCE_MS;
  if ((played[to]?.endsAtMs ?? 0) <= untilMs) return false;
  const { lagMs: knownLagMs = LAG_KNOWN_MIN_MS } = returnedWords;
  const lagMaxMs = Math.max(LAG_KNOWN_MIN_MS, knownLagMs + LAG_TOLERANCE_MS);
  if (isOnLoudspeaker && lagMs > lagMaxMs) return false;
  const skipped = played.slice(0, from).filter(({ endsAtMs }) => endsAtMs > untilMs);
  const skippedUntilMs = skipped.at(-1)?.endsAtMs ?? Number.NEGATIVE_INFINITY;
  const skippedMs = skippedUntilMs - Math.max(returnedWords.untilMs, returnedWords.turnBeganAtMs);
  if (isOnLoudspeaker) {
    return skippedMs < SKIPPED_ON_LOUDSPEAKER_MIN_MS || lagMs <= LAG_KNOWN_MIN_MS;
  }
  const isLong = words.length >= LONG_ALONG_WORDS_MIN && played[from]?.beginsSentence === true;
  if (isLong && lagMs <= LONG_ALONG_MAX_MS) return true;
  if (lagMs <= ALONG_MAX_MS && played[to]?.isQuestion !== true) return true;
  return skippedMs < SKIPPED_MIN_MS && !returnedWords.isTurnBeforeSilent;
}

/** When the agent said the last of the words; a misheard word stands for one of its own. */
function placeOf(
  { to, lastMatched }: EchoMatch,
  { length }: readonly string[],
  played: readonly PlayedWord[],
): number {
  return played[Math.min(to + length - 1 - lastMatched, played.length - 1)]?.endsAtMs ?? 0;
}

function isEcho(
  said: Said,
  { count, unmatchedInRow, unmatched }: EchoMatch,
  lagMs: number,
): boolean {
  const { words, lagMaxMs, mayGoOn, isOnLoudspeaker } = said;
  if (count === 0 || unmatched.some((word) => STOPS.has(word))) return false;
  if (isOnLoudspeaker && unmatchedInRow >= OTHER_WORDS_MIN) return false;
  // "No thanks": that the agent has said "no" somewhere does not make it the agent's.
  const isOther = (word: string): boolean =>
    unmatched.includes(word) || (INTERRUPTIONS.has(word) && word !== ARTICLE);
  if (unmatched.length > 0 && words.every(isOther)) return false;
  if (count >= words.length * OWN_SHARE_MIN) return true;
  if (!isOnLoudspeaker || lagMs > lagMaxMs) return false;
  const isLongEnough = mayGoOn || words.length >= LOUDSPEAKER_CERTAIN_WORDS_MIN;
  return isLongEnough && count >= words.length * LOUDSPEAKER_SHARE_MIN;
}

/** Whether the words that the agent did not say may be its own all the same. */
function mayBeMisheard(
  { words, newestCount, isOnLoudspeaker }: Said,
  { count, to, firstMatched, lastMatched, unmatched, inDigits }: EchoMatch,
  played: readonly PlayedWord[],
  lagMs: number,
): boolean {
  const { length } = words;
  const othersAtEnd = length - 1 - lastMatched;
  // Behind all that was played there is nothing that they could stand for: an answer follows the echo of its question.
  if (to + othersAtEnd >= played.length) return false;
  if (othersAtEnd > 0 && ANSWERS.has(words.at(-1) ?? "")) return false;
  // Words on either side of a pause are an echo by their own.
  const olderCount = Math.max(0, length - newestCount);
  if (lastMatched < olderCount || (olderCount > 0 && firstMatched >= olderCount)) return false;
  if (length >= MISHEARD_WORDS_MIN && count >= length * MISHEARD_SHARE_MIN) return true;
  if (!isOnLoudspeaker || length < LOUDSPEAKER_CERTAIN_WORDS_MIN) return false;
  // Small words are in everything that people say, and so are words of numbers.
  const suspectedEchoChars = charsOf(unmatched) + charsOf(inDigits);
  const isMostlyOther = suspectedEchoChars > charsOf(words) * MISHEARD_CHARS_SHARE_MAX;
  if (isMostlyOther || lagMs < -MISHEARD_EARLY_MAX_MS) return false;
  return count >= length * LOUDSPEAKER_CERTAIN_SHARE_MIN;
}

const charsOf = (words: readonly string[]): number => words.join("").length;

function isCertain(
  { words: { length }, lagMaxMs, isOnLoudspeaker }: Said,
  { count, from, to }: EchoMatch,
  played: readonly PlayedWord[],
  lagMs: number,
): boolean {
  const endsSentence = played[to]?.endsSentence === true;
  if (endsSentence && count >= AT_THE_END_WORDS_MIN) {
    if (lagMs >= -AT_THE_END_EARLY_MS && lagMs <= AT_THE_END_LATE_MS) return true;
  }
  if (lagMs > lagMaxMs) return false;
  const isManyOnLoudspeaker = isOnLoudspeaker && length >= LOUDSPEAKER_CERTAIN_WORDS_MIN;
  if (length >= CERTAIN_WORDS_MIN || isManyOnLoudspeaker) return true;
  const beginsSentence = played[from]?.beginsSentence === true;
  if (beginsSentence && endsSentence) return length >= WHOLE_SENTENCE_WORDS_MIN;
  return beginsSentence && length >= FROM_START_WORDS_MIN;
}

/** What was played longer ago does not come back any more. */
const ECHO_MAX_MS = 20_000;
/** Where playing stood still is known a little less exactly than where it began. */
const CUT_TOLERANCE_MS = 500;
/** Fewer of the agent's words may be an answer. */
const LOUDSPEAKER_WORDS_MIN = 5;
/** Every reply is heard again; after some without, the caller has taken up the receiver. */
const LOUDSPEAKER_KNOWN_MS = 60_000;

/** On a loudspeaker some words of a turn of this length come back. */
const TURN_COMES_BACK_MIN_MS = 1_000;
/** An echo seldom takes longer, and a caller who repeats words seldom takes less. */
const SUSPECTED_LAG_MAX_MS = 600;

/** A turn has ended that was heard until `untilMs`. */
export function spokenBeforeAfter(
  before: SpokenBefore,
  ledger: PlaybackLedger,
  untilMs: number,
): SpokenBefore {
  return { ledger, untilMs, turnBeforeAtMs: longTurnAtMs(before) };
}

/** When the turn that was heard last began; where it was too short to come back for certain, the one before it. */
function longTurnAtMs({ ledger, untilMs, turnBeforeAtMs }: SpokenBefore): number | undefined {
  const heardMs = Math.min(untilMs, ledger.endsAtMs) - beganAtMs(ledger);
  return heardMs >= TURN_COMES_BACK_MIN_MS ? beganAtMs(ledger) : turnBeforeAtMs;
}

const beganAtMs = (ledger: PlaybackLedger): number => ledger.sent[0]?.startsAtMs ?? 0;

/**
 * Whether words that end in the newest are the agent's own, of the turn that plays or of the one before. `mayGoOn`: they are
 * a guess.
 */
export function agentEcho(
  state: ConversationState,
  text: string,
  circumstances: Pick<Circumstances, "newestText" | "mayGoOn"> = {},
): Echo {
  return judgeOwn(state, text, circumstances).echo;
}

function judgeOwn(
  state: ConversationState,
  text: string,
  { newestText = text, mayGoOn = false }: Pick<Circumstances, "newestText" | "mayGoOn"> = {},
): EchoJudgement {
  const turn = turnOf(state);
  const { spokenBefore, returned, loudspeakerAtMs } = state.echo;
  const { endedAtMs } = state.user;
  const { outputPausedAtMs } = state;
  const before = playedWords(spokenBefore.ledger, spokenBefore.untilMs, endedAtMs);
  const untilMs = outputPausedAtMs ?? Number.POSITIVE_INFINITY;
  const now = turn === undefined ? [] : playedWords(turn.ledger, untilMs, endedAtMs);
  const isOutputPaused = outputPausedAtMs !== undefined;
  const isOnLoudspeaker = endedAtMs - loudspeakerAtMs <= LOUDSPEAKER_KNOWN_MS;
  const isNow = turn !== undefined && now.length > 0;
  const turnBeganAtMs = beganAtMs(isNow ? turn.ledger : spokenBefore.ledger);
  const turnBeforeAtMs = isNow ? longTurnAtMs(spokenBefore) : spokenBefore.turnBeforeAtMs;
  // The next turn's echo is the second in a row.
  const { suspectedUntilMs } = returned;
  const suspectedMs =
    suspectedUntilMs <= turnBeganAtMs ? suspectedUntilMs : Number.NEGATIVE_INFINITY;
  const returnedUntilMs = Math.max(returned.untilMs, suspectedMs);
  const returnedWords = {
    untilMs: returnedUntilMs,
    lagMs: returned.lagMs,
    turnBeganAtMs,
    isTurnBeforeSilent: turnBeforeAtMs !== undefined && returnedUntilMs < turnBeforeAtMs,
  };
  return judgeEcho(text, endedAtMs, [...before, ...now], {
    isOutputPaused,
    isOnLoudspeaker,
    newestText,
    mayGoOn,
    returnedWords,
  });
}

/**
 * As `ownEcho`, of words behind those that wait because they may be an echo; and which of these wait on. Together they may be one
 * for certain that are none alone.
 */
export function echoBehindSuspectedEcho(
  state: ConversationState,
  text: string,
): {
  readonly echo: Echo;
  readonly suspectedEcho: SuspectedEcho | undefined;
  readonly returned: ReturnedEcho;
} {
  const { suspected: suspectedEcho, returned } = state.echo;
  if (suspectedEcho !== undefined) {
    const judged = judgeOwn(state, joinWords(suspectedEcho.text, text), { newestText: text });
    if (judged.echo === "certain") {
      return { echo: "certain", suspectedEcho: undefined, returned: noted(returned, judged) };
    }
  }
  const judged = judgeOwn(state, text);
  return { echo: judged.echo, suspectedEcho, returned: noted(returned, judged) };
}

function noted(before: ReturnedEcho, { echo, match, lacksBeginning }: EchoJudgement): ReturnedEcho {
  if (match === undefined) return before;
  const { playedUntilMs, lagMs } = match;
  if (echo === "certain") {
    return {
      ...before,
      untilMs: Math.max(before.untilMs, playedUntilMs),
      lagMs: Math.max(before.lagMs ?? lagMs, lagMs),
    };
  }
  if (lacksBeginning !== true || lagMs > SUSPECTED_LAG_MAX_MS) return before;
  return { ...before, suspectedUntilMs: playedUntilMs };
}

/** So many words were certainly an echo. */
export function noteEcho(state: ConversationState, words: number, atMs: number): void {
  if (words >= LOUDSPEAKER_WORDS_MIN) state.echo.loudspeakerAtMs = atMs;
}

/** The words of a ledger that were played until `untilMs`, those left out that are too old to be heard at `atMs`. */
function playedWords(ledger: PlaybackLedger, untilMs: number, atMs: number): readonly PlayedWord[] {
  const words: PlayedWord[] = [];
  for (const [index, sentence] of ledger.sent.entries()) {
    if (sentence.startsAtMs + sentence.expectedMs < atMs - ECHO_MAX_MS) continue;
    if (sentence.startsAtMs > untilMs) break;
    const endsInQuestion =
      isQuestion(sentence.text) || isQuestion(ledger.sent[index + 1]?.text ?? "");
    for (const word of wordsOfSentence(sentence)) {
      if (word.endsAtMs > untilMs + CUT_TOLERANCE_MS) continue;
      words.push(endsInQuestion ? { ...word, isQuestion: true } : word);
    }
  }
  return words;
}

/** A sentence's words are asked for with every guess at what the caller says; a sentence that has changed is another object. */
const wordsBySentence = new WeakMap<SentSentence, readonly PlayedWord[]>();

function wordsOfSentence(sentence: SentSentence): readonly PlayedWord[] {
  const known = wordsBySentence.get(sentence);
  if (known !== undefined) return known;
  const words = playedWordsOf(sentence);
  wordsBySentence.set(sentence, words);
  return words;
}

/** Where its voice tells its words, and between those as if every character took as long as every other. */
function playedWordsOf(sentence: SentSentence): readonly PlayedWord[] {
  const { text, startsAtMs, expectedMs, marks = [] } = sentence;
  const words = spokenWords(text);
  return words.map(({ word, end }, index) => {
    const isLast = index === words.length - 1;
    const saidMs = isLast ? expectedMs : spokenAfterMs(text, marks, end, expectedMs);
    return {
      word,
      endsAtMs: startsAtMs + saidMs,
      beginsSentence: index === 0,
      endsSentence: isLast,
    };
  });
}
