import type { CallTopic } from "../calls/call-events.js";
import type { BreakerEvent } from "../vendors/chain/breakers.js";
import type { Handlers } from "./ipc-link.js";
import type {
  CallEnding,
  Elsewhere,
  PlacedCallReport,
  PrimaryRequests,
  PublishedEvent,
  Subscription,
} from "./ipc-messages.js";

/** What is good for one use only, and what is known of a call before its stream begins. */
export type TokenHandlers = Pick<
  Handlers<PrimaryRequests>,
  | "useNonce"
  | "answerWebhook"
  | "takeToken"
  | "tokenOpened"
  | "giveTokenBack"
  | "mintUuid"
  | "redeemUuid"
  | "keepCallInfo"
  | "findCallInfo"
>;

/** The other servers of this box's database, as the owner of the box uses them: what must be one for all of them. */
export interface OtherNodes {
  readonly tokens: TokenHandlers;
  /** An operator wants no new calls here. */
  readonly isDraining: boolean;
  /** Where the next caller is best sent; undefined where one address serves all. */
  readonly streamAddress: string | undefined;
  /** Whether another node takes callers who come by the address that all nodes share. */
  readonly othersTake: boolean;
  /** Where the next caller is best sent but here; undefined when no other node takes callers. */
  readonly elsewhere: Elsewhere | undefined;
  /** Tells the others to send no more callers here. Settles soon also where the database is away; never rejects. */
  stopTaking(): Promise<void>;
  takeSlot(slot: PrimaryRequests["takeSlot"]["asks"]): Promise<boolean>;
  freeSlots(callIds: readonly string[]): void;
  countSlots(orgId: string): Promise<number>;
  isRinging(callId: string): Promise<boolean>;
  /** The call is this box's from then on, with its slot; undefined when it waits nowhere. */
  handOver(
    call: PrimaryRequests["handOver"]["asks"],
  ): Promise<PrimaryRequests["handOver"]["answers"]>;
  /** The call's slot, and with it what is told of the call, is that node's from now on; never rejects. */
  giveSlot(callId: string, to: string): Promise<void>;
  /** Tells the others that what they keep in memory may be out of date; never rejects. */
  recordsChanged(): Promise<void>;
  /** False when no other node has the call. */
  report(report: PlacedCallReport): Promise<boolean>;
  /** False when no other node has the call. */
  endCall(call: CallEnding): Promise<boolean>;
  /** Whether another node has the call; rejects where the one that should have it does not answer. */
  hasCall(callId: string): Promise<boolean>;
  /** A session process of the box begins to watch. */
  watch(topic: CallTopic): void;
  /** To those of the others that watch it. */
  publish(sent: PublishedEvent): void;
  /** To all others. */
  tellOfBreaker(news: BreakerEvent): void;
}

/** A placed call that goes to another node. */
export type GivenCall = PrimaryRequests["handOver"]["asks"] & { readonly to: string };

/** What the other nodes may ask of this box. */
export interface NodeRequests {
  readonly isRinging: PrimaryRequests["isRinging"];
  readonly handOver: {
    readonly asks: GivenCall;
    readonly answers: PrimaryRequests["handOver"]["answers"];
  };
  readonly report: PrimaryRequests["report"];
  readonly endCall: PrimaryRequests["endCall"];
  readonly hasCall: PrimaryRequests["hasCall"];
}

/** What the box watches of the others' calls, and they of its own. */
export interface LocalEvents {
  readonly watchedTopics: () => readonly CallTopic[];
  /** Another node wants to be told, or none any more. */
  readonly onWanted: (wanted: Subscription) => void;
  readonly onEvent: (sent: PublishedEvent) => void;
}

/** What the box knows of credentials, and what others have found out. */
export interface LocalBreakers {
  /** News of breakers that are not closed; the newest at the end. */
  readonly known: () => readonly BreakerEvent[];
  readonly onBreakers: (all: readonly BreakerEvent[]) => void;
}

/** The box as the others see it. */
export interface LocalServer {
  readonly handlers: Handlers<NodeRequests>;
  readonly callCount: number;
  readonly isTaking: boolean;
  /** Whether a session process of the box has the call, or asks for its slot. */
  holds(callId: string): boolean;
  readonly news: LocalEvents;
  readonly breakers: LocalBreakers;
  /** Another server has changed what this box may keep in memory. */
  recordsChanged(): void;
}
