import type { CallTransfer, Ending } from "./call-end.js";
import type { ClientMessage } from "./effects.js";

/** Identifies the sentence of a turn that some audio belongs to. */
export interface SentenceId {
  readonly turnId: number;
  readonly index: number;
}

/** A tool call that the caller's client runs for the agent. */
export interface ClientToolCall {
  readonly name: string;
  readonly arguments: Readonly<Record<string, unknown>>;
}

/** `result` is any JSON, undefined if there is none; `error` is a sentence for the LLM. */
export type ClientToolAnswer = { readonly result: unknown } | { readonly error: string };

/** `cutOff`: the caller interrupted or left. `unavailable`: the leg has no DTMF. */
export type DtmfOutcome = "pressed" | "cutOff" | "unavailable";

/** Whether the vendor has taken the transfer; `blind`: a warm one, without a question to the person. */
export type TransferAnswer = boolean | "blind";

/** The way to the caller, over any transport. No method throws; after `end` nothing reaches the caller. */
export interface CallerChannel {
  /** `audioStop` also drops all audio that has not been played yet. */
  send(message: ClientMessage): void;
  /**
   * The next audio of a sentence, in the call's output format; whole sentences where that format is not streamed.
   * The last piece, which may be empty, ends the sentence. The bytes are not changed afterwards.
   */
  sendAudio(audio: Uint8Array, sentence: SentenceId, isLast: boolean): void;
  /** Only for a channel with paced audio: pauses, and resumes from the same position. */
  pauseOutput(): void;
  resumeAudio(): void;
  /** Sends DTMF after all earlier audio. Resolves when the last digit was sent. Never rejects. */
  sendDigits(digits: string): Promise<DtmfOutcome>;
  /** Asks the telephony vendor to transfer the call. Resolves with false if it refuses or cannot. Never rejects. */
  transfer(order: CallTransfer): Promise<TransferAnswer>;
  /**
   * Resolves immediately with an error if the caller's client does not offer the tool, or there is no client.
   * Rejects only when aborted.
   */
  useTool(call: ClientToolCall, signal: AbortSignal): Promise<ClientToolAnswer>;
  /** After an accepted transfer, ends only this leg's stream. */
  end(ending: Ending): void;
}
