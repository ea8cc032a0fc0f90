import type { RelayedOutcome, RelayedRequest } from "../../storage/statements/relayed-store.js";
import type { StoreCondition } from "../../storage/statements/statement-port.js";
import type { CallEvent, CallTopic } from "../calls/call-events.js";
import type { HandedOver, OutboundReport } from "../calls/outbound/placed-calls.js";
import type { Ending } from "../conversation/call-end.js";
import type { Metric } from "../metrics/cluster-metrics.js";
import type { OutboundClaims } from "../security/outbound-token.js";
import type { StreamClaims, TokenRefusal } from "../security/stream-token.js";
import type { UsedToken } from "../security/token-uses.js";
import type { CallInfo, CallInfoKey } from "../telephony/call-info.js";
import type { BreakerEvent } from "../vendors/chain/breakers.js";
import type { Link } from "./ipc-link.js";

/** What is limited by how often it is done, counted over the box. */
export type LimitName = "auth" | "general" | "vendor" | "voice" | "webhook";

/** How a session process fares, as far as the others have to know. */
export interface WorkerState {
  /** Would take a call, were it not late. */
  readonly isServing: boolean;
  /** Its event loop is late: callers in progress come first. */
  readonly isLate: boolean;
}

/** How often a session process sends a heartbeat to the owner. */
export const HEARTBEAT_MS = 1_000;

export interface Heartbeat {
  /** A debugger is attached: the process may stand still at a breakpoint for as long as a person thinks. */
  readonly isDebugged: boolean;
}

/** The box as each of its session processes sees it. */
export interface ClusterState {
  readonly callCount: number;
  /** Names of the session processes that take calls. */
  readonly taking: readonly number[];
  /** An operator wants no new calls here. */
  readonly isDrained: boolean;
  /** Another server takes callers who come by the address that all of them share. */
  readonly otherServersTake: boolean;
}

/** Another server that takes callers. */
export interface Elsewhere {
  /** Undefined where one address serves all. */
  readonly address: string | undefined;
}

