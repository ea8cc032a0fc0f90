import type {
  AgreementWords,
  CallMetrics,
  HistoryMessage,
  InterruptionSensitivity,
  OnVendorsLost,
} from "../../storage/records.js";
import { type LateWords, NO_LATE_WORDS } from "../speech/late-words.js";
import type { StockPhrases } from "../speech/stock-phrases.js";
import { EMPTY_HEARING, type HearingState } from "../speech/turn-detector.js";
import type { WordMark } from "../speech/word-marks.js";
import { NO_METRICS, type SaidMessage } from "./effects.js";
import type { Ending } from "./ending.js";
import { historyWindow } from "./kept-conversation.js";
import type { ToolsDone } from "./tool-use/tools-done.js";
import type { Transfer } from "./tool-use/transferring.js";
import type { Turn } from "./turn.js";
import type { EarlyReply } from "./turn-taking/early-reply.js";
import {
  type DoubtfulWords,
  type EchoHeard,
  NO_ECHO_HEARD,
  NOTHING_SPOKEN,
  type SpokenBefore,
} from "./turn-taking/own-echo.js";
import type { VainWait } from "./turn-taking/vain-wait.js";

/** What the agent decides about a call; does not change while it lasts. */
export interface SessionSettings {
  readonly greeting: string;
  /** Spoken when a reply could not be made. */
  readonly apology: string;
  /** Spoken when the vendor does not take the call on. */
  readonly cannotTransfer: string;
  /** Spoken before the call of a suspended organization ends. */
  readonly suspended: string;
  /** Spoken before a call ends that somebody of the organization ends. */
  readonly mustEnd: string;
  /** What the agent says by itself; undefined for one that says nothing that its author or its model did not write. */
  readonly phrases: StockPhrases | undefined;
  /** Spoken when the caller spoke and the STT returned no words; empty where the agent ignores that. */
  readonly repeatRequest: string;
  readonly sensitivity: InterruptionSensitivity;
  /** The first part of the agent's language tag, in lower case. */
  readonly language: string;
  /** Words of agreement while the agent speaks, or right after, get no reply, or one when it has spoken. */
  readonly agreementWords: AgreementWords;
  /** The model is asked before the end of the caller's turn is certain. */
  readonly earlyReply: boolean;
  /** Whether a call that cannot go on for want of vendors is handed on, where there is a tool that says where to. */
  readonly onVendorsLost: OnVendorsLost;
  readonly silenceTimeoutMs: number;
  /** How long a caller may pause who is dictating, or has left a sentence open. */
  readonly patienceMs: number;
  /** Number of DTMF digits that completes an answer; 0 if unknown. */
  readonly keypadDigits: number;
  /** Plays a filler after this many ms without agent audio; 0 disables. */
  readonly waitingWordMs: number;
  /** After so long a silence of the caller the agent asks whether somebody is there; 0: never. */
  readonly callerSilenceMs: number;
  readonly durationMaxMs: number;
  /** The server paces the audio itself: it can hold it, and is told what was played. */
  readonly isPaced: boolean;
  /** The caller is sent a sentence's audio as it comes; else every sentence waits until it is whole. */
  readonly isStreamed: boolean;
  readonly tools: readonly SessionTool[];
  /** Counted into the estimate of tokens of a reply that was stopped before the vendor said its count. */
  readonly systemPromptChars: number;
}

/** What the agent's model may ask for; `http` and `client` tools are performed outside and answer. */
export type SessionTool =
  | { readonly kind: "hangup" | "sendDigits" | "http" | "client"; readonly name: string }
  | { readonly kind: "transfer"; readonly name: string; readonly to: string };

export interface ReadyPhrase {
  readonly text: string;
  readonly durationMs: number;
  /** Where its words end in its audio; empty where its voice does not tell. */
  readonly marks: readonly WordMark[];
}

/** The vendor is asked to take the call on: words of the caller wait, and are answered if the call stays here. */
export function isBeingTransferred({ transfer }: SessionState): boolean {
  return transfer !== undefined && !transfer.isGivenUp;
}

/** The pace of English at a usual speed, until the voice itself has been heard. */
export const VOICE_MS_PER_CHAR = 65;

