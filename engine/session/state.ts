import type {
  CallMetrics,
  HistoryMessage,
  InterruptionSensitivity,
} from "../../storage/records.js";
import { EMPTY_HEARING, type HearingState } from "../speech/turn-detector.js";
import { NO_METRICS, type SaidMessage } from "./effects.js";
import type { Turn } from "./turn.js";

/** What the agent decides about a call; does not change while it lasts. */
export interface SessionSettings {
  readonly greeting: string;
  /** Spoken when a reply could not be made. */
  readonly apology: string;
  readonly sensitivity: InterruptionSensitivity;
  readonly silenceTimeoutMs: number;
  readonly durationMaxMs: number;
  /** The server paces the audio itself: it can hold it, and is told what was played. */
  readonly isPaced: boolean;
  readonly tools: readonly SessionTool[];
  /** Counted into the estimate of tokens of a reply that was stopped before the vendor said its count. */
  readonly systemPromptChars: number;
}

/** What the agent's model may ask for; `http` tools are performed outside and answer. */
export type SessionTool =
  | { readonly kind: "hangup" | "sendDigits" | "http"; readonly name: string }
  | { readonly kind: "transfer"; readonly name: string; readonly to: string };

/** The contract's bound on what is kept of a conversation, counted in messages. */
export const HISTORY_MESSAGES_MAX = 20;

/** The pace of English at a usual speed, until the voice itself has been heard. */
export const VOICE_MS_PER_CHAR = 65;

export interface SessionState {
  readonly phase: "opening" | "live" | "ended";
  readonly settings: SessionSettings;
  readonly hearing: HearingState;
  /** When the caller began what is being heard now. */
  readonly utteranceBeganAtMs: number | undefined;
  /** When the caller stopped saying the newest words. */
  readonly callerEndedAtMs: number;
  readonly turn: Turn | undefined;
  readonly lastTurnId: number;
  /** Said by the caller and not answered yet: while the assistant spoke on, or before a reply that was dropped. */
  readonly unanswered: string;
  /** Since when paced audio stands still, waiting for the words of a caller who made a sound. */
  readonly heldAtMs: number | undefined;
  /** Keys that the caller has pressed and that are not taken as a whole yet. */
  readonly digits: string;
  /** When keys were last taken as a whole. */
  readonly digitsTakenAtMs: number;
  /** Sentences that an interruption left unheard, until it is known whether the caller meant it. */
  readonly cutSentences: readonly string[];
  readonly history: readonly HistoryMessage[];
  readonly unsaved: readonly SaidMessage[];
  readonly failedTurns: number;
  /** How long the agent's voice takes for a character, from the sentences that are whole. */
  readonly voiceMsPerChar: number;
  readonly metrics: CallMetrics;
  readonly latencySumMs: number;
  readonly latencyCount: number;
}

export function newSession(
  settings: SessionSettings,
  history: readonly HistoryMessage[],
): SessionState {
  return {
    phase: "opening",
    settings,
    hearing: EMPTY_HEARING,
    utteranceBeganAtMs: undefined,
    callerEndedAtMs: 0,
    turn: undefined,
    lastTurnId: 0,
    unanswered: "",
    heldAtMs: undefined,
    digits: "",
    digitsTakenAtMs: Number.NEGATIVE_INFINITY,
    cutSentences: [],
    history: history.slice(-HISTORY_MESSAGES_MAX),
    unsaved: [],
    failedTurns: 0,
    voiceMsPerChar: VOICE_MS_PER_CHAR,
    metrics: NO_METRICS,
    latencySumMs: 0,
    latencyCount: 0,
  };
}

/** As a spread would, in a third of the time: see `withToken`. */
export function withTurnInState(state: SessionState, turn: Turn): SessionState {
  return {
    phase: state.phase,
    settings: state.settings,
    hearing: state.hearing,
    utteranceBeganAtMs: state.utteranceBeganAtMs,
    callerEndedAtMs: state.callerEndedAtMs,
    turn,
    lastTurnId: state.lastTurnId,
    unanswered: state.unanswered,
    heldAtMs: state.heldAtMs,
    digits: state.digits,
    digitsTakenAtMs: state.digitsTakenAtMs,
    cutSentences: state.cutSentences,
    history: state.history,
    unsaved: state.unsaved,
    failedTurns: state.failedTurns,
    voiceMsPerChar: state.voiceMsPerChar,
    metrics: state.metrics,
    latencySumMs: state.latencySumMs,
    latencyCount: state.latencyCount,
  };
}
