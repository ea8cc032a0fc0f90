import type { CallChannel, CallMetrics } from "../../storage/records.js";

/** What the caller or the agent says; of the agent all that was said of the turn so far. */
export interface SaidWords {
  readonly role: "user" | "assistant";
  readonly text: string;
  /** The caller's words as understood; the agent's as far as they were heard. */
  readonly isFinal: boolean;
}

/** What happens in a call, as who watches it is told. */
export type CallEvent =
  | {
      readonly type: "began";
      readonly callId: string;
      readonly agentId: string;
      readonly channel: CallChannel;
      /** Epoch milliseconds. */
      readonly startedAtMs: number;
    }
  | ({ readonly type: "words"; readonly callId: string } & SaidWords)
  /** What was said and is in no stored turn yet, in place of all words that were told before. */
  | { readonly type: "present"; readonly callId: string; readonly words: readonly SaidWords[] }
  /** A turn is over and stored. */
  | { readonly type: "turn"; readonly callId: string; readonly metrics: CallMetrics }
  /** The call is over and stored. */
  | {
      readonly type: "ended";
      readonly callId: string;
      readonly status: "completed" | "failed";
      readonly endReason: string;
    };

/** What news are about: the calls of an organization, or one of them with its words. */
export type CallTopic = string;

export function callsTopic(orgId: string): CallTopic {
  return orgId;
}

/** Names the organization, too: nobody else hears of the call, whatever id is asked for. */
export function callTopic(orgId: string, callId: string): CallTopic {
  return `${orgId}/${callId}`;
}

/** The way to who watches from another process of the box. */
export interface CallEventBus {
  /** Whether somebody elsewhere wants to be told. */
  isWanted(topic: CallTopic): boolean;
  /** Somebody here wants to be told, or one more does, or nobody any more. */
  want(topic: CallTopic, isWanted: boolean): void;
  send(topic: CallTopic, news: CallEvent): void;
  /** Where news from elsewhere go; set once. */
  onEvent(receive: (topic: CallTopic, news: CallEvent) => void): void;
  /** Who is told that somebody elsewhere begins to want the news of a topic; set once. */
  onWanted(tell: (topic: CallTopic) => void): void;
}
