/** Distinguishes the agent's own words, which return through a loudspeaker, from the caller's. */

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

/** The maximum number of the agent's words between two returned ones that STT may have missed. */
const GAP_WORDS_MAX = 2;
/** A Chinese or Japanese character counts as this many words: most of their words have two. */
const CHARACTER_WORDS = 0.5;
/** A shorter fragment could be part of any word. */
const PIECE_CHARS_MIN = 2;

/** A word that the caller may have heard from the agent, and when it ended, on the call's clock. */
export interface PlayedWord {
  readonly word: string;
  readonly endsAtMs: number;
  readonly beginsSentence: boolean;
  readonly endsSentence: boolean;
  /** The word is in a question or just before one, like words that are read back to the caller. */
  readonly isQuestion?: true;
}

/** Which of the transcript's words match the agent's, in order. */
export interface EchoMatch {
  readonly count: number;
  /** The positions of the first and the last match among the agent's words. */
  readonly from: number;
  readonly to: number;
  /** The positions of the first and the last match in the transcript. */
  readonly firstMatched: number;
  readonly lastMatched: number;
  /** The maximum number of consecutive unmatched words; a Chinese or Japanese character counts as half a word. */
  readonly unmatchedInRow: number;
  /**
   * The transcript's words that are not the agent's, and those that match only as words for a number in digits, or
   * vice versa.
   */
  readonly unmatched: readonly string[];
  readonly inDigits: readonly string[];
  /** The last matched word is only the beginning of the agent's word. */
  readonly isCut: boolean;
}

/** How many of the transcript's words match in order from this position, with small gaps. */
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
  /** The number of digits already said of the agent's number that the words belong to. */
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

/** Audio that paused in the middle of a word returns with a fragment of it, its beginning or its end. */
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

/** How many digits of the agent's number the word says; undefined if it is not a number. */
function playedWordsBy(word: string, playedWord: string): number | undefined {
  const isSaid = isInDigits(playedWord) && !isInDigits(word);
  return isSaid ? spokenDigits(word, playedWord) : undefined;
}

/**
 * "Four hundred twenty seven dollars" is one number in digits; undefined if no number is being said, or the word
 * is not part of it.
 */
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
/** From this many words on, a different word counts as misheard; with fewer it may be the caller's correction. */
const MISHEARD_WORDS_MIN = 8;
const MISHEARD_SHARE_MIN = 0.85;
/** This many of the agent's words in a row are an echo, wherever they stand; fewer may be an answer. */
const CERTAIN_WORDS_MIN = 5;
/** From this many words on, the beginning of a sentence or a whole one is an echo: people do not answer so. */
const FROM_START_WORDS_MIN = 4;
const WHOLE_SENTENCE_WORDS_MIN = 3;
/**
 * On a known loudspeaker, words that return immediately and are half the agent's are more likely misheard than
 * spoken along.
 */
const LOUDSPEAKER_SHARE_MIN = 0.5;
const LOUDSPEAKER_CERTAIN_SHARE_MIN = 0.6;
const LOUDSPEAKER_CERTAIN_WORDS_MIN = 3;
/**
 * A few of the agent's words with a different one among them are no echo if they ended before they were played:
 * the positions are estimates.
 */
const MISHEARD_EARLY_MAX_MS = 300;
const MISHEARD_CHARS_SHARE_MAX = 0.5;
/** This many consecutive words that the agent did not say are the caller's. */
const OTHER_WORDS_MIN = 2;
/** Maximum number of compared words: the newest of the caller's, and of the played ones. */
const CALLER_WORDS_MAX = 40;
const PLAYED_WORDS_MAX = 120;

/** How much earlier than estimated a word may have been played: a sentence's words are not spoken evenly. */
const EARLY_MAX_MS = 1_500;
/** Loudspeaker, room, network and jitter buffers, plus how much later than estimated a word may have been played. */
const LATE_MAX_MS = 2_500;
/** A caller who repeats words has to hear and say them first; an echo returns sooner. */
const REPEATED_MS_PER_WORD = 200;
const REPEATED_MIN_MS = 600;
const REPEATED_MAX_MS = 1_500;
/**
 * The end of a sentence is known, not estimated: a caller whose words end with it spoke at the same time as the
 * agent.
 */
const AT_THE_END_EARLY_MS = 100;
const AT_THE_END_LATE_MS = 400;
const AT_THE_END_WORDS_MIN = 2;

/**
 * A loudspeaker returns everything. If this much of the agent's turn before the words did not return, the words
 * are more likely the caller's, as in an answer that repeats the end of a question. The beginning of a first word
 * is often lost.
 */
const SKIPPED_MIN_MS = 350;
/** On a known loudspeaker STT skips more; after a longer gap the words must arrive with this loudspeaker's delay. */
const SKIPPED_ON_LOUDSPEAKER_MIN_MS = 1_200;
/**
 * A caller cannot speak along this closely, because the words have to be heard first. Many know what a question
 * asks before it ends.
 */
