import { EMPTY_SPLITTER, type SplitterState } from "../speech/sentence-splitter.js";
import type { ChatMessage } from "../vendors/contracts.js";
import type { TurnKind, TurnOutcome, TurnReport } from "./effects.js";
import type { Ending } from "./ending.js";
import { EMPTY_LEDGER, type PlaybackLedger } from "./playback-ledger.js";

/** One thing that the assistant says, from the question to the last sentence heard. */
export interface Turn {
  readonly id: number;
  readonly kind: TurnKind;
  /** What it answers; empty for what the assistant says by itself. */
  readonly userText: string;
  /** When the caller stopped speaking, and when the turn was known to be over. */
  readonly callerEndedAtMs: number;
  readonly decidedAtMs: number;
  /** The model was asked this many times for it. */
  readonly attempt: number;
  readonly generating: boolean;
  readonly splitter: SplitterState;
  readonly replyChars: number;
  readonly sentences: readonly Sentence[];
  /** Sentences given to synthesis, and sent to the caller, counted from the first. */
  readonly askedCount: number;
  readonly sentCount: number;
  readonly ledger: PlaybackLedger;
  /** Gaps in its sentences, where their audio came too late. */
  readonly underruns: number;
  readonly firstTokenAtMs: number | undefined;
  readonly firstSentenceAtMs: number | undefined;
  readonly firstByteAtMs: number | undefined;
  readonly firstAudioAtMs: number | undefined;
  /** Something of it could not be generated or spoken. */
  readonly faulty: boolean;
  /** None of it could be spoken, and trying again would not help. */
  readonly hopeless: boolean;
  /** What the model asked for and what came of it, in the order of the conversation. */
  readonly toolMessages: readonly ChatMessage[];
  /** Tools that are at work, and how often the model has asked for some. */
  readonly toolsWaiting: readonly string[];
  readonly toolRounds: number;
  /** How the call ends once this has been said. */
  readonly ending: Ending | undefined;
}

export interface Sentence {
  readonly text: string;
  readonly attempt: number;
  /** The audio that has come; undefined before any has. */
  readonly durationMs: number | undefined;
  readonly isWhole: boolean;
  /** What came before its voice failed, and was to be said by another try: where the estimate of the rest begins. */
  readonly came: { readonly text: string; readonly durationMs: number } | undefined;
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
    attempt,
    generating: true,
    splitter: EMPTY_SPLITTER,
    replyChars: 0,
    sentences: [],
    askedCount: 0,
    sentCount: 0,
    ledger: EMPTY_LEDGER,
    underruns: 0,
    firstTokenAtMs: undefined,
    firstSentenceAtMs: undefined,
    firstByteAtMs: undefined,
    firstAudioAtMs: undefined,
    faulty: false,
    hopeless: false,
    toolMessages: [],
    toolsWaiting: [],
    toolRounds: 0,
    ending: undefined,
  };
}

/**
 * The turn after one more token. Tokens are most of what happens to a call, and a spread that overrides fields takes three
 * times as long as this (`npm run bench`, transition).
 */
export function withToken(
  turn: Turn,
  splitter: SplitterState,
  tokenChars: number,
  atMs: number,
): Turn {
  return {
    id: turn.id,
    kind: turn.kind,
    userText: turn.userText,
    callerEndedAtMs: turn.callerEndedAtMs,
    decidedAtMs: turn.decidedAtMs,
    attempt: turn.attempt,
    generating: turn.generating,
    splitter,
    replyChars: turn.replyChars + tokenChars,
    sentences: turn.sentences,
    askedCount: turn.askedCount,
    sentCount: turn.sentCount,
    ledger: turn.ledger,
    underruns: turn.underruns,
    firstTokenAtMs: turn.firstTokenAtMs ?? atMs,
    firstSentenceAtMs: turn.firstSentenceAtMs,
    firstByteAtMs: turn.firstByteAtMs,
    firstAudioAtMs: turn.firstAudioAtMs,
    faulty: turn.faulty,
    hopeless: turn.hopeless,
    toolMessages: turn.toolMessages,
    toolsWaiting: turn.toolsWaiting,
    toolRounds: turn.toolRounds,
    ending: turn.ending,
  };
}

export function reportOf(turn: Turn, outcome: TurnOutcome): TurnReport {
  const { underruns } = turn;
  const gaps = underruns === 0 ? {} : { underruns };
  const report = { turn: turn.id, kind: turn.kind, outcome, ...gaps };
  if (turn.kind !== "reply") return report;
  const marks = [
    turn.callerEndedAtMs,
    turn.decidedAtMs,
    turn.firstTokenAtMs,
    turn.firstSentenceAtMs,
    turn.firstByteAtMs,
    turn.firstAudioAtMs,
  ];
  return { ...report, ...stagesBetween(marks) };
}

const STAGES = [
  "sttMs",
  "llmFirstTokenMs",
  "llmSentenceMs",
  "ttsFirstByteMs",
  "ttsRestMs",
] as const;

function stagesBetween(marks: readonly (number | undefined)[]): Partial<TurnReport> {
  const stages: Partial<Record<(typeof STAGES)[number] | "totalMs", number>> = {};
  let sumMs = 0;
  for (const [index, stage] of STAGES.entries()) {
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

/** Whether the sentence that was sent last is still to become longer. */
export function isGrowing(turn: Turn): boolean {
  return turn.sentCount > 0 && turn.sentences[turn.sentCount - 1]?.isWhole === false;
}

/** The sentence as the ledger keeps it. */
export function asSent({ text, durationMs = 0, isWhole, came }: Sentence, voiceMsPerChar: number) {
  const chars = text.length - (came?.text.length ?? 0);
  const estimateMs = (came?.durationMs ?? 0) + chars * voiceMsPerChar;
  const expectedMs = isWhole ? durationMs : Math.max(durationMs, estimateMs);
  return { text, durationMs, expectedMs, isWhole };
}
