import type { CallMetrics, HistoryMessage } from "../../storage/records.js";
import type { ChatMessage, ToolCall } from "../vendors/contracts.js";
import type { Ending, EndReason } from "./call-end.js";
import type { BargeIn, EndOfTurn } from "./reasons.js";

/** What the caller's client is told; the edge writes it as the contract's JSON. */
export type ClientMessage =
  | { readonly type: "connected" }
  | {
      readonly type: "transcript";
      readonly role: "user" | "assistant";
      readonly text: string;
      readonly isFinal: boolean;
    }
  | { readonly type: "audioStop" }
  | { readonly type: "audioEnd" }
  | { readonly type: "error"; readonly reason: EndReason; readonly message: string };

/** Something that was really said, at its moment on the call's clock. */
export interface SaidMessage {
  readonly role: "user" | "assistant";
  readonly text: string;
  readonly atMs: number;
}

export type TurnKind =
  | "greeting"
  | "reply"
  | "apology"
  | "resumed"
  | "reminder"
  /** The agent asks the caller to repeat speech that the STT returned no words for. */
  | "repeatRequest"
  | "farewell"
  /** The agent says that the caller could not be put through. */
  | "transferRefused"
  /** What a person of the organization, or its program, has the agent say. */
  | "announcement";
export type TurnOutcome = "played" | "interrupted" | "superseded" | "failed" | "cutOff";

/** What a caller waits for, in the order of time, as the record of a turn names it. */
export const WAIT_PARTS = [
  "sttMs",
  "llmFirstTokenMs",
  "llmSentenceMs",
  "ttsFirstByteMs",
  "ttsRestMs",
] as const;
export type WaitPart = (typeof WAIT_PARTS)[number];

/**
 * One turn as it is kept in the call's metadata. For a reply the parts sum to `totalMs`, what the caller waited from
 * the end of the own words to the first audio sent; a part that was not reached is absent, and so is then the total.
 */
export interface TurnReport {
  readonly turn: number;
  readonly kind: TurnKind;
  readonly outcome: TurnOutcome;
  readonly sttMs?: number;
  readonly llmFirstTokenMs?: number;
  readonly llmSentenceMs?: number;
  readonly ttsFirstByteMs?: number;
  readonly ttsRestMs?: number;
  readonly totalMs?: number;
  /**
   * How often the caller had heard all there was while more was to come: in the middle of a sentence whose voice was slow, or
   * wherever the server was late. A pause before a sentence that was not there yet is none. Left out where never.
   */
  readonly underruns?: number;
  /** How often the agent said that it is at work; left out where never. The wait for the answer is counted on. */
  readonly fillerCount?: number;
  /** So long before the end of the caller's turn was certain the model was asked; left out where it was not. */
  readonly preemptiveMs?: number;
  /** Tokens of replies that were begun early and thrown away before this one; left out where there were none. */
  readonly wastedTokens?: number;
  /** Why the caller's turn that the reply answers was over; left out of what the agent says by itself. */
  readonly endOfTurn?: EndOfTurn;
  /** What the caller's speech did to the agent's while the turn played, and why; left out where the caller was silent. */
  readonly bargeIns?: readonly BargeIn[];
  /** What the caller who interrupted, or hung up, never heard of what was made for the turn; left out where there is none. */
  readonly unheard?: string;
}

export interface TurnSave {
  readonly messages: readonly SaidMessage[];
  readonly metrics: CallMetrics;
  readonly report: TurnReport | undefined;
  /** What the turn has added to the conversation, as the model reads it. */
  readonly added: readonly HistoryMessage[];
}

