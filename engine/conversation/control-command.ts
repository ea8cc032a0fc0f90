import type { Ending } from "./call-end.js";

/** What a person of the organization, or its program, may ask of the agent of a call in progress. */
export type ControlCommand =
  /** The agent says this behind what it is saying, or in place of it. */
  | { readonly type: "say"; readonly text: string; readonly interrupt: boolean }
  /** A note that the LLM reads from its next request on. */
  | { readonly type: "addContext"; readonly text: string }
  /** DTMF behind what the agent is saying; only on the telephone. */
  | { readonly type: "sendDigits"; readonly digits: string }
  /** The agent answers nothing and says nothing by itself until it is unmuted; the caller is still transcribed. */
  | { readonly type: "mute" }
  | { readonly type: "unmute" }
  /** The agent announces the transfer, and hands the caller on. */
  | { readonly type: "transfer"; readonly ending: Ending };

/**
 * `opening`: the call is not open yet; `ending`: the agent says goodbye or hands the caller on; `tooManyWaiting`: `SAY_WAITING_MAX`
 * texts are still to be said; `elsewhere`: the call is in no process that answers.
 */
export const CONTROL_OUTCOMES = [
  "done",
  "opening",
  "ended",
  "ending",
  "tooManyWaiting",
  "elsewhere",
] as const;
export type ControlOutcome = (typeof CONTROL_OUTCOMES)[number];

export interface CallControl {
  readonly callId: string;
  readonly command: ControlCommand;
}

/** What a call that continues another one keeps of such commands. */
export interface ContinuedControl {
  readonly isMuted: boolean;
  /** Notes for the LLM, the oldest first. */
  readonly context: readonly string[];
  /** What the caller has said to the muted agent since its last answer. */
  readonly unanswered: string;
  /** Texts that were to be said, the next one first. */
  readonly unspoken: readonly string[];
}

export const NOT_CONTROLLED: ContinuedControl = {
  isMuted: false,
  context: [],
  unanswered: "",
  unspoken: [],
};

/** The longest that people enter is a card number with its date; this is twice that. */
export const DTMF_DIGITS_MAX = 40;
export const DTMF_DIGITS = /^[0-9*#A-D]+$/;
/** The end of what a caller says to a muted agent is kept for its next answer; the transcript has all of it. */
export const UNANSWERED_CHARS_MAX = 4_000;
/** Some minute and a half of speech. */
export const SAY_CHARS_MAX = 1_000;
/** Texts that wait until the agent or the caller has finished speaking. */
export const SAY_WAITING_MAX = 3;
/** Those, and the one that is being said. */
export const UNSPOKEN_MAX = SAY_WAITING_MAX + 1;
/** One note. */
export const CONTEXT_NOTE_CHARS_MAX = 2_000;
/** All notes of a call together; the oldest give way. */
export const CONTEXT_CHARS_MAX = 8_000;
