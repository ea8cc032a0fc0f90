import {
  EMPTY_SPLITTER,
  EMPTY_STREAMED_SPLITTER,
  type SplitterState,
} from "../speech/sentence-splitter.js";
import type { WordMark } from "../speech/word-marks.js";
import type { ChatMessage, ToolCall } from "../vendors/contracts.js";
import {
  type TurnKind,
  type TurnOutcome,
  type TurnReport,
  WAIT_PARTS,
  type WaitPart,
} from "./effects.js";
import type { Ending } from "./ending.js";
import { EMPTY_LEDGER, type PlaybackLedger } from "./playback/playback-ledger.js";

/** How a reply is cut for a line that plays its audio as it comes, or for one that is sent whole pieces. */
export function splitterFor({ isStreamed }: { readonly isStreamed: boolean }): SplitterState {
  return isStreamed ? EMPTY_STREAMED_SPLITTER : EMPTY_SPLITTER;
}

/** Numbers from here on are words that say that the agent is at work. */
export const WAITING_SLOT_FIRST = 1_000;

/** One thing that the assistant says, from the question to the last sentence heard. */
export interface Turn {
  readonly id: number;
  readonly kind: TurnKind;
  /** What it answers; empty for what the assistant says by itself. */
  readonly userText: string;
  /** When the caller stopped speaking, and when the turn was known to be over. */
  readonly callerEndedAtMs: number;
  readonly decidedAtMs: number;
  /** So long before `decidedAtMs` the model was asked; undefined where it was not. */
  readonly earlyMs: number | undefined;
  /** Tokens that were wasted before it. */
  readonly wastedTokens: number;
  /** What the caller has waited for an answer to the same in turns before it. */
  readonly waitedBeforeMs: number;
  /** The model was asked this many times for it. */
  readonly attempt: number;
  readonly generating: boolean;
  readonly splitter: SplitterState;
  readonly replyChars: number;
  readonly sentences: readonly Sentence[];
  /** Sentences given to synthesis, and sent to the caller, counted from the first. */
  readonly askedCount: number;
  readonly sentCount: number;
  /** How many of those sent only say that the agent is at work. */
  readonly waitingWords: number;
  readonly ledger: PlaybackLedger;
  /** What the caller had heard of it when the client was told to drop the rest; it counts anew from there. */
  readonly playedBeforeMs: number;
  /** Gaps in its sentences, where their audio came too late. */
  readonly underruns: number;
  /** It was held once, and no words followed: only words stop it. */
  readonly heldInVain: boolean;
  /** The model's newest token, or what it was asked after. */
  readonly progressAtMs: number;
  /** Since when a voice of the caller keeps the reply from beginning. */
  readonly onsetAtMs: number | undefined;
  readonly hasWaitedForWords: boolean;
  readonly firstTokenAtMs: number | undefined;
  readonly firstSentenceAtMs: number | undefined;
  readonly firstByteAtMs: number | undefined;
  readonly firstAudioAtMs: number | undefined;
  /** Something of it could not be generated or spoken. */
  readonly faulty: boolean;
  /** TTS could not say sentences that the caller has not heard. */
  readonly restLost: boolean;
  /** None of it could be spoken, and trying again would not help. */
  readonly hopeless: boolean;
  /** What the model asked for and what came of it, in the order of the conversation. */
  readonly toolMessages: readonly ChatMessage[];
  /** Tools that are at work, and how often the model has asked for some. */
  readonly toolsWaiting: readonly string[];
  readonly toolRounds: number;
  /** The model is asked when the tools of an earlier turn have answered that are still at work. */
  readonly waitsForTools: boolean;
  /** The newest tools that press keys for the agent, behind all that it has said, and those of them that still wait for that. */
  readonly keyCallIds: readonly string[];
  readonly keysToPress: readonly ToolCall[];
  /** How the call ends once this has been said. */
  readonly ending: Ending | undefined;
}

