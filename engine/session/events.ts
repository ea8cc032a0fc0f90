import type { ToolCall } from "../vendors/contracts.js";
import type { Ending } from "./ending.js";

/** One-shot timers of a call; starting one that runs restarts it. */
export type TimerName =
  | "silence"
  | "stall"
  /** More of a sentence must come before the caller has heard all there is. */
  | "growth"
  | "ahead"
  | "playback"
  | "phantom"
  | "duration"
  | "hold"
  | "digits";

interface At {
  /** When it happened, in ms on the call's own clock (0 = the call began). */
  readonly atMs: number;
}

export type OpenedEvent = At & {
  readonly type: "opened";
  /** The conversation goes on from an earlier session: no second greeting. */
  readonly resumed: boolean;
};
export type SpeechStartedEvent = At & { readonly type: "speechStarted" };
export type TranscriptEvent = At & {
  readonly type: "transcript";
  readonly text: string;
  readonly isFinal: boolean;
  readonly speechFinal: boolean;
  readonly lastWordEndMs: number | undefined;
  /** How long ago the caller stopped saying the last of these words, by the audio received since. */
  readonly endedAgoMs: number;
};
export type UtteranceEndEvent = At & {
  readonly type: "utteranceEnd";
  readonly lastWordEndMs: number;
  readonly endedAgoMs: number;
};
/** A key of the caller's telephone: 0-9, *, # or A-D. */
export type DigitEvent = At & { readonly type: "digit"; readonly digit: string };
export type ListeningFailedEvent = At & { readonly type: "listeningFailed" };
export type TimerFiredEvent = At & { readonly type: "timerFired"; readonly timer: TimerName };

/** What comes back from a vendor carries the turn that it was asked under: the answer to an older turn is dropped. */
export type ReplyTokenEvent = At & {
  readonly type: "replyToken";
  readonly turnId: number;
  readonly text: string;
};
export type ReplyDoneEvent = At & {
  readonly type: "replyDone";
  readonly turnId: number;
  readonly tokens: number;
  /** What the model asks to have done before it goes on. */
  readonly toolCalls?: readonly ToolCall[] | undefined;
};
export type ToolDoneEvent = At & {
  readonly type: "toolDone";
  readonly turnId: number;
  readonly callId: string;
  /** For the model. */
  readonly content: string;
  /** Said to the caller as it is, instead of being given to the model. */
  readonly spoken?: string | undefined;
};
/** The telephone says that the caller has heard this sentence to its end. */
export type SentenceHeardEvent = At & {
  readonly type: "sentenceHeard";
  readonly turnId: number;
  readonly index: number;
};
export type ReplyFailedEvent = At & {
  readonly type: "replyFailed";
  readonly turnId: number;
  readonly retryable: boolean;
};
/** There is more of a sentence's audio, and enough of it to begin playing. */
export type SentenceGrewEvent = At & {
  readonly type: "sentenceGrew";
  readonly turnId: number;
  readonly index: number;
  /** The length of all audio that has come so far. */
  readonly durationMs: number;
  readonly firstByteAtMs: number;
};
/** The last of a sentence's audio has come; it may be the first that is told of it. */
export type SentenceWholeEvent = At & {
  readonly type: "sentenceWhole";
  readonly turnId: number;
  readonly index: number;
  readonly durationMs: number;
  readonly firstByteAtMs: number;
};
export type SentenceFailedEvent = At & {
  readonly type: "sentenceFailed";
  readonly turnId: number;
  readonly index: number;
  readonly retryable: boolean;
};
export type EndRequestedEvent = At & { readonly type: "endRequested"; readonly ending: Ending };

export type TurnEvent =
  | ReplyTokenEvent
  | ReplyDoneEvent
  | ReplyFailedEvent
  | ToolDoneEvent
  | SentenceGrewEvent
  | SentenceWholeEvent
  | SentenceFailedEvent
  | SentenceHeardEvent;

/** Everything that can happen to a call. Audio is not among it: it flows past, from the socket to the vendor. */
export type SessionEvent =
  | OpenedEvent
  | SpeechStartedEvent
  | TranscriptEvent
  | UtteranceEndEvent
  | DigitEvent
  | ListeningFailedEvent
  | TimerFiredEvent
  | EndRequestedEvent
  | TurnEvent;
