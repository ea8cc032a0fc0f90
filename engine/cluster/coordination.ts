/** What must be one for all workers of a server, and for all servers of a database: each such thing is declared here, once. */

import type { CallTopic, PublishedEvent, Subscription } from "../calls/call-events.js";
import type { HandedOver, OutboundReport } from "../calls/outbound/placed-calls.js";
import type { Ending } from "../conversation/call-end.js";
import type { CallControl, ControlOutcome } from "../conversation/control-command.js";
import type { OutboundClaims } from "../security/outbound-token.js";
import type { StreamClaims, TokenRefusal } from "../security/stream-token.js";
import type { UsedToken } from "../security/token-uses.js";
import type { CallInfo, CallInfoKey } from "../telephony/call-info.js";
import type { MaybePromise } from "../time/maybe-promise.js";
import type { BreakerEvent } from "../vendors/chain/breakers.js";
import type { Handlers, RequestsOf } from "./ipc-link.js";

export interface SlotRequest {
  readonly orgId: string;
  readonly callId: string;
  readonly callsMax: number;
  /** The call that this one goes on with, whose slot it takes. */
  readonly replaces?: string | undefined;
}

/** A placed call that waits for its answer. */
export interface RingingCall {
  readonly callId: string;
  readonly orgId: string;
}

export interface PlacedCallReport {
  readonly claims: OutboundClaims;
  readonly report: OutboundReport;
}

export interface CallEnding {
  readonly callId: string;
  readonly ending: Ending;
}

/** Another server that takes callers. */
export interface AvailableServer {
  /** Undefined where one address serves all. */
  readonly address: string | undefined;
}

/** What a process that carries calls is asked about one of them. */
export interface CallHolder {
  /** Whether a placed call still waits for its answer. */
  isRinging(callId: string): MaybePromise<boolean>;
  /** The placed call becomes the asker's, with its slot; undefined when it does not wait. */
  handOver(call: RingingCall): MaybePromise<HandedOver | undefined>;
  /** Takes what the vendor says of a placed call; false when the call is not there. */
  report(report: PlacedCallReport): MaybePromise<boolean>;
  /** False when the call is not there. */
  endCall(call: CallEnding): MaybePromise<boolean>;
  /** `elsewhere` when the call is not there. */
  controlCall(call: CallControl): MaybePromise<ControlOutcome>;
}

/** One-use tokens, and the data of a call before its stream starts. */
export interface OneUseTokens {
  useNonce(nonce: string): MaybePromise<TokenRefusal | undefined>;
  /** Keeps `answer` for this webhook unless it has got one already, and returns the one that it gets. */
  answerWebhook(webhook: {
    readonly id: string;
    readonly isUnique: boolean;
    readonly answer: string;
  }): MaybePromise<string | undefined>;
  /** Why a page's token opens nothing; undefined when it is taken. */
  takeToken(
    token: UsedToken & { readonly historyKey: string | undefined },
  ): MaybePromise<string | undefined>;
  tokenOpened(token: UsedToken & { readonly historyKey: string }): void;
  releaseToken(token: UsedToken): void;
  mintUuid(claims: StreamClaims): MaybePromise<string>;
  redeemUuid(uuid: string): MaybePromise<StreamClaims | undefined>;
  keepCallInfo(kept: { readonly call: CallInfoKey; readonly info: CallInfo }): MaybePromise<void>;
  findCallInfo(call: CallInfoKey): MaybePromise<CallInfo | undefined>;
}

/**
 * As a `CallHolder` it asks whichever other process or server has the call. A worker reaches it by IPC messages, whose table
 * (`PrimaryRequests`) is made of its methods; the primary reaches other servers by their database (`Nodes`). A server of one
 * process that has its database for itself needs none.
 */
export interface Coordination extends CallHolder {
  /** False when the organization already has as many calls as `callsMax`. */
  takeSlot(slot: SlotRequest): MaybePromise<boolean>;
  freeSlots(callIds: readonly string[]): void;
  countSlots(orgId: string): MaybePromise<number>;
  /** Whether another process has the call; rejects where the one that should have it does not answer. */
  hasCall(callId: string): MaybePromise<boolean>;
  /** Where the next caller's stream is best sent; undefined where one address serves all. */
  streamAddress(): MaybePromise<string | undefined>;
  /** Undefined when no other server takes callers. */
  otherAvailableServer(): MaybePromise<AvailableServer | undefined>;
  /** Tells the others that what they keep in memory may be out of date; settles when they know. */
  recordsChanged(): MaybePromise<void>;
  subscribe(subscription: Subscription): void;
  /** To those that have subscribed to its topic. */
  publish(published: PublishedEvent): void;
  /** The asker has opened or closed a breaker, or tries it: to all others. */
  publishBreaker(event: BreakerEvent): void;
}

/** The other servers of this database, as the primary of a server uses them. */
export interface OtherNodes extends Coordination {
  readonly tokens: OneUseTokens;
  /** An operator wants no new calls here. */
  readonly isDraining: boolean;
  /** Whether another node takes callers who come by the address that all nodes share. */
  readonly othersAccept: boolean;
  /** Tells the others to send no more callers here. Settles soon also where the database is away; never rejects. */
  stopTaking(): Promise<void>;
  /** The call's slot, and with it the reports on the call, is that node's from now on; never rejects. */
  transferSlot(callId: string, to: string): Promise<void>;
}

/** A placed call that goes to another node. */
export type TransferredCall = RingingCall & { readonly to: string };

/** What the other nodes may ask of this server. */
interface NodeServices extends Omit<CallHolder, "handOver"> {
  handOver(call: TransferredCall): MaybePromise<HandedOver | undefined>;
  hasCall(callId: string): MaybePromise<boolean>;
}

export type NodeHandlers = Handlers<RequestsOf<NodeServices>>;

/** What this server watches of the others' calls, and they of its own. */
export interface LocalEvents {
  readonly watchedTopics: () => readonly CallTopic[];
  /** Another node begins to watch, or none does any more. */
  readonly onSubscription: (subscription: Subscription) => void;
  readonly onEvent: (published: PublishedEvent) => void;
}

/** What this server knows of credentials, and what others have found out. */
export interface LocalBreakers {
  /** Events of breakers that are not closed; the newest at the end. */
  readonly known: () => readonly BreakerEvent[];
  readonly onBreakers: (events: readonly BreakerEvent[]) => void;
}

/** This server as the others see it. */
export interface LocalServer {
  readonly handlers: NodeHandlers;
  readonly callCount: number;
  readonly isTaking: boolean;
  /** Whether a worker of this server has the call, or asks for its slot. */
  hasCall(callId: string): boolean;
  readonly events: LocalEvents;
  readonly breakers: LocalBreakers;
  /** Another server has changed what this one may keep in memory. */
  recordsChanged(): void;
}
