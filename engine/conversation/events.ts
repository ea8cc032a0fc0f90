import type { Category } from "../../storage/records.js";
import type { ToolCall } from "../vendors/contracts.js";
import type { Ending } from "./call-end.js";
import type { ControlCommand } from "./control-command.js";
import type { TimedWord } from "./playback-ledger.js";

interface At {
  /** When it happened, in ms on the call's own clock (0 = the call began). */
  readonly atMs: number;
}

export type OpenedEvent = At & {
  readonly type: "opened";
  /** The conversation continues an earlier session: there is no second greeting. */
  readonly resumed: boolean;
  /** Nobody of this kind can be had for the call. */
  readonly lost?: Category;
};
export type SpeechStartedEvent = At & {
  readonly type: "speechStarted";
  /** How long ago the server itself last heard a voice; left out where it never did. */
  readonly voiceAgoMs?: number | undefined;
};
/** The VAD has heard so much of a voice as a word is long; a voice that goes on is reported again for each such piece. */
export type VoiceHeardEvent = At & {
  readonly type: "voiceHeard";
  /** How long ago the piece began. */
  readonly beganAgoMs: number;
  /** How long ago the voice began that it is a piece of, without a pause since. */
  readonly voiceBeganAgoMs: number;
};
export type TranscriptEvent = At & {
  readonly type: "transcript";
  readonly text: string;
  readonly isFinal: boolean;
  readonly speechFinal: boolean;
  readonly lastWordEndMs: number | undefined;
  /** How long ago the caller stopped saying the last of these words, by the audio received since. */
  readonly endedAgoMs: number;
  /** How long ago the audio of these words had come, which may have been ahead of time; left out: when they ended. */
  readonly arrivedAgoMs?: number | undefined;
  /** The recognizer tells the end of the caller's turn by an event of its own. */
  readonly hasTurnDetection?: true;
  /** After so much silence it does so in any case; left out where that is not known. */
  readonly turnSilenceMaxMs?: number | undefined;
  /** How long ago the server itself last heard a voice; left out where it never did. */
  readonly voiceAgoMs?: number | undefined;
};
export type UtteranceEndEvent = At & {
  readonly type: "utteranceEnd";
  readonly lastWordEndMs: number;
  readonly endedAgoMs: number;
  /** How long ago the server itself last heard a voice; left out where it never did. */
  readonly voiceAgoMs?: number | undefined;
};
/** The recognizer, which decides turns, says that the caller's is over; its words were told before. */
export type CallerTurnEndedEvent = At & {
  readonly type: "callerTurnEnded";
  /** How long ago the server itself last heard a voice; left out where it never did. */
  readonly voiceAgoMs?: number | undefined;
};
/** The recognizer, which decides turns, thinks that the caller's is ending; its words were told before. */
export type CallerTurnEndingEvent = At & { readonly type: "callerTurnEnding" };
/** The caller goes on after all. */
export type CallerTurnResumedEvent = At & { readonly type: "callerTurnResumed" };
/** The organization's preemptive replies have used up the budget, so this one is not made. */
export type PreemptiveRefusedEvent = At & {
  readonly type: "preemptiveRefused";
  readonly turnId: number;
};
/** A key of the caller's telephone: 0-9, *, # or A-D. */
export type DigitEvent = At & { readonly type: "digit"; readonly digit: string };
/** What the caller has written in place of saying it: whole, and surely the own words. */
export type WrittenEvent = At & { readonly type: "written"; readonly text: string };
export type ListeningFailedEvent = At & { readonly type: "sttFailed" };
/** The earliest deadline of the call is due, and perhaps others with it. */
export type DeadlineReachedEvent = At & {
  readonly type: "deadlineReached";
  /** How long ago TTS gave the newest audio of the turn, where it has given some. */
  readonly ttsAudioAgoMs?: number | undefined;
  /** How long ago the server last heard a voice in the caller's audio; left out where it never did. */
  readonly voiceAgoMs?: number | undefined;
};

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
  /** The LLM's tool calls before it continues. */
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
export type SentencePlayedEvent = At & {
  readonly type: "sentencePlayed";
  readonly turnId: number;
  readonly index: number;
};
/** The server was too busy to send sound that it had: the caller heard nothing for so long, and hears the rest from now on. */
export type SoundLateEvent = At & { readonly type: "soundLate"; readonly lateMs: number };
/** The caller's client says how much of the turn's audio it has played by now, counted from its beginning. */
export type PlayedEvent = At & {
  readonly type: "played";
  readonly turnId: number;
  /** Never more than was sent of the turn. */
  readonly playedMs: number;
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
  /** What its voice has told of since, with times from the sentence's beginning; only from voices that tell. */
  readonly words?: readonly TimedWord[];
};
/** The last audio of a sentence has arrived; it may be the first report of it. */
export type SentenceWholeEvent = At & {
  readonly type: "sentenceWhole";
  readonly turnId: number;
  readonly index: number;
  readonly durationMs: number;
  readonly firstByteAtMs: number;
  readonly words?: readonly TimedWord[];
};
export type SentenceFailedEvent = At & {
  readonly type: "sentenceFailed";
  readonly turnId: number;
  readonly index: number;
  readonly retryable: boolean;
};
/** The agent's voice has said a phrase of its stock, which can be played at once from now on. */
export type PhraseReadyEvent = At & {
  readonly type: "phraseReady";
  readonly text: string;
  readonly durationMs: number;
  /** Where its words end, from voices that tell. */
  readonly words?: readonly TimedWord[];
};
/** The vendor has taken the call on, as the transfer that ended this turn asked; or has not. */
export type TransferStartedEvent = At & { readonly type: "transferTaken"; readonly turnId: number };
export type TransferRefusedEvent = At & {
  readonly type: "transferRefused";
  readonly turnId: number;
};
/** A person of the organization, or its program, asks something of the agent. */
export type ControlRequestedEvent = At & {
  readonly type: "controlRequested";
  readonly command: ControlCommand;
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
  | SentencePlayedEvent
  | PlayedEvent;

/** Everything that can happen to a call. Audio is not among it: it flows past, from the socket to the vendor. */
export type ConversationEvent =
  | OpenedEvent
  | SpeechStartedEvent
  | VoiceHeardEvent
  | TranscriptEvent
  | UtteranceEndEvent
  | CallerTurnEndedEvent
  | CallerTurnEndingEvent
  | CallerTurnResumedEvent
  | PreemptiveRefusedEvent
  | DigitEvent
  | WrittenEvent
  | ListeningFailedEvent
  | DeadlineReachedEvent
  | ControlRequestedEvent
  | EndRequestedEvent
  | TransferStartedEvent
  | TransferRefusedEvent
  | PhraseReadyEvent
  | SoundLateEvent
  | TurnEvent;
