import type { Category } from "../../storage/records.js";
import type { SpokenLanguage, ToolCall } from "../vendors/contracts.js";
import type { Ending } from "./call-end.js";
import type { ControlCommand } from "./control-command.js";
import type { TimedWord } from "./playback-ledger.js";

interface At {
  /** When it happened, in ms on the call's own clock (0 = the call began). */
  readonly atMs: number;
}

export type OpenedEvent = At & {
  readonly type: "opened";
  /** The conversation continues an earlier call: there is no second greeting. */
  readonly resumed: boolean;
  /** No vendor of this category is available for the call. */
  readonly lost?: Category;
};
export type SpeechStartedEvent = At & {
  readonly type: "speechStarted";
  /** How long ago the VAD last heard a voice; omitted if it never did. */
  readonly voiceAgoMs?: number | undefined;
};
/**
 * The VAD has heard as much voice as a short word has; a voice that continues is reported again for each such
 * piece.
 */
export type VoiceHeardEvent = At & {
  readonly type: "voiceHeard";
  /** How long ago the piece began. */
  readonly beganAgoMs: number;
  /** How long ago the continuous voice began that this piece belongs to. */
  readonly voiceBeganAgoMs: number;
};
export type TranscriptEvent = At & {
  readonly type: "transcript";
  readonly text: string;
  /** Omitted where STT does not tell. */
  readonly language?: SpokenLanguage | undefined;
  readonly isFinal: boolean;
  readonly speechFinal: boolean;
  readonly lastWordEndMs: number | undefined;
  /** How long ago the caller stopped saying the last of these words, by the audio received since. */
  readonly endedAgoMs: number;
  /** How long ago the audio of these words arrived, which may have been ahead of time; omitted: when they ended. */
  readonly arrivedAgoMs?: number | undefined;
  /** STT reports the end of the caller's turn with an event of its own. */
  readonly hasTurnDetection?: true;
  /** After this much silence STT reports it in any case; omitted if unknown. */
  readonly turnSilenceMaxMs?: number | undefined;
  /** How long ago the VAD last heard a voice; omitted if it never did. */
  readonly voiceAgoMs?: number | undefined;
};
export type UtteranceEndEvent = At & {
  readonly type: "utteranceEnd";
  readonly lastWordEndMs: number;
  readonly endedAgoMs: number;
  /** How long ago the VAD last heard a voice; omitted if it never did. */
  readonly voiceAgoMs?: number | undefined;
};
/** An STT with turn detection reports that the caller's turn is over; its words were reported before. */
export type CallerTurnEndedEvent = At & {
  readonly type: "callerTurnEnded";
  /** How long ago the VAD last heard a voice; omitted if it never did. */
  readonly voiceAgoMs?: number | undefined;
};
/** An STT with turn detection expects the caller's turn to end; its words were reported before. */
export type CallerTurnEndingEvent = At & { readonly type: "callerTurnEnding" };
/** The caller continues after all. */
export type CallerTurnResumedEvent = At & { readonly type: "callerTurnResumed" };
/** The organization's preemptive replies have used up the budget, so this one is not made. */
export type PreemptiveRefusedEvent = At & {
  readonly type: "preemptiveRefused";
  readonly turnId: number;
};
/** A DTMF digit from the caller: 0-9, *, # or A-D. */
export type DigitEvent = At & { readonly type: "digit"; readonly digit: string };
/** Text that the caller typed instead of speaking: complete, and certainly the caller's own. */
export type WrittenEvent = At & { readonly type: "written"; readonly text: string };
export type ListeningFailedEvent = At & { readonly type: "sttFailed" };
/** The earliest deadline of the call is due, and perhaps others with it. */
export type DeadlineReachedEvent = At & {
  readonly type: "deadlineReached";
  /** How long ago TTS returned the newest audio of the turn; omitted if it returned none. */
  readonly ttsAudioAgoMs?: number | undefined;
  /** How long ago the VAD last heard a voice; omitted if it never did. */
  readonly voiceAgoMs?: number | undefined;
};

