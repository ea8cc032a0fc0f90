import type { CallChannel, CallMetrics } from "../../storage/records.js";
import type { BargeIn, EndOfTurn } from "../conversation/reasons.js";

/** What the caller or the agent says; for the agent the whole turn so far. */
export interface TranscriptWords {
  readonly role: "user" | "assistant";
  readonly text: string;
  /** The caller's final transcript; the agent's words as far as they were heard. */
  readonly isFinal: boolean;
}

/** The state of a call that a new watcher receives first. */
export interface PresentCall {
  /** What was said and is in no stored turn yet, in place of all words that were sent before. */
  readonly words: readonly TranscriptWords[];
  readonly isMuted: boolean;
}

/** What happens in a call, for its watchers. */
export type CallEvent =
  | {
      readonly type: "began";
      readonly callId: string;
      readonly agentId: string;
      readonly channel: CallChannel;
      /** Epoch milliseconds. */
      readonly startedAtMs: number;
    }
  | ({ readonly type: "words"; readonly callId: string } & TranscriptWords)
  | ({ readonly type: "present"; readonly callId: string } & PresentCall)
  /** The agent was muted, or may speak again. */
  | { readonly type: "muted"; readonly callId: string; readonly isMuted: boolean }
  | CallAudio
  /** A barge-in decision about the agent's turn that is playing; a bounded number per turn. */
  | ({ readonly type: "bargeIn"; readonly callId: string; readonly turn: number } & BargeIn)
  /** Why the caller's turn ended that the agent's turn answers. */
  | ({ readonly type: "endOfTurn"; readonly callId: string; readonly turn: number } & EndOfTurn)
  /** A turn is over and stored. */
  | { readonly type: "turn"; readonly callId: string; readonly metrics: CallMetrics }
  /** The call is over and stored. */
  | {
      readonly type: "ended";
      readonly callId: string;
      readonly status: "completed" | "failed";
      readonly endReason: string;
    };

/** A piece of the sound of a call, for those who listen in. */
export interface CallAudio {
  readonly type: "audio";
  readonly callId: string;
  readonly sampleRateHz: number;
  /** µ-law in base64, a sample of the caller and one of the agent in turn; empty in the last. */
  readonly audio: string;
  /** The call is over. */
  readonly isLast: boolean;
}

/** The subject of events: an organization's calls, or one call with its words. */
export type CallTopic = string;

export function callsTopic(orgId: string): CallTopic {
  return orgId;
}

/** Includes the organization: no other one gets events of the call, whatever id it requests. */
export function callTopic(orgId: string, callId: string): CallTopic {
  return `${orgId}/${callId}`;
}

/** The sound of the call. */
export function audioTopic(orgId: string, callId: string): CallTopic {
  return `${orgId}/${callId}/audio`;
}

export interface Subscription {
  readonly topic: CallTopic;
  /** False when the last subscriber has left. */
  readonly isWanted: boolean;
}

export interface PublishedEvent {
  readonly topic: CallTopic;
  readonly event: CallEvent;
}

/** Publishes events to subscribers in other processes and at other servers, and takes theirs. */
export interface CallEventBus {
  /** Whether the topic has a subscriber elsewhere. */
  hasSubscribers(topic: CallTopic): boolean;
  subscribe(subscription: Subscription): void;
  publish(published: PublishedEvent): void;
  /** Sets the receiver of events from elsewhere; called once. */
  onEvent(receive: (published: PublishedEvent) => void): void;
  /** Sets the callback for the first subscriber elsewhere; called once. */
  onSubscribed(notify: (topic: CallTopic) => void): void;
}
