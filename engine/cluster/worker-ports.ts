/** A session process's ways to what the owner of its box has. */

import { CallSlots, type Slots } from "../calls/admission.js";
import type { CallEvent, CallEventBus, CallTopic } from "../calls/call-events.js";
import type { LiveCall } from "../calls/live-calls.js";
import type { OutboundCalls } from "../calls/outbound/outbound-calls.js";
import type { OutboundReport, PlacedCalls } from "../calls/outbound/placed-calls.js";
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
import type { PlacedCallReport, PrimaryLink, WorkerRequests } from "./ipc-messages.js";

/** A session process's way to those who use the same credentials, by way of the owner. */
export class WorkerBreakers implements BreakerExchange {
  readonly #owner: PrimaryLink;
  #receive: (news: BreakerEvent) => void = () => {};

  constructor(owner: PrimaryLink) {
    this.#owner = owner;
  }

  tell(news: BreakerEvent): void {
    this.#owner.tell("breaker", news);
  }

  onEvent(receive: (news: BreakerEvent) => void): void {
    this.#receive = receive;
    this.#owner.tell("wantBreakers", undefined);
  }

  /** What the owner tells this process. */
  get handlers(): Pick<Handlers<WorkerRequests>, "breakers"> {
    return {
      breakers: (all) => {
        for (const news of all) this.#receive(news);
      },
    };
  }
}

/** News of calls between the session processes of a box, by way of the owner; only of what somebody elsewhere watches. */
export class WorkerEventBus implements CallEventBus {
  readonly #owner: PrimaryLink;
  readonly #wanted = new Set<CallTopic>();
  #receive: (topic: CallTopic, news: CallEvent) => void = () => {};
  #tellWanted: (topic: CallTopic) => void = () => {};

  constructor(owner: PrimaryLink) {
    this.#owner = owner;
  }

  isWanted(topic: CallTopic): boolean {
    return this.#wanted.has(topic);
  }

  want(topic: CallTopic, isWanted: boolean): void {
    this.#owner.tell("subscribe", { topic, isWanted });
  }

  send(topic: CallTopic, news: CallEvent): void {
    this.#owner.tell("news", { topic, news });
  }

  onEvent(receive: (topic: CallTopic, news: CallEvent) => void): void {
    this.#receive = receive;
  }

  onWanted(tell: (topic: CallTopic) => void): void {
    this.#tellWanted = tell;
  }

  /** What the owner tells this process. */
  get handlers(): Pick<Handlers<WorkerRequests>, "subscribed" | "news"> {
    return {
      subscribed: ({ topic, isWanted }) => {
        if (!isWanted) {
          this.#wanted.delete(topic);
          return;
        }
        this.#wanted.add(topic);
        this.#tellWanted(topic);
      },
      news: ({ topic, news }) => this.#receive(topic, news),
    };
  }
}

/** The slots of a session process: its owner counts for the box, and here stands which of them are this process's. */
export class WorkerCallSlots implements Slots {
  readonly #owner: PrimaryLink;
  readonly #own = new CallSlots();

  constructor(owner: PrimaryLink) {
    this.#owner = owner;
  }

  async acquire(
    orgId: string,
    callId: string,
    callsMax: number,
    replaces?: string,
  ): Promise<boolean> {
    const isTaken = await this.#owner.ask("takeSlot", { orgId, callId, callsMax, replaces });
    if (isTaken) this.adopt(orgId, callId);
    return isTaken;
  }

  release(callId: string): void {
    if (this.forget(callId)) this.#owner.tell("freeSlot", callId);
  }

  countOf(orgId: string): Promise<number> {
    return this.#owner.ask("countSlots", orgId);
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

  /** The owner knows already that the call is this process's. */
  adopt(orgId: string, callId: string): void {
    this.#own.acquire(orgId, callId, Number.POSITIVE_INFINITY);
  }

  /** The owner knows already that the call is another process's. False when it was not this one's. */
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
  readonly owner: PrimaryLink;
}

/** Placed calls of the box: the answer, the stream and the reports of one may each come to another session process. */
export class WorkerPlacedCalls implements PlacedCalls {
  readonly #options: WorkerPlacedCallsOptions;
  /** Calls that are being handed over to this process: what is told of them waits. */
  readonly #arriving = new Map<string, Promise<unknown>>();

  constructor(options: WorkerPlacedCallsOptions) {
    this.#options = options;
  }

  async answering(token: string): Promise<OutboundClaims | undefined> {
    const { own, tokens, owner } = this.#options;
    const claims = tokens.verify(token);
    if (claims === undefined || own.isRinging(claims.callId)) return claims;
    return (await owner.ask("isRinging", claims.callId)) ? claims : undefined;
  }

  async connect<Session extends LiveCall>(
    callId: string,
    orgId: string,
    open: (callInfo: CallInfo | undefined) => Promise<Session>,
  ): Promise<Session | undefined> {
    if (!this.#options.own.isRinging(callId)) await this.#fetch(callId, orgId);
    return this.#options.own.connect(callId, orgId, open);
  }

  async report(token: string, report: OutboundReport): Promise<boolean> {
    const { own, tokens, owner } = this.#options;
    const claims = tokens.verify(token);
    if (claims === undefined) return false;
    const { callId } = claims;
    await this.#arriving.get(callId);
    if (!own.holds(callId) && (await owner.ask("report", { claims, report }))) return true;
    // It may be coming here since.
    await this.#arriving.get(callId);
    own.take(claims, report);
    return true;
  }

  /** What other session processes ask of this one. */
  get handlers(): Pick<Handlers<WorkerRequests>, "isRinging" | "handOver" | "report"> {
    const { own, slots } = this.#options;
    return {
      isRinging: (callId) => own.isRinging(callId),
      handOver: ({ callId, orgId }) => {
        const handed = own.handOver(callId, orgId);
        if (handed !== undefined) slots.forget(callId);
        return handed;
      },
      // At once where nothing is waited for: the next question may be to hand this call over, with what is known of it.
      report: ({ claims, report }: PlacedCallReport) => {
        const arrival = this.#arriving.get(claims.callId);
        if (arrival !== undefined) return arrival.then(() => own.take(claims, report));
        return own.take(claims, report);
      },
    };
  }

  async #fetch(callId: string, orgId: string): Promise<void> {
    // Two streams of one call: the second finds it gone, here as elsewhere.
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
    const { own, slots, owner } = this.#options;
    const handed = await owner.ask("handOver", { callId, orgId });
    if (handed === undefined) return;
    slots.adopt(orgId, callId);
    own.adopt(handed);
  }
}

/** Stream tokens of a session process: each is good for one stream of the box. */
export class WorkerStreamTokens implements StreamTokenRegistry {
  readonly #tokens: StreamTokens;
  readonly #owner: PrimaryLink;

  constructor(tokens: StreamTokens, owner: PrimaryLink) {
    this.#tokens = tokens;
    this.#owner = owner;
  }

  mint(claims: StreamClaims): string {
    return this.#tokens.mint(claims);
  }

  async redeem(token: string, presented: StreamPresented = {}): Promise<Redeemed> {
    const read = this.#tokens.read(token, presented);
    if (read.refusal !== undefined) return read;
    const refusal = await this.#owner.ask("useNonce", read.nonce);
    return refusal === undefined ? { claims: read.claims } : { refusal };
  }
}
