import type { Ending } from "./call-end.js";
import type { ClientMessage } from "./effects.js";

/** Which sentence of which turn some audio is. */
export interface SentenceId {
  readonly turnId: number;
  readonly index: number;
}

/** What the caller's own client is to do for the agent. */
export interface ClientToolCall {
  readonly name: string;
  readonly arguments: Readonly<Record<string, unknown>>;
}

/** `result` is any JSON, and undefined where there is nothing to say; `error` is in words for the model. */
export type ClientToolAnswer = { readonly result: unknown } | { readonly error: string };

/** What became of keys: `cutOff` where the caller interrupted or left, `unavailable` where the leg has none. */
export type DtmfOutcome = "pressed" | "cutOff" | "unavailable";

/** The way to the caller, whatever carries it. None of these throws; after `end` nothing reaches the caller. */
export interface CallerChannel {
  /** `audioStop` also drops whatever audio has not been played yet. */
  send(message: ClientMessage): void;
  /**
   * The next audio of a sentence, in the format that the session was opened for: whole sentences where that format is not
   * streamed. With the last, which may be empty, the sentence is over. The bytes are not changed afterwards.
   */
  sendAudio(audio: Uint8Array, sentence: SentenceId, isLast: boolean): void;
  /** Only for a channel that paces its audio: it pauses, and resumes from there. */
  pauseOutput(): void;
  resumeAudio(): void;
  /** Presses keys on behalf of the agent, behind all audio before them; settled when the last has left. Never rejects. */
  sendDigits(digits: string): Promise<DtmfOutcome>;
  /** Asks the vendor of the line to take the call on to that number; false where it does not, or cannot. Never rejects. */
  transfer(to: string): Promise<boolean>;
  /** An error at once where the caller's client does not offer that, or there is none. Rejects only when aborted. */
  useTool(call: ClientToolCall, signal: AbortSignal): Promise<ClientToolAnswer>;
  /** After a transfer that was taken, ends only this leg's stream. */
  end(ending: Ending): void;
}