/** What a transition asks to be done; performed in order, after the new state is in place. */
export type ConversationEffect =
  | { readonly type: "send"; readonly message: ClientMessage }
  | {
      readonly type: "requestReply";
      readonly turnId: number;
      readonly history: readonly HistoryMessage[];
      /** What the model asked for in this turn, and what came of it. */
      readonly toolMessages: readonly ChatMessage[];
      /** Notes that were added during the call; left out where there are none. */
      readonly context?: readonly string[];
    }
  /** As `requestReply`, before the end of the caller's turn is certain; may be refused. */
  | {
      readonly type: "startPreemptiveReply";
      readonly turnId: number;
      readonly history: readonly HistoryMessage[];
      readonly context?: readonly string[];
    }
  /** Stops such a reply, which nobody will hear. */
  | { readonly type: "dropPreemptiveReply"; readonly turnId: number; readonly tokens: number }
  | {
      readonly type: "runTool";
      readonly turnId: number;
      readonly call: ToolCall;
      /** What stops it at its work, if it is not done by then. */
      readonly until: "turnEnds" | "callEnds" | "done";
    }
  /**
   * For an index that was requested before: the rest of a sentence whose TTS has failed. Its audio follows the received
   * audio.
   */
  | {
      readonly type: "synthesize";
      readonly turnId: number;
      readonly index: number;
      readonly text: string;
    }
  /** What there is of the sentence goes to the caller, and what comes of it later follows by itself. */
  | { readonly type: "play"; readonly turnId: number; readonly index: number }
  /** A phrase that is ready goes to the caller as a whole. */
  | {
      readonly type: "playPhrase";
      readonly turnId: number;
      readonly index: number;
      readonly text: string;
    }
  /** Has the agent's voice say them before they are needed; those that are ready are told. */
  | { readonly type: "preparePhrases"; readonly texts: readonly string[] }
  /** The sentence ends with the audio that has come. */
  | { readonly type: "cutSentence"; readonly turnId: number; readonly index: number }
  /** The audio of this sentence and of all later ones is dropped: they may be requested and played again. */
  | { readonly type: "dropAudio"; readonly turnId: number; readonly index: number }
  /** Only for paced audio: pauses where it is, and resumes from there. */
  | { readonly type: "pauseOutput" }
  | { readonly type: "resumeAudio" }
  /** Stops the model and every synthesis of the turn, and forgets its audio. `hung` has failed: it gave nothing in time. */
  | {
      readonly type: "abortTurn";
      readonly turnId: number;
      readonly hung?: "llm" | "tts" | undefined;
    }
  /** Stops only the model: what it has said is enough. */
  | { readonly type: "stopModel"; readonly turnId: number }
  /** Asks the telephony vendor to take the call on; it answers with an event. */
  | { readonly type: "transfer"; readonly turnId: number; readonly to: string }
  /** Reports a decision, which stands in the record of its turn too. */
  | { readonly type: "reportBargeIn"; readonly turnId: number; readonly bargeIn: BargeIn }
  | { readonly type: "reportEndOfTurn"; readonly turnId: number; readonly endOfTurn: EndOfTurn }
  /** The agent was muted, or may speak again. */
  | { readonly type: "reportMuted"; readonly isMuted: boolean }
  | { readonly type: "saveTurn"; readonly save: TurnSave }
  | { readonly type: "end"; readonly ending: Ending; readonly save: TurnSave };

/** The metrics of a call in which nothing has happened yet. */
export const NO_METRICS: CallMetrics = {
  ttfbMs: 0,
  avgLatencyMs: 0,
  totalTokens: 0,
  ttsChars: 0,
  interruptions: 0,
  turnCount: 0,
};

/** The save of a call that ended before its first word. */
export const NO_WORDS: TurnSave = {
  messages: [],
  metrics: NO_METRICS,
  report: undefined,
  added: [],
};

export interface EffectPerformer {
  /** Starts what the effect asks for; whatever comes of it comes back as an event. */
  perform(effect: ConversationEffect): void;
  /** Reports `deadlineReached` at that moment of the call's clock, unless it is called with another before. */
  wakeAt(dueMs: number | undefined): void;
}
