import type { CallMetrics, HistoryMessage } from "../../storage/records.js";
import type { ChatMessage, ToolCall } from "../vendors/contracts.js";
import type { CallTransfer, Ending, EndReason } from "./call-end.js";
import type { BargeIn, EndOfTurn } from "./reasons.js";

/** What the caller's client receives; the API writes it as the contract's JSON. */
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

/**
 * `person`: it talks to the agent; every caller does. `pending`: the vendor has not said yet whether it is a person. `machine`: an
 * answering machine that still plays its greeting. `voicemail`: the machine records what the agent says. `screener`: a machine that
 * has asked for name and reason; a person may follow.
 */
export const ANSWERER_KINDS = ["person", "pending", "machine", "voicemail", "screener"] as const;
export type AnswererKind = (typeof ANSWERER_KINDS)[number];

/** What a call that continues a placed call has to know of its other end. */
export interface ContinuedAnswerer {
  readonly kind: AnswererKind;
  /** The greeting waits for a person. */
  readonly isGreetingDue: boolean;
  /** How often the agent has answered a screener. */
  readonly screeningAnswers: number;
}

/** A message that was actually said, with its time on the call's clock. */
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
  /** The agent says that the call could not be transferred. */
  | "transferRefused"
  /** A text that a person of the organization, or its program, has the agent say. */
  | "announcement"
  /** The agent tells a machine that screens calls who is calling. */
  | "screening"
  /** The message for an answering machine. */
  | "voicemail";
export type TurnOutcome = "played" | "interrupted" | "superseded" | "failed" | "cutOff";

/** What a caller waits for, in chronological order, as the record of a turn names it. */
export const WAIT_PARTS = [
  "sttMs",
  "llmFirstTokenMs",
  "llmSentenceMs",
  "ttsFirstByteMs",
  "ttsRestMs",
] as const;
export type WaitPart = (typeof WAIT_PARTS)[number];

/**
 * One turn as it is kept in the call's metadata. For a reply the parts add up to `totalMs`, the time from the end
 * of the caller's words to the first audio sent. A part that was not reached is absent, and then so is the total.
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
   * How often playback ran out while more audio was to come: within a sentence because TTS was slow, or anywhere
   * because the server was late. A pause before the next sentence does not count. Omitted if 0.
   */
  readonly underruns?: number;
  /** How often the agent played a filler; omitted if 0. The wait for the answer continues meanwhile. */
  readonly fillerCount?: number;
  /** How long before the end of the caller's turn was certain the LLM request started; omitted if it did not. */
  readonly preemptiveMs?: number;
  /** Tokens of preemptive replies that were discarded before this reply; omitted if there were none. */
  readonly wastedTokens?: number;
  /** Why the caller's turn ended that the reply answers; omitted for what the agent says on its own. */
  readonly endOfTurn?: EndOfTurn;
  /** Barge-in decisions while the turn played; omitted if the caller was silent. */
  readonly bargeIns?: readonly BargeIn[];
  /** The unheard text of a turn whose caller interrupted or hung up; omitted if there is none. */
  readonly unheard?: string;
}

export interface TurnSave {
  readonly messages: readonly SaidMessage[];
  readonly metrics: CallMetrics;
  readonly report: TurnReport | undefined;
  /** The messages that the turn adds to the conversation, as the LLM reads them. */
  readonly added: readonly HistoryMessage[];
  /** What is left of the texts that people have ordered; left out unless the turn was one of them. */
  readonly unspoken?: readonly string[];
}

