import { type Circumstances, type Echo, echoOf } from "../../speech/echo-guard.js";
import type { PlayedWord } from "../../speech/echo-match.js";
import { spokenWords } from "../../speech/spoken-words.js";
import { saidAfterMs } from "../../speech/word-marks.js";
import { joinWords } from "../kept-conversation.js";
import {
  EMPTY_LEDGER,
  type PlaybackLedger,
  type SentSentence,
} from "../playback/playback-ledger.js";
import type { SessionState } from "../state.js";

/** What was played longer ago does not come back any more. */
const ECHO_MAX_MS = 20_000;
/** Where playing stood still is known a little less exactly than where it began. */
const CUT_TOLERANCE_MS = 500;
/** Fewer of the agent's words may be an answer. */
const LOUDSPEAKER_WORDS_MIN = 5;
/** Every reply is heard again; after some without, the caller has taken up the receiver. */
const LOUDSPEAKER_KNOWN_MS = 60_000;

/** What a turn that is over has played, and until when. */
export interface SpokenBefore {
  readonly ledger: PlaybackLedger;
  readonly untilMs: number;
}

/** Words that may be an echo, from the moment on that the first of them began. */
export interface DoubtfulWords {
  readonly text: string;
  readonly beganAtMs: number;
}

export const NOTHING_SPOKEN: SpokenBefore = { ledger: EMPTY_LEDGER, untilMs: 0 };

/**
 * Whether words that end in the newest are the agent's own, of the turn that plays or of the one before. `mayGoOn`: they are
 * a guess.
 */
export function ownEcho(
  state: SessionState,
  text: string,
  { newestText = text, mayGoOn = false }: Pick<Circumstances, "newestText" | "mayGoOn"> = {},
): Echo {
  const { turn, spokenBefore, callerEndedAtMs, heldAtMs } = state;
  const before = playedWords(spokenBefore.ledger, spokenBefore.untilMs, callerEndedAtMs);
  const untilMs = heldAtMs ?? Number.POSITIVE_INFINITY;
  const now = turn === undefined ? [] : playedWords(turn.ledger, untilMs, callerEndedAtMs);
  const standsStill = heldAtMs !== undefined;
  const isOnLoudspeaker = callerEndedAtMs - state.echoedAtMs <= LOUDSPEAKER_KNOWN_MS;
  const circumstances = { standsStill, isOnLoudspeaker, newestText, mayGoOn };
  return echoOf(text, callerEndedAtMs, [...before, ...now], circumstances);
}

/**
 * As `ownEcho`, of words behind those that wait because they may be an echo; and which of these wait on. Together they may be one
 * for certain that are none alone.
 */
export function echoBehindDoubtful(
  state: SessionState,
  text: string,
): { readonly echo: Echo; readonly doubtful: DoubtfulWords | undefined } {
  const { doubtful } = state;
  if (doubtful !== undefined) {
    const echo = ownEcho(state, joinWords(doubtful.text, text), { newestText: text });
    if (echo === "certain") return { echo, doubtful: undefined };
  }
  return { echo: ownEcho(state, text), doubtful };
}

/** So many words were certainly an echo. */
export function noteEcho(state: SessionState, words: number, atMs: number): SessionState {
  return words < LOUDSPEAKER_WORDS_MIN ? state : { ...state, echoedAtMs: atMs };
}

/** The words of a ledger that were played until `untilMs`, those left out that are too old to be heard at `atMs`. */
function playedWords(ledger: PlaybackLedger, untilMs: number, atMs: number): readonly PlayedWord[] {
  const words: PlayedWord[] = [];
  for (const sentence of ledger.sent) {
    if (sentence.startsAtMs + sentence.expectedMs < atMs - ECHO_MAX_MS) continue;
    if (sentence.startsAtMs > untilMs) break;
    for (const word of wordsOfSentence(sentence)) {
      if (word.endsAtMs <= untilMs + CUT_TOLERANCE_MS) words.push(word);
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
    const saidMs = isLast ? expectedMs : saidAfterMs(text, marks, end, expectedMs);
    return {
      word,
      endsAtMs: startsAtMs + saidMs,
      beginsSentence: index === 0,
      endsSentence: isLast,
    };
  });
}
