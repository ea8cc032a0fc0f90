/**
 * State that is shared by all workers of a server, and by all servers of a database: each method is declared here,
 * once.
 */

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
  /** The call that this one continues, whose slot it takes. */
  readonly replaces?: string | undefined;
}

/** A placed call that is ringing. */
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

/** Another server that accepts callers. */
export interface AvailableServer {
  /** Undefined if all servers share one address. */
  readonly address: string | undefined;
}

/** Requests about a call to the process that carries it. */
export interface CallHolder {
  /** Whether a placed call is still ringing. */
  isRinging(callId: string): MaybePromise<boolean>;
  /** Moves the placed call to the requesting process, with its slot; undefined if it is not ringing. */
  handOver(call: RingingCall): MaybePromise<HandedOver | undefined>;
  /** Reports the vendor's status of a placed call; false if the call is not there. */
  report(report: PlacedCallReport): MaybePromise<boolean>;
  /** False if the call is not there. */
  endCall(call: CallEnding): MaybePromise<boolean>;
  /** `elsewhere` when the call is not there. */
  controlCall(call: CallControl): MaybePromise<ControlOutcome>;
}

/** One-use tokens, and the data of a call before its stream starts. */
export interface OneUseTokens {
  useNonce(nonce: string): MaybePromise<TokenRefusal | undefined>;
  /** Stores `answer` for this webhook unless one is stored already, and returns the stored one. */
  answerWebhook(webhook: {
    readonly id: string;
    readonly isUnique: boolean;
    readonly answer: string;
  }): MaybePromise<string | undefined>;
  /** Why a page's token is refused; undefined if it is accepted. */
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
 * As a `CallHolder` it asks the other process or server that has the call. A worker uses IPC messages, whose table
 * (`PrimaryRequests`) is derived from its methods; the primary reaches other servers through their database
 * (`Nodes`). A single-process server with its own database needs none.
 */
export interface Coordination extends CallHolder {
  /** False if the organization already has `callsMax` calls. */
  takeSlot(slot: SlotRequest): MaybePromise<boolean>;
  freeSlots(callIds: readonly string[]): void;
  countSlots(orgId: string): MaybePromise<number>;
  /** Whether another process has the call; rejects if the process that should have it does not answer. */
  hasCall(callId: string): MaybePromise<boolean>;
  /** The best address for the next caller's stream; undefined if all servers share one address. */
  streamAddress(): MaybePromise<string | undefined>;
  /** Undefined if no other server accepts callers. */
  otherAvailableServer(): MaybePromise<AvailableServer | undefined>;
  /** Notifies the others that their cached records may be out of date; resolves when they know. */
  recordsChanged(): MaybePromise<void>;
  subscribe(subscription: Subscription): void;
  /** Publishes to the subscribers of its topic. */
  publish(published: PublishedEvent): void;
  /** Notifies all others that this process has opened, closed or probed a breaker. */
  publishBreaker(event: BreakerEvent): void;
}

/** The other servers of this database, as the primary of a server uses them. */
export interface OtherNodes extends Coordination {
  readonly tokens: OneUseTokens;
  /** An operator has stopped new calls here. */
  readonly isDraining: boolean;
  /** Whether another node accepts callers at the address that all nodes share. */
  readonly othersAccept: boolean;
  /** Tells the others to send no more callers here. Resolves soon, even if the database is down; never rejects. */
  stopTaking(): Promise<void>;
  /** Moves the call's slot, and with it the reports on the call, to that node; never rejects. */
  transferSlot(callId: string, to: string): Promise<void>;
}

/** A placed call that moves to another node. */
export type TransferredCall = RingingCall & { readonly to: string };

/** What other nodes may request from this server. */
interface NodeServices extends Omit<CallHolder, "handOver"> {
  handOver(call: TransferredCall): MaybePromise<HandedOver | undefined>;
  hasCall(callId: string): MaybePromise<boolean>;
}

export type NodeHandlers = Handlers<RequestsOf<NodeServices>>;

/** Event subscriptions between this server and others. */
export interface LocalEvents {
  readonly watchedTopics: () => readonly CallTopic[];
  /** Another node has subscribed, or the last one has left. */
  readonly onSubscription: (subscription: Subscription) => void;
  readonly onEvent: (published: PublishedEvent) => void;
}

/** This server's breakers, and those that others report. */
export interface LocalBreakers {
  /** Events of breakers that are not closed; the newest is last. */
  readonly known: () => readonly BreakerEvent[];
  readonly onBreakers: (events: readonly BreakerEvent[]) => void;
}

/** This server as other nodes see it. */
export interface LocalServer {
  readonly handlers: NodeHandlers;
  readonly callCount: number;
  readonly isTaking: boolean;
  /** Whether a worker of this server has the call, or is requesting its slot. */
  hasCall(callId: string): boolean;
  readonly events: LocalEvents;
  readonly breakers: LocalBreakers;
  /** Another server has changed records that this one may have cached. */
  recordsChanged(): void;
}