export interface SessionState {
  readonly phase: "opening" | "live" | "ended";
  readonly settings: SessionSettings;
  readonly hearing: HearingState;
  readonly late: LateWords;
  /** The recognizer decides turns; after so much silence it has failed to. */
  readonly undecidedMaxMs: number | undefined;
  /** When the caller began what is being heard now. */
  readonly utteranceBeganAtMs: number | undefined;
  /** When the caller was last noticed to begin with something that no turn has ended with yet. */
  readonly voicedAtMs: number;
  /** When the caller stopped saying the newest words. */
  readonly callerEndedAtMs: number;
  /** When the voice of a caller who has interrupted was last heard, until that is answered; undefined without an interruption. */
  readonly bargeInVoiceAtMs: number | undefined;
  /** How long after their end the recognizer told the newest words. */
  readonly wordsLateMs: number;
  readonly turn: Turn | undefined;
  /** The turn that was heard last, whose echo may still be on its way. */
  readonly spokenBefore: SpokenBefore;
  /** May be an echo: they wait until the agent's sound has ended. */
  readonly doubtful: DoubtfulWords | undefined;
  readonly lastTurnId: number;
  /** The model was asked already for a reply to what the caller may still be saying. */
  readonly early: EarlyReply | undefined;
  /** How often that was so, and what was thrown away of it, since a reply last began. */
  readonly earlyTries: number;
  readonly wastedTokens: number;
  /** Said by the caller and not answered yet: while the assistant spoke on, or before a reply that was dropped. */
  readonly unanswered: string;
  /** What was done for a reply that the caller did not hear to its end. */
  readonly toolsDone: ToolsDone | undefined;
  /** What was waited for an answer in turns that were begun anew since the caller last heard one. */
  readonly vainWait: VainWait | undefined;
  /** Since when the assistant is silent, waiting for the words of a caller who made a sound. */
  readonly heldAtMs: number | undefined;
  /** Holds that no words followed, since words last did. */
  readonly vainHolds: number;
  /** When the agent's own words were last heard, so many of them that the caller surely has a loudspeaker on. */
  readonly echoedAtMs: number;
  readonly echoHeard: EchoHeard;
  /** Keys that the caller has pressed and that are not taken as a whole yet. */
  readonly digits: string;
  /** When keys were last taken as a whole. */
  readonly digitsTakenAtMs: number;
  /** Sentences that an interruption left unheard, until it is known whether the caller meant it. */
  readonly cutSentences: readonly string[];
  /** What they answer, where nothing of the answer was heard; it stands first in what is unanswered. */
  readonly cutQuestion: string;
  /** How the call was to end after them. */
  readonly cutEnding: Ending | undefined;
  /** The vendor was asked to take the call on, and has not refused. */
  readonly transfer: Transfer | undefined;
  readonly history: readonly HistoryMessage[];
  readonly unsaved: readonly SaidMessage[];
  readonly failedTurns: number;
  /** Phrases of the agent's stock that can be played at once. */
  readonly readyPhrases: readonly ReadyPhrase[];
  /** How often the caller was asked whether somebody is there, since the last words. */
  readonly reminders: number;
  /** When the newest voice began that the STT has returned no words for, and that is not the agent's own. */
  readonly unrecognizedVoiceAtMs: number | undefined;
  /** Requests to repeat unrecognized speech since words last came. */
  readonly repeatRequests: number;
  /** How long the agent's voice takes for a character, from the sentences that are whole. */
  readonly voiceMsPerChar: number;
  readonly metrics: CallMetrics;
  readonly latencySumMs: number;
  readonly latencyCount: number;
}

export function newSession(
  settings: SessionSettings,
  history: readonly HistoryMessage[],
  voiceMsPerChar = VOICE_MS_PER_CHAR,
): SessionState {
  return {
    phase: "opening",
    settings,
    hearing: EMPTY_HEARING,
    late: NO_LATE_WORDS,
    undecidedMaxMs: undefined,
    utteranceBeganAtMs: undefined,
    voicedAtMs: Number.NEGATIVE_INFINITY,
    callerEndedAtMs: 0,
    bargeInVoiceAtMs: undefined,
    wordsLateMs: 0,
    turn: undefined,
    spokenBefore: NOTHING_SPOKEN,
    doubtful: undefined,
    lastTurnId: 0,
    early: undefined,
    earlyTries: 0,
    wastedTokens: 0,
    unanswered: "",
    toolsDone: undefined,
    vainWait: undefined,
    heldAtMs: undefined,
    vainHolds: 0,
    echoedAtMs: Number.NEGATIVE_INFINITY,
    echoHeard: NO_ECHO_HEARD,
    digits: "",
    digitsTakenAtMs: Number.NEGATIVE_INFINITY,
    cutSentences: [],
    cutQuestion: "",
    cutEnding: undefined,
    transfer: undefined,
    history: historyWindow(history),
    unsaved: [],
    failedTurns: 0,
    readyPhrases: [],
    reminders: 0,
    unrecognizedVoiceAtMs: undefined,
    repeatRequests: 0,
    voiceMsPerChar,
    metrics: NO_METRICS,
    latencySumMs: 0,
    latencyCount: 0,
  };
}

/** As a spread would, in a third of the time: see `withToken`. */
export function withTurnInState(state: SessionState, turn: Turn | undefined): SessionState {
  return {
    phase: state.phase,
    settings: state.settings,
    hearing: state.hearing,
    late: state.late,
    undecidedMaxMs: state.undecidedMaxMs,
    utteranceBeganAtMs: state.utteranceBeganAtMs,
    voicedAtMs: state.voicedAtMs,
    callerEndedAtMs: state.callerEndedAtMs,
    bargeInVoiceAtMs: state.bargeInVoiceAtMs,
    wordsLateMs: state.wordsLateMs,
    turn,
    spokenBefore: state.spokenBefore,
    doubtful: state.doubtful,
    lastTurnId: state.lastTurnId,
    early: state.early,
    earlyTries: state.earlyTries,
    wastedTokens: state.wastedTokens,
    unanswered: state.unanswered,
    toolsDone: state.toolsDone,
    vainWait: state.vainWait,
    heldAtMs: state.heldAtMs,
    vainHolds: state.vainHolds,
    echoedAtMs: state.echoedAtMs,
    echoHeard: state.echoHeard,
    digits: state.digits,
    digitsTakenAtMs: state.digitsTakenAtMs,
    cutSentences: state.cutSentences,
    cutQuestion: state.cutQuestion,
    cutEnding: state.cutEnding,
    transfer: state.transfer,
    history: state.history,
    unsaved: state.unsaved,
    failedTurns: state.failedTurns,
    readyPhrases: state.readyPhrases,
    reminders: state.reminders,
    unrecognizedVoiceAtMs: state.unrecognizedVoiceAtMs,
    repeatRequests: state.repeatRequests,
    voiceMsPerChar: state.voiceMsPerChar,
    metrics: state.metrics,
    latencySumMs: state.latencySumMs,
    latencyCount: state.latencyCount,
  };
}