/** What a step requests; effects are performed in order, after the new state is in place. */
export type ConversationEffect =
  | { readonly type: "send"; readonly message: ClientMessage }
  | {
      readonly type: "requestReply";
      readonly turnId: number;
      readonly history: readonly HistoryMessage[];
      /** The tool calls of this turn and their results. */
      readonly toolMessages: readonly ChatMessage[];
      /** The LLM may call no more tools. */
      readonly mustAnswer?: true;
      /** Notes that were added during the call; left out where there are none. */
      readonly context?: readonly string[];
      /** What the caller speaks now; left out before the call's language has changed. */
      readonly language?: string;
    }
  /** As `requestReply`, before the end of the caller's turn is certain; may be refused. */
  | {
      readonly type: "startPreemptiveReply";
      readonly turnId: number;
      readonly history: readonly HistoryMessage[];
      readonly context?: readonly string[];
      readonly language?: string;
    }
  /** Stops a preemptive reply that will not be used. */
  | { readonly type: "dropPreemptiveReply"; readonly turnId: number; readonly tokens: number }
  | {
      readonly type: "runTool";
      readonly turnId: number;
      readonly call: ToolCall;
      /** The event that aborts the tool, if it is still running by then. */
      readonly until: "turnEnds" | "callEnds" | "done";
    }
  /**
   * For an index that was requested before: the rest of a sentence whose TTS has failed. Its audio follows the
   * received audio.
   */
  | {
      readonly type: "synthesize";
      readonly turnId: number;
      readonly index: number;
      readonly text: string;
    }
  /** Sends the received audio of the sentence to the caller, and later audio as it arrives. */
  | { readonly type: "play"; readonly turnId: number; readonly index: number }
  /** Sends a prepared phrase to the caller as a whole. */
  | {
      readonly type: "playPhrase";
      readonly turnId: number;
      readonly index: number;
      readonly text: string;
    }
  /** Synthesizes phrases before they are needed; each ready phrase is reported. */
  | { readonly type: "preparePhrases"; readonly texts: readonly string[] }
  /** From the next turn on the agent speaks this language, with its voice. */
  | { readonly type: "switchLanguage"; readonly language: string }
  /** The sentence ends with the audio that has arrived. */
  | { readonly type: "cutSentence"; readonly turnId: number; readonly index: number }
  /** Drops the audio of this sentence and of all later ones: they may be requested and played again. */
  | { readonly type: "dropAudio"; readonly turnId: number; readonly index: number }
  /** Only for paced audio: pauses, and resumes from the same position. */
  | { readonly type: "pauseOutput" }
  | { readonly type: "resumeAudio" }
  /**
   * Stops the LLM and all TTS requests of the turn, and drops its audio. `hung`: the category that failed by
   * giving nothing in time.
   */
  | {
      readonly type: "abortTurn";
      readonly turnId: number;
      readonly hung?: "llm" | "tts" | undefined;
    }
  /** Stops only the LLM: its text so far is enough. */
  | { readonly type: "stopModel"; readonly turnId: number }
  /** DTMF that a member of the organization has ordered; nothing is reported. */
  | { readonly type: "sendDigits"; readonly digits: string }
  /** Asks the telephony vendor to transfer the call; the result is an event. */
  | {
      readonly type: "transfer";
      readonly turnId: number;
      readonly transfer: CallTransfer;
    }
  /** Reports a decision, which the record of its turn also contains. */
  | { readonly type: "reportBargeIn"; readonly turnId: number; readonly bargeIn: BargeIn }
  | { readonly type: "reportEndOfTurn"; readonly turnId: number; readonly endOfTurn: EndOfTurn }
  /** The agent was muted, or may speak again. */
  | { readonly type: "reportMuted"; readonly isMuted: boolean }
  /** All notes for the LLM, of which one is new. */
  | { readonly type: "reportContext"; readonly context: readonly string[] }
  /** All texts that people have ordered and that no saved turn has said, of which one is new. */
  | { readonly type: "reportUnspoken"; readonly unspoken: readonly string[] }
  /** What is known of who has answered a placed call has changed. */
  | { readonly type: "reportAnswerer"; readonly answerer: ContinuedAnswerer }
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
  /** Starts what the effect requests; the result is delivered as an event. */
  perform(effect: ConversationEffect): void;
  /** Reports `deadlineReached` at that time on the call's clock, unless a later call replaces it. */
  wakeAt(dueMs: number | undefined): void;
}