export interface Sentence {
  /** Its number in effects and events: the sentences of the answer count from 0, whatever is said between them. */
  readonly slot: number;
  readonly text: string;
  readonly attempt: number;
  /** When TTS was first asked for it; undefined before that. */
  readonly askedAtMs: number | undefined;
  /** The audio that has come; undefined before any has. */
  readonly durationMs: number | undefined;
  /** When the newest of it came. */
  readonly grewAtMs: number;
  readonly isWhole: boolean;
  /** Where its words end in its audio, as its voice has told by now. */
  readonly marks: readonly WordMark[];
  /** What had come when its voice failed and another try was asked for the rest, and when that was. */
  readonly came:
    | { readonly text: string; readonly durationMs: number; readonly atMs: number }
    | undefined;
}

export function newTurn({
  id,
  kind,
  userText,
  callerEndedAtMs,
  decidedAtMs,
  attempt,
}: Pick<Turn, "id" | "kind" | "userText" | "callerEndedAtMs" | "decidedAtMs" | "attempt">): Turn {
  return {
    id,
    kind,
    userText,
    callerEndedAtMs,
    decidedAtMs,
    earlyMs: undefined,
    wastedTokens: 0,
    waitedBeforeMs: 0,
    attempt,
    generating: true,
    splitter: EMPTY_SPLITTER,
    replyChars: 0,
    sentences: [],
    askedCount: 0,
    sentCount: 0,
    waitingWords: 0,
    ledger: EMPTY_LEDGER,
    playedBeforeMs: 0,
    underruns: 0,
    heldInVain: false,
    progressAtMs: decidedAtMs,
    onsetAtMs: undefined,
    hasWaitedForWords: false,
    firstTokenAtMs: undefined,
    firstSentenceAtMs: undefined,
    firstByteAtMs: undefined,
    firstAudioAtMs: undefined,
    faulty: false,
    restLost: false,
    hopeless: false,
    toolMessages: [],
    toolsWaiting: [],
    toolRounds: 0,
    waitsForTools: false,
    keyCallIds: [],
    keysToPress: [],
    ending: undefined,
  };
}

/** The turn after one more token. */
export function withToken(
  turn: Turn,
  splitter: SplitterState,
  tokenChars: number,
  atMs: number,
): Turn {
  return inTurnShape(turn, {
    splitter,
    replyChars: turn.replyChars + tokenChars,
    progressAtMs: atMs,
    firstTokenAtMs: turn.firstTokenAtMs ?? atMs,
  });
}

type TokenFields = Pick<Turn, "splitter" | "replyChars" | "progressAtMs" | "firstTokenAtMs">;

/**
 * The turn, with what a token changes, as one literal makes it (`one-shape.ts` says why). Tokens are most of what happens to a call,
 * and a spread that overrides fields takes three times as long as this (`npm run bench`, transition).
 */
export function inTurnShape(
  turn: Turn,
  { splitter, replyChars, progressAtMs, firstTokenAtMs }: TokenFields = turn,
): Turn {
  return {
    id: turn.id,
    kind: turn.kind,
    userText: turn.userText,
    callerEndedAtMs: turn.callerEndedAtMs,
    decidedAtMs: turn.decidedAtMs,
    earlyMs: turn.earlyMs,
    wastedTokens: turn.wastedTokens,
    waitedBeforeMs: turn.waitedBeforeMs,
    attempt: turn.attempt,
    generating: turn.generating,
    splitter,
    replyChars,
    sentences: turn.sentences,
    askedCount: turn.askedCount,
    sentCount: turn.sentCount,
    waitingWords: turn.waitingWords,
    ledger: turn.ledger,
    playedBeforeMs: turn.playedBeforeMs,
    underruns: turn.underruns,
    heldInVain: turn.heldInVain,
    progressAtMs,
    onsetAtMs: turn.onsetAtMs,
    hasWaitedForWords: turn.hasWaitedForWords,
    firstTokenAtMs,
    firstSentenceAtMs: turn.firstSentenceAtMs,
    firstByteAtMs: turn.firstByteAtMs,
    firstAudioAtMs: turn.firstAudioAtMs,
    faulty: turn.faulty,
    restLost: turn.restLost,
    hopeless: turn.hopeless,
    toolMessages: turn.toolMessages,
    toolsWaiting: turn.toolsWaiting,
    toolRounds: turn.toolRounds,
    waitsForTools: turn.waitsForTools,
    keyCallIds: turn.keyCallIds,
    keysToPress: turn.keysToPress,
    ending: turn.ending,
  };
}