const ALONG_MAX_MS = 500;
/** A caller cannot speak along with this many words from a sentence's first word on, even a little later. */
const LONG_ALONG_MAX_MS = 400;
const LONG_ALONG_WORDS_MIN = 8;
/** The tolerance for the delay of a known loudspeaker's echo. */
const LAG_TOLERANCE_MS = 400;
const LAG_KNOWN_MIN_MS = 600;
/** Two reports of the end of a word may differ by rounding. */
const PLACE_TOLERANCE_MS = 50;

/** Words that are the caller's even after an echo. Small words are not included, since others are misheard as them. */
const STOPS = wordsOfAll("interruptions");

/** Interruptions: an utterance of only these words is the caller's, whatever the agent is saying. */
const INTERRUPTIONS = wordsOfAll("interruptions", "floorWords");

/** "A" interrupts only in "a minute"; before another word it may be a misheard word of the agent's. */
const ARTICLE = "a";

/** Answers that STT appends to the echo of a question. */
const ANSWERS = wordsOfAll("interruptions", "floorWords", "answers");

/** Words that refuse; STT seldom mishears another word as one of them. */
const NEGATIONS = wordsOfAll("negations");

/**
 * Whether words are the agent's own, returned through loudspeaker and microphone. `possible`: they may also be an
 * answer.
 */
export type Echo = "none" | "possible" | "certain";

/** What is known about the transcript's words. */
export interface EchoJudgement {
  readonly echo: Echo;
  /** Where the agent's words of the best match end, and how much later they were heard; undefined without a match. */
  readonly match?: { readonly playedUntilMs: number; readonly lagMs: number };
  /** The words would certainly be an echo if the agent's words before them had returned too. */
  readonly lacksBeginning?: boolean;
}

/** The STT's words that contain a match. */
interface Said {
  readonly words: readonly string[];
  /** The number of words that were said last. */
  readonly newestCount: number;
  /** The time within which a person could not have repeated these words. */
  readonly lagMaxMs: number;
  readonly mayGoOn: boolean;
  readonly isOnLoudspeaker: boolean;
  readonly returnedWords: ReturnedWords | undefined;
}

/** Which of the agent's words have returned in this call. */
export interface ReturnedWords {
  /** The position on the call's clock until which they were played; minus infinity if none returned. */
  readonly untilMs: number;
  /** The maximum delay with which they were heard; undefined if none returned. */
  readonly lagMs: number | undefined;
  /** When the turn of the newest returned words began. */
  readonly turnBeganAtMs: number;
  /** The turn before that one was long enough to return, and did not. */
  readonly isTurnBeforeSilent: boolean;
}

/** Other facts about the call. */
export interface Circumstances {
  /** The agent's audio is paused. */
  readonly isOutputPaused?: boolean;
  /** The agent's words were certainly heard a short time ago. */
  readonly isOnLoudspeaker?: boolean;
  /** The words are interim, and more may follow. Omitted: they are final. */
  readonly mayGoOn?: boolean;
  /**
   * The part that was said last, if words before a pause are compared with it: only the time for repeating this
   * part counts.
   */
  readonly newestText?: string;
  /** Omitted if unknown: then words can be an echo whether or not those before them returned. */
  readonly returnedWords?: ReturnedWords;
}

/**
 * Compares the STT's words, which ended at `endedAtMs` on the call's clock, with what was played until now, oldest
 * word first. An echo contains nearly all played words, in order and close together, and returns sooner than a
 * person repeats them. While the agent's audio is paused, a word that breaks off in its middle is the agent's. On
 * a loudspeaker more words may have been misheard.
 */
export function echoOf(
  callerText: string,
  endedAtMs: number,
  playedWords: readonly PlayedWord[],
  circumstances: Circumstances = {},
): Echo {
  return judgeEcho(callerText, endedAtMs, playedWords, circumstances).echo;
}

/** As `echoOf`, with the facts behind the judgement. */
export function judgeEcho(
  callerText: string,
  endedAtMs: number,
  playedWords: readonly PlayedWord[],
  circumstances: Circumstances = {},
): EchoJudgement {
  // Callers say most of their words while the agent is silent.
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
  // The next word shows whether the first was misheard or is the caller's.
  const mayBeOther = words.length === 1 && !NEGATIONS.has(words[0] ?? "");
  let isPossible = isOnLoudspeaker && mayGoOn && mayBeOther && newestLagMs <= said.lagMaxMs;
  let misheard: EchoJudgement["match"];
  let isWhole = false;
  let lacking: EchoJudgement["match"];
  for (let from = 0; from < played.length; from += 1) {
    const match = matchedFrom(words, played, from);
    const lagMs = endedAtMs - placeOf(match, words, played);
    // The first of several offers may have been made some time ago.
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
  // Words that repeat the agent's exactly are more likely an answer than misheard words of the agent's.
  if (misheard !== undefined && !isWhole) return { echo: "certain", match: misheard };
  if (lacking !== undefined) return { echo: "possible", match: lacking, lacksBeginning: true };
  return { echo: isPossible ? "possible" : "none" };
}

/**
 * Most of the words are the agent's, but were said later than an echo arrives, and nothing of the agent's words
 * before them returned.
 */
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
 * Whether the agent's words before the match returned too, or so few are missing that STT can have skipped them;
 * and the match has not returned before, since an echo returns once.
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

/** When the agent said the last of the words; a misheard word stands for one of the agent's. */
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
  // "No thanks": a "no" elsewhere in the agent's words does not make it the agent's.
  const isOther = (word: string): boolean =>
    unmatched.includes(word) || (INTERRUPTIONS.has(word) && word !== ARTICLE);
  if (unmatched.length > 0 && words.every(isOther)) return false;
  if (count >= words.length * OWN_SHARE_MIN) return true;
  if (!isOnLoudspeaker || lagMs > lagMaxMs) return false;
  const isLongEnough = mayGoOn || words.length >= LOUDSPEAKER_CERTAIN_WORDS_MIN;
  return isLongEnough && count >= words.length * LOUDSPEAKER_SHARE_MIN;
}

