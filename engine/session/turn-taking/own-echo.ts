import {
  type Circumstances,
  type Echo,
  type EchoJudgement,
  judgeEcho,
} from "../../speech/echo-guard.js";
import type { PlayedWord } from "../../speech/echo-match.js";
import { isQuestion } from "../../speech/question.js";
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

/** On a loudspeaker some words of a turn of this length come back. */
const TURN_COMES_BACK_MIN_MS = 1_000;
/** An echo seldom takes longer, and a caller who repeats words seldom takes less. */
const SUSPECTED_LAG_MAX_MS = 600;

/** What a turn that is over has played, and until when. */
export interface SpokenBefore {
  readonly ledger: PlaybackLedger;
  readonly untilMs: number;
  /** When the turn before it began of which enough was heard to come back from a loudspeaker. */
  readonly turnBeforeAtMs: number | undefined;
}

/** Words that may be an echo, from the moment on that the first of them began. */
export interface DoubtfulWords {
  readonly text: string;
  readonly beganAtMs: number;
}

/** Which of the agent's words came back, on the call's clock. */
export interface EchoHeard {
  /** The last of those that were certainly an echo was played until then. */
  readonly untilMs: number;
  /** How much later they were heard, at most; undefined before the first. */
  readonly lagMs: number | undefined;
  /** Words that came as closely as an echo, but were answered because nothing had come back in front of them. */
  readonly suspectedUntilMs: number;
}

export const NO_ECHO_HEARD: EchoHeard = {
  untilMs: Number.NEGATIVE_INFINITY,
  lagMs: undefined,
  suspectedUntilMs: Number.NEGATIVE_INFINITY,
};

export const NOTHING_SPOKEN: SpokenBefore = {
  ledger: EMPTY_LEDGER,
  untilMs: 0,
  turnBeforeAtMs: undefined,
};

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
export function ownEcho(
  state: SessionState,
  text: string,
  circumstances: Pick<Circumstances, "newestText" | "mayGoOn"> = {},
): Echo {
  return judgeOwn(state, text, circumstances).echo;
}

function judgeOwn(
  state: SessionState,
  text: string,
  { newestText = text, mayGoOn = false }: Pick<Circumstances, "newestText" | "mayGoOn"> = {},
): EchoJudgement {
  const { turn, spokenBefore, callerEndedAtMs, heldAtMs, echoHeard } = state;
  const before = playedWords(spokenBefore.ledger, spokenBefore.untilMs, callerEndedAtMs);
  const untilMs = heldAtMs ?? Number.POSITIVE_INFINITY;
  const now = turn === undefined ? [] : playedWords(turn.ledger, untilMs, callerEndedAtMs);
  const standsStill = heldAtMs !== undefined;
  const isOnLoudspeaker = callerEndedAtMs - state.echoedAtMs <= LOUDSPEAKER_KNOWN_MS;
  const isNow = turn !== undefined && now.length > 0;
  const turnBeganAtMs = beganAtMs(isNow ? turn.ledger : spokenBefore.ledger);
  const turnBeforeAtMs = isNow ? longTurnAtMs(spokenBefore) : spokenBefore.turnBeforeAtMs;
  // The next turn's echo is the second in a row.
  const { suspectedUntilMs } = echoHeard;
  const suspectedMs =
    suspectedUntilMs <= turnBeganAtMs ? suspectedUntilMs : Number.NEGATIVE_INFINITY;
  const cameBackUntilMs = Math.max(echoHeard.untilMs, suspectedMs);
  const cameBack = {
    untilMs: cameBackUntilMs,
    lagMs: echoHeard.lagMs,
    turnBeganAtMs,
    isTurnBeforeSilent: turnBeforeAtMs !== undefined && cameBackUntilMs < turnBeforeAtMs,
  };
  return judgeEcho(text, callerEndedAtMs, [...before, ...now], {
    standsStill,
    isOnLoudspeaker,
    newestText,
    mayGoOn,
    cameBack,
  });
}

/**
 * As `ownEcho`, of words behind those that wait because they may be an echo; and which of these wait on. Together they may be one
 * for certain that are none alone.
 */
export function echoBehindDoubtful(
  state: SessionState,
  text: string,
): {
  readonly echo: Echo;
  readonly doubtful: DoubtfulWords | undefined;
  readonly echoHeard: EchoHeard;
} {
  const { doubtful, echoHeard } = state;
  if (doubtful !== undefined) {
    const judged = judgeOwn(state, joinWords(doubtful.text, text), { newestText: text });
    if (judged.echo === "certain") {
      return { echo: "certain", doubtful: undefined, echoHeard: noted(echoHeard, judged) };
    }
  }
  const judged = judgeOwn(state, text);
  return { echo: judged.echo, doubtful, echoHeard: noted(echoHeard, judged) };
}

function noted(heard: EchoHeard, { echo, match, lacksBeginning }: EchoJudgement): EchoHeard {
  if (match === undefined) return heard;
  const { playedUntilMs, lagMs } = match;
  if (echo === "certain") {
    return {
      ...heard,
      untilMs: Math.max(heard.untilMs, playedUntilMs),
      lagMs: Math.max(heard.lagMs ?? lagMs, lagMs),
    };
  }
  if (lacksBeginning !== true || lagMs > SUSPECTED_LAG_MAX_MS) return heard;
  return { ...heard, suspectedUntilMs: playedUntilMs };
}

/** So many words were certainly an echo. */
export function noteEcho(state: SessionState, words: number, atMs: number): SessionState {
  return words < LOUDSPEAKER_WORDS_MIN ? state : { ...state, echoedAtMs: atMs };
}

/** The words of a ledger that were played until `untilMs`, those left out that are too old to be heard at `atMs`. */
function playedWords(ledger: PlaybackLedger, untilMs: number, atMs: number): readonly PlayedWord[] {
  const words: PlayedWord[] = [];
  for (const [index, sentence] of ledger.sent.entries()) {
    if (sentence.startsAtMs + sentence.expectedMs < atMs - ECHO_MAX_MS) continue;
    if (sentence.startsAtMs > untilMs) break;
    const isAsked = isQuestion(sentence.text) || isQuestion(ledger.sent[index + 1]?.text ?? "");
    for (const word of wordsOfSentence(sentence)) {
      if (word.endsAtMs > untilMs + CUT_TOLERANCE_MS) continue;
      words.push(isAsked ? { ...word, isAsked } : word);
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