export function reportOf(turn: Turn, outcome: TurnOutcome): TurnReport {
  const { underruns, waitingWords, earlyMs, wastedTokens } = turn;
  const gaps = {
    ...(underruns === 0 ? {} : { underruns }),
    ...(waitingWords === 0 ? {} : { waitingWords }),
    ...(earlyMs === undefined ? {} : { earlyMs: roundMs(earlyMs) }),
    ...(wastedTokens === 0 ? {} : { wastedTokens }),
  };
  const report = { turn: turn.id, kind: turn.kind, outcome, ...gaps };
  if (turn.kind !== "reply") return report;
  const marks = [
    turn.callerEndedAtMs,
    turn.decidedAtMs,
    turn.firstTokenAtMs,
    turn.firstSentenceAtMs,
    turn.firstByteAtMs,
    turn.firstAudioAtMs,
  ].map((mark) => (mark === undefined ? undefined : Math.max(mark, turn.callerEndedAtMs)));
  return { ...report, ...stagesBetween(marks) };
}

function stagesBetween(marks: readonly (number | undefined)[]): Partial<TurnReport> {
  const stages: Partial<Record<WaitPart | "totalMs", number>> = {};
  let sumMs = 0;
  for (const [index, stage] of WAIT_PARTS.entries()) {
    const from = marks[index];
    const to = marks[index + 1];
    if (from === undefined || to === undefined) return stages;
    const durationMs = roundMs(to - from);
    stages[stage] = durationMs;
    sumMs += durationMs;
  }
  stages.totalMs = roundMs(sumMs);
  return stages;
}

/** Tenths of a millisecond: finer would be noise. */
function roundMs(durationMs: number): number {
  return Math.round(durationMs * 10) / 10;
}

/** It only says that the agent is at work. */
export function isWaitingWord({ slot }: Sentence): boolean {
  return slot >= WAITING_SLOT_FIRST;
}

/** How many sentences of the answer itself are known. */
export function answersOf(turn: Turn): number {
  return turn.sentences.length - turn.waitingWords;
}

/** How many sentences of the answer itself the caller was sent. */
export function answersSent(turn: Turn): number {
  return turn.sentCount - turn.waitingWords;
}

/** Everything that the turn will say is with the caller, who has only to hear it. */
export function isAllSent(turn: Turn): boolean {
  return !turn.generating && turn.sentCount === turn.sentences.length && !isGrowing(turn);
}

/** Where the sentence of that number stands among those of the turn; -1 when there is none. */
export function placeOf(turn: Turn, slot: number): number {
  if (turn.waitingWords === 0) return slot < turn.sentences.length ? slot : -1;
  return turn.sentences.findIndex((sentence) => sentence.slot === slot);
}

/** Whether the sentence that was sent last is still to become longer. */
export function isGrowing(turn: Turn): boolean {
  return turn.sentCount > 0 && turn.sentences[turn.sentCount - 1]?.isWhole === false;
}

/** The sentence as the ledger keeps it. */
export function asSent(
  { text, durationMs = 0, isWhole, marks, came }: Sentence,
  voiceMsPerChar: number,
) {
  const chars = text.length - (came?.text.length ?? 0);
  const estimateMs = (came?.durationMs ?? 0) + chars * voiceMsPerChar;
  const expectedMs = isWhole ? durationMs : Math.max(durationMs, estimateMs);
  return { text, durationMs, expectedMs, isWhole, marks };
}