/** Every result from a vendor carries the turn that requested it: results of older turns are dropped. */
export type ReplyTokenEvent = At & {
  readonly type: "replyToken";
  readonly turnId: number;
  readonly text: string;
};
/** The LLM's request has passages from documents of this length, besides the prompt and the conversation. */
export type PassagesAddedEvent = At & {
  readonly type: "passagesAdded";
  readonly turnId: number;
  readonly chars: number;
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
  /** Text for the LLM. */
  readonly content: string;
  /** Text that is spoken to the caller as it is, instead of going to the LLM. */
  readonly spoken?: string | undefined;
  /** It has not done what it was asked, and not for the LLM's arguments. */
  readonly isFailed?: boolean | undefined;
  readonly voiceAgoMs?: number | undefined;
};
/** The telephone reports that the caller has heard this sentence to its end. */
export type SentencePlayedEvent = At & {
  readonly type: "sentencePlayed";
  readonly turnId: number;
  readonly index: number;
};
/**
 * The server was too busy to send audio that it had: the caller heard nothing for `lateMs`, and hears the rest
 * from now on.
 */
export type SoundLateEvent = At & { readonly type: "soundLate"; readonly lateMs: number };
/** The caller's client reports how much of the turn's audio it has played, counted from its beginning. */
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
/** More audio of a sentence has arrived, enough to start playing. */
export type SentenceGrewEvent = At & {
  readonly type: "sentenceGrew";
  readonly turnId: number;
  readonly index: number;
  /** The length of all audio received so far. */
  readonly durationMs: number;
  readonly firstByteAtMs: number;
  /**
   * Words that TTS has timed since the last report, counted from the sentence's beginning; only from vendors that
   * report times.
   */
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
/** TTS has synthesized a stock phrase, which can be played immediately from now on. */
export type PhraseReadyEvent = At & {
  readonly type: "phraseReady";
  readonly text: string;
  readonly durationMs: number;
  /** Where its words end, if TTS reports times. */
  readonly words?: readonly TimedWord[];
};
/** The vendor accepted or refused the transfer that this turn requested. */
export type TransferStartedEvent = At & {
  readonly type: "transferTaken";
  readonly turnId: number;
  /** A warm transfer that the vendor or its account cannot make: the caller was handed on without a question. */
  readonly isBlind?: true;
};
export type TransferRefusedEvent = At & {
  readonly type: "transferRefused";
  readonly turnId: number;
};
/** A person of the organization, or its program, asks something of the agent. */
export type ControlRequestedEvent = At & {
  readonly type: "controlRequested";
  readonly command: ControlCommand;
};
/** The telephony vendor says who has answered a call that the agent has placed. */
export type AnswererDetectedEvent = At & {
  readonly type: "answererDetected";
  readonly verdict: AnswererVerdict;
  /** How long ago the VAD last heard a voice; omitted if it never did. */
  readonly voiceAgoMs?: number | undefined;
};
export interface AnswererVerdict {
  /** `unknown`: the vendor could not tell. */
  readonly answerer: "human" | "machine" | "fax" | "unknown";
  /** The machine's greeting is over: it records what is said from now on. */
  readonly isGreetingOver: boolean;
}
/** A tone has ended as answering machines play it before they record. */
export type BeepHeardEvent = At & { readonly type: "beepHeard" };
export type EndRequestedEvent = At & { readonly type: "endRequested"; readonly ending: Ending };

export type TurnEvent =
  | PassagesAddedEvent
  | ReplyTokenEvent
  | ReplyDoneEvent
  | ReplyFailedEvent
  | ToolDoneEvent
  | SentenceGrewEvent
  | SentenceWholeEvent
  | SentenceFailedEvent
  | SentencePlayedEvent
  | PlayedEvent;

/** Everything that can happen in a call. Audio is not an event: it goes from the socket straight to the vendor. */
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
  | AnswererDetectedEvent
  | BeepHeardEvent
  | TransferStartedEvent
  | TransferRefusedEvent
  | PhraseReadyEvent
  | SoundLateEvent
  | TurnEvent;