/** Whether the words that the agent did not say may be misheard words of the agent's. */
function mayBeMisheard(
  { words, newestCount, isOnLoudspeaker }: Said,
  { count, to, firstMatched, lastMatched, unmatched, inDigits }: EchoMatch,
  played: readonly PlayedWord[],
  lagMs: number,
): boolean {
  const { length } = words;
  const othersAtEnd = length - 1 - lastMatched;
  // After the last played word nothing is left that they could stand for: an answer follows the
  // echo of its question.
  if (to + othersAtEnd >= played.length) return false;
  if (othersAtEnd > 0 && ANSWERS.has(words.at(-1) ?? "")) return false;
  // Each side of a pause must be an echo by itself.
  const olderCount = Math.max(0, length - newestCount);
  if (lastMatched < olderCount || (olderCount > 0 && firstMatched >= olderCount)) return false;
  if (length >= MISHEARD_WORDS_MIN && count >= length * MISHEARD_SHARE_MIN) return true;
  if (!isOnLoudspeaker || length < LOUDSPEAKER_CERTAIN_WORDS_MIN) return false;
  // Small words occur in everything that people say, and so do number words.
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

/** Words that were played longer ago do not return any more. */
const ECHO_MAX_MS = 20_000;
/** The position where playback paused is known a little less exactly than its start. */
const CUT_TOLERANCE_MS = 500;
/** Fewer of the agent's words may be an answer. */
const LOUDSPEAKER_WORDS_MIN = 5;
/** On a loudspeaker every reply returns; after this long without an echo, the caller has picked up the receiver. */
const LOUDSPEAKER_KNOWN_MS = 60_000;

/** On a loudspeaker some words of a turn of this length return. */
const TURN_COMES_BACK_MIN_MS = 1_000;
/** An echo seldom takes longer, and a caller who repeats words seldom takes less. */
const SUSPECTED_LAG_MAX_MS = 600;

/** A turn that was heard until `untilMs` has ended. */
export function spokenBeforeAfter(
  before: SpokenBefore,
  ledger: PlaybackLedger,
  untilMs: number,
): SpokenBefore {
  return { ledger, untilMs, turnBeforeAtMs: longTurnAtMs(before) };
}

/** When the last played turn began; if it was too short to return reliably, the one before it. */
function longTurnAtMs({ ledger, untilMs, turnBeforeAtMs }: SpokenBefore): number | undefined {
  const heardMs = Math.min(untilMs, ledger.endsAtMs) - beganAtMs(ledger);
  return heardMs >= TURN_COMES_BACK_MIN_MS ? beganAtMs(ledger) : turnBeforeAtMs;
}

const beganAtMs = (ledger: PlaybackLedger): number => ledger.sent[0]?.startsAtMs ?? 0;

/**
 * Whether words that end in the newest are the agent's own, of the current turn or the one before. `mayGoOn`: the
 * words are interim.
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
 * As `agentEcho`, for words that follow a suspected echo; also returns which of the suspected words keep waiting.
 * Together they may be a certain echo where each part alone is not.
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

/** This many words were certainly an echo. */
export function noteEcho(state: ConversationState, words: number, atMs: number): void {
  if (words >= LOUDSPEAKER_WORDS_MIN) state.echo.loudspeakerAtMs = atMs;
}

/** The words of a ledger that were played until `untilMs`, without those that are too old to be heard at `atMs`. */
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

/** Every interim result needs a sentence's words; a sentence that has changed is another object. */
const wordsBySentence = new WeakMap<SentSentence, readonly PlayedWord[]>();

function wordsOfSentence(sentence: SentSentence): readonly PlayedWord[] {
  const known = wordsBySentence.get(sentence);
  if (known !== undefined) return known;
  const words = playedWordsOf(sentence);
  wordsBySentence.set(sentence, words);
  return words;
}

/** The words with the times that TTS reported; between those, every character takes equally long. */
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
