/** A worker's access to the state of its primary. */

import { CallSlots, type Slots } from "../calls/admission.js";
import type {
  CallEventBus,
  CallTopic,
  PublishedEvent,
  Subscription,
} from "../calls/call-events.js";
import type { LiveCall } from "../calls/live-calls.js";
import type { OutboundCalls } from "../calls/outbound/outbound-calls.js";
import type {
  MachineDetection,
  OutboundReport,
  PlacedCalls,
} from "../calls/outbound/placed-calls.js";
import type { OutboundClaims, OutboundTokens } from "../security/outbound-token.js";
import type {
  Redeemed,
  StreamClaims,
  StreamPresented,
  StreamTokenRegistry,
  StreamTokens,
} from "../security/stream-token.js";
import type { CallInfo } from "../telephony/call-info.js";
import type { BreakerEvent, BreakerExchange } from "../vendors/chain/breakers.js";
import type { Handlers } from "./ipc-link.js";
import type { PrimaryLink, WorkerRequests } from "./ipc-messages.js";

/** Shares breakers with other processes through the primary. */
export class WorkerBreakers implements BreakerExchange {
  readonly #primary: PrimaryLink;
  #receive: (event: BreakerEvent) => void = () => {};

  constructor(primary: PrimaryLink) {
    this.#primary = primary;
  }

  publish(event: BreakerEvent): void {
    this.#primary.notify("publishBreaker", event);
  }

  onEvent(receive: (event: BreakerEvent) => void): void {
    this.#receive = receive;
    this.#primary.notify("subscribeBreakers", undefined);
  }

  /** Handles the primary's messages. */
  get handlers(): Pick<Handlers<WorkerRequests>, "breakers"> {
    return {
      breakers: (events) => {
        for (const event of events) this.#receive(event);
      },
    };
  }
}

/** Events of calls between the workers of a server, through the primary; only for topics with subscribers elsewhere. */
export class WorkerEventBus implements CallEventBus {
  readonly #primary: PrimaryLink;
  readonly #subscribedTopics = new Set<CallTopic>();
  #receive: (published: PublishedEvent) => void = () => {};
  #notify: (topic: CallTopic) => void = () => {};

  constructor(primary: PrimaryLink) {
    this.#primary = primary;
  }

  hasSubscribers(topic: CallTopic): boolean {
    return this.#subscribedTopics.has(topic);
  }

  subscribe(subscription: Subscription): void {
    this.#primary.notify("subscribe", subscription);
  }

  publish(published: PublishedEvent): void {
    this.#primary.notify("publish", published);
  }

  onEvent(receive: (published: PublishedEvent) => void): void {
    this.#receive = receive;
  }

  onSubscribed(notify: (topic: CallTopic) => void): void {
    this.#notify = notify;
  }

  /** Handles the primary's messages. */
  get handlers(): Pick<Handlers<WorkerRequests>, "subscribed" | "published"> {
    return {
      subscribed: ({ topic, isWanted }) => {
        if (!isWanted) {
          this.#subscribedTopics.delete(topic);
          return;
        }
        this.#subscribedTopics.add(topic);
        this.#notify(topic);
      },
      published: (published) => this.#receive(published),
    };
  }
}

/**
 * The call slots of a worker: the primary counts them for the server, and this class knows which of them are this
 * worker's.
 */
export class WorkerCallSlots implements Slots {
  readonly #primary: PrimaryLink;
  readonly #own = new CallSlots();

  constructor(primary: PrimaryLink) {
    this.#primary = primary;
  }

  async acquire(
    orgId: string,
    callId: string,
    callsMax: number,
    replaces?: string,
  ): Promise<boolean> {
    const isTaken = await this.#primary.request("takeSlot", { orgId, callId, callsMax, replaces });
    if (isTaken) this.adopt(orgId, callId);
    return isTaken;
  }

  release(callId: string): void {
    if (this.forget(callId)) this.#primary.notify("freeSlots", [callId]);
  }

  countOf(orgId: string): Promise<number> {
    return this.#primary.request("countSlots", orgId);
  }

  get count(): number {
    return this.#own.count;
  }

  get orgIds(): readonly string[] {
    return this.#own.orgIds;
  }

  callsOf(orgId: string): readonly string[] {
    return this.#own.callsOf(orgId);
  }

  reconcile(isAlive: (callId: string) => boolean): number {
    const dead = this.orgIds.flatMap((orgId) => this.callsOf(orgId)).filter((id) => !isAlive(id));
    for (const callId of dead) this.release(callId);
    return dead.length;
  }