/** What a session process asks of the owner, which has what must be one for the box. */
export interface PrimaryRequests {
  readonly takeSlot: {
    readonly asks: {
      readonly orgId: string;
      readonly callId: string;
      readonly callsMax: number;
      /** The call that this one goes on with, whose slot it takes. */
      readonly replaces?: string | undefined;
    };
    readonly answers: boolean;
  };
  /** The asker has changed what others keep in memory; answered when the others of the box know. */
  readonly recordsChanged: { readonly asks: undefined; readonly answers: void };
  readonly freeSlot: { readonly asks: string; readonly answers: void };
  readonly countSlots: { readonly asks: string; readonly answers: number };
  /** Where the next caller's stream is best sent; undefined where one address serves all. */
  readonly streamAddress: { readonly asks: undefined; readonly answers: string | undefined };
  /** Undefined when no other server takes callers. */
  readonly elsewhere: { readonly asks: undefined; readonly answers: Elsewhere | undefined };
  /** The seconds to wait; 0 when the use is within the limit. */
  readonly use: {
    readonly asks: { readonly limit: LimitName; readonly key: string };
    readonly answers: number;
  };
  readonly useNonce: { readonly asks: string; readonly answers: TokenRefusal | undefined };
  /** `answer` is the one that this webhook gets unless it has got one already. */
  readonly answerWebhook: {
    readonly asks: { readonly id: string; readonly isUnique: boolean; readonly answer: string };
    readonly answers: string | undefined;
  };
  /** Why a page's token opens nothing; undefined when it is taken. */
  readonly takeToken: {
    readonly asks: UsedToken & { readonly historyKey: string | undefined };
    readonly answers: string | undefined;
  };
  readonly tokenOpened: {
    readonly asks: UsedToken & { readonly historyKey: string };
    readonly answers: void;
  };
  readonly giveTokenBack: { readonly asks: UsedToken; readonly answers: void };
  readonly mintUuid: { readonly asks: StreamClaims; readonly answers: string };
  readonly redeemUuid: { readonly asks: string; readonly answers: StreamClaims | undefined };
  readonly keepCallInfo: {
    readonly asks: { readonly call: CallInfoKey; readonly info: CallInfo };
    readonly answers: void;
  };
  readonly findCallInfo: { readonly asks: CallInfoKey; readonly answers: CallInfo | undefined };
  /** Whether a placed call still waits for its answer, wherever it was placed. */
  readonly isRinging: { readonly asks: string; readonly answers: boolean };
  /** The placed call becomes the asker's, with its slot; undefined when it waits nowhere. */
  readonly handOver: {
    readonly asks: { readonly callId: string; readonly orgId: string };
    readonly answers: HandedOver | undefined;
  };
  /** False when no other session process has the call. */
  readonly report: { readonly asks: PlacedCallReport; readonly answers: boolean };
  /** To whichever other process has the call; false where none has it. */
  readonly endCall: { readonly asks: CallEnding; readonly answers: boolean };
  /** Whether another process, of this box or of another server, has the call. */
  readonly hasCall: { readonly asks: string; readonly answers: boolean };
  /** Somebody at the asker's watches that, or nobody any more. */
  readonly subscribe: { readonly asks: Subscription; readonly answers: void };
  readonly news: { readonly asks: PublishedEvent; readonly answers: void };
  /** The asker has opened or closed a breaker, or tries it. */
  readonly breaker: { readonly asks: BreakerEvent; readonly answers: void };
  /** Wants to be told of the breakers that are not closed, and of all from now on. */
  readonly wantBreakers: { readonly asks: undefined; readonly answers: void };
  /** The metrics of the whole box as text. */
  readonly metrics: { readonly asks: undefined; readonly answers: string };
  /** It listens, on this port. */
  readonly started: { readonly asks: number; readonly answers: void };
  readonly state: { readonly asks: WorkerState; readonly answers: void };
  /** A heartbeat of the asker's event loop, from its first moment on. */
  readonly heartbeat: { readonly asks: Heartbeat; readonly answers: void };
  /** Runs statements on the database. */
  readonly store: { readonly asks: RelayedRequest; readonly answers: RelayedOutcome };
  readonly lookAtStore: { readonly asks: undefined; readonly answers: StoreCondition };
}

/** What the owner asks of a session process. */
export interface WorkerRequests {
  readonly isRinging: { readonly asks: string; readonly answers: boolean };
  readonly handOver: {
    readonly asks: { readonly callId: string; readonly orgId: string };
    readonly answers: HandedOver | undefined;
  };
  readonly report: { readonly asks: PlacedCallReport; readonly answers: void };
  readonly endCall: { readonly asks: CallEnding; readonly answers: void };
  /** Somebody of the box watches that, or nobody any more. */
  readonly subscribed: { readonly asks: Subscription; readonly answers: void };
  readonly news: { readonly asks: PublishedEvent; readonly answers: void };
  /** What others have found out of credentials. */
  readonly breakers: { readonly asks: readonly BreakerEvent[]; readonly answers: void };
  readonly metrics: { readonly asks: undefined; readonly answers: readonly Metric[] };
  /** What is kept in memory may be out of date. */
  readonly recordsChanged: { readonly asks: undefined; readonly answers: void };
  readonly box: { readonly asks: ClusterState; readonly answers: void };
  /** Drains, then ends; in so many milliseconds at most. */
  readonly stop: { readonly asks: number; readonly answers: void };
  readonly endAll: { readonly asks: undefined; readonly answers: void };
}

export interface CallEnding {
  readonly callId: string;
  readonly ending: Ending;
}

export interface Subscription {
  readonly topic: CallTopic;
  readonly isWanted: boolean;
}

export interface PublishedEvent {
  readonly topic: CallTopic;
  readonly news: CallEvent;
}

export interface PlacedCallReport {
  readonly claims: OutboundClaims;
  readonly report: OutboundReport;
}

/** The owner's side of its link with a session process. */
export type WorkerLink = Link<WorkerRequests, PrimaryRequests>;
/** A session process's side. */
export type PrimaryLink = Pick<Link<PrimaryRequests, WorkerRequests>, "ask" | "tell">;