  /** The primary already knows that the call is this worker's. */
  adopt(orgId: string, callId: string): void {
    this.#own.acquire(orgId, callId, Number.POSITIVE_INFINITY);
  }

  /** The primary already knows that the call is another worker's. False if it was not this one's. */
  forget(callId: string): boolean {
    const before = this.#own.count;
    this.#own.release(callId);
    return this.#own.count < before;
  }
}

export interface WorkerPlacedCallsOptions {
  readonly own: OutboundCalls;
  readonly tokens: OutboundTokens;
  readonly slots: WorkerCallSlots;
  readonly primary: PrimaryLink;
}

/** Placed calls of a server: the answer, the stream and the reports of one may each arrive at another worker. */
export class WorkerPlacedCalls implements PlacedCalls {
  readonly #options: WorkerPlacedCallsOptions;
  /** Calls that are moving to this worker; reports on them wait. */
  readonly #arriving = new Map<string, Promise<unknown>>();

  constructor(options: WorkerPlacedCallsOptions) {
    this.#options = options;
  }

  async answering(token: string): Promise<OutboundClaims | undefined> {
    const { own, tokens, primary } = this.#options;
    const claims = tokens.verify(token);
    if (claims === undefined || own.isRinging(claims.callId)) return claims;
    return (await primary.request("isRinging", claims.callId)) ? claims : undefined;
  }

  async connect<Session extends LiveCall>(
    callId: string,
    orgId: string,
    open: (callInfo: CallInfo | undefined, detection: MachineDetection) => Promise<Session>,
  ): Promise<Session | undefined> {
    if (!this.#options.own.isRinging(callId)) await this.#fetch(callId, orgId);
    return this.#options.own.connect(callId, orgId, open);
  }

  async report(token: string, report: OutboundReport): Promise<boolean> {
    const { own, tokens, primary } = this.#options;
    const claims = tokens.verify(token);
    if (claims === undefined) return false;
    const { callId } = claims;
    await this.#arriving.get(callId);
    if (!own.holds(callId) && (await primary.request("report", { claims, report }))) return true;
    // It may have started to move here.
    await this.#arriving.get(callId);
    own.take(claims, report);
    const current = await own.continuationOf(claims, report);
    if (current === undefined) return true;
    const isElsewhere = !own.holds(current.callId);
    if (isElsewhere && (await primary.request("report", { claims: current, report }))) return true;
    own.take(current, report);
    return true;
  }

  /** Handles other workers' requests. */
  get handlers(): Pick<Handlers<WorkerRequests>, "isRinging" | "handOver" | "report"> {
    const { own, slots } = this.#options;
    return {
      isRinging: (callId) => own.isRinging(callId),
      handOver: ({ callId, orgId }) => {
        const handed = own.handOver(callId, orgId);
        if (handed !== undefined) slots.forget(callId);
        return handed;
      },
      // Synchronously if there is nothing to wait for: the next request may be to hand this call
      // over, with its newest state.
      report: ({ claims, report }) => {
        const take = () => {
          own.take(claims, report);
          return true;
        };
        return this.#arriving.get(claims.callId)?.then(take) ?? take();
      },
    };
  }

  async #fetch(callId: string, orgId: string): Promise<void> {
    // The second of two streams of one call is too late.
    if (this.#arriving.has(callId)) return;
    const arrival = this.#adopt(callId, orgId);
    this.#arriving.set(
      callId,
      arrival.catch(() => undefined),
    );
    try {
      await arrival;
    } finally {
      this.#arriving.delete(callId);
    }
  }

  async #adopt(callId: string, orgId: string): Promise<void> {
    const { own, slots, primary } = this.#options;
    const handed = await primary.request("handOver", { callId, orgId });
    if (handed === undefined) return;
    slots.adopt(orgId, callId);
    own.adopt(handed);
  }
}

/** Stream tokens of a worker: each is valid for one stream of the server. */
export class WorkerStreamTokens implements StreamTokenRegistry {
  readonly #tokens: StreamTokens;
  readonly #primary: PrimaryLink;

  constructor(tokens: StreamTokens, primary: PrimaryLink) {
    this.#tokens = tokens;
    this.#primary = primary;
  }

  mint(claims: StreamClaims): string {
    return this.#tokens.mint(claims);
  }

  async redeem(token: string, presented: StreamPresented = {}): Promise<Redeemed> {
    const read = this.#tokens.read(token, presented);
    if (read.refusal !== undefined) return read;
    const refusal = await this.#primary.request("useNonce", read.nonce);
    return refusal === undefined ? { claims: read.claims } : { refusal };
  }
}
