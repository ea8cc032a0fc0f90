import type { Database } from "../../storage/database.js";
import type { Logger } from "../log.js";
import type { Metric } from "../metrics/box-metrics.js";
import type { CancelTimer, Clock } from "../time/clock.js";
import type { Soon } from "../time/soon.js";
import type {
  BoxState,
  CallEnding,
  LimitName,
  MemberLink,
  MemberQuestions,
  MemberState,
  OwnerQuestions,
  PlacedCallReport,
} from "./box-questions.js";
import { BreakerDesk } from "./breaker-desk.js";
import { tellRecordsChanged } from "./change-round.js";
import { type Handlers, Link, type Parcel } from "./link.js";
import { boxMetricsPage } from "./metrics-round.js";
import { NewsDesk } from "./news-desk.js";
import type { NodeBox, OtherNodes, TokenHandlers } from "./other-nodes.js";
import { boxTokens } from "./owner-tokens.js";
import { SlotLedger } from "./slot-ledger.js";

/** How old what the session processes know of each other may be. */
const STATE_MS = 250;

export interface BoxOwnerOptions {
  readonly limits: Readonly<Record<LimitName, { take(key: string): number }>>;
  readonly database: Pick<Database, "relay" | "look">;
  /** Left out where the box has its database for itself. */
  readonly nodes?: OtherNodes | undefined;
  /** The metrics of this process. */
  readonly metrics: () => Promise<readonly Metric[]>;
  readonly clock: Clock;
  readonly log: Logger;
}

/** What goes to and comes from a session process beside its questions to the owner. */
export interface MemberDoors {
  readonly post: (parcel: Parcel) => void;
  /** It listens, on this port. */
  readonly started: (port: number) => void;
}

interface Member {
  readonly link: MemberLink;
  state: MemberState;
}

/** More than any plan allows: what all nodes count together, a box only keeps. */
const NO_LIMIT = Number.POSITIVE_INFINITY;

const STARTING: MemberState = { isServing: false, isLate: false };

/** What must be one for a box, for its session processes: they ask, and there is no lock. */
export class BoxOwner {
  readonly #options: BoxOwnerOptions;
  readonly #members = new Map<number, Member>();
  readonly #slots = new SlotLedger();
  /** By call: those that one session process is just giving to another. */
  readonly #moving = new Map<string, Promise<unknown>>();
  readonly #news: NewsDesk;
  readonly #breakers: BreakerDesk;
  readonly #tokens: TokenHandlers;
  readonly #stopTelling: CancelTimer;
  #told: BoxState = { callCount: 0, taking: [], isDrained: false };

  constructor(options: BoxOwnerOptions) {
    const { clock, nodes } = options;
    this.#options = options;
    this.#news = new NewsDesk(this.#members, nodes);
    this.#breakers = new BreakerDesk(this.#members, clock, nodes);
    this.#tokens = nodes?.tokens ?? boxTokens(clock);
    this.#stopTelling = clock.every(STATE_MS, () => this.#tellState());
  }

  get callCount(): number {
    return this.#slots.callCount;
  }

  /** A session process begins. */
  join(name: number, { post, started }: MemberDoors): MemberLink {
    const handlers = { ...this.#handlers(name), started };
    const link = new Link<MemberQuestions, OwnerQuestions>(post, handlers, this.#options.log);
    this.#members.set(name, { link, state: STARTING });
    link.tell("box", this.#told);
    for (const topic of this.#news.topics) link.tell("newsWanted", { topic, isWanted: true });
    return link;
  }

  /** A session process has ended: its slots are free. Says how many they were. */
  leave(name: number): number {
    this.#members.get(name)?.link.close("a session process of the box has ended");
    this.#members.delete(name);
    const callIds = this.#slots.freeAllOf(name);
    this.#options.nodes?.freeSlots(callIds);
    this.#news.leave(name);
    this.#tellState();
    return callIds.length;
  }

  close(): void {
    this.#stopTelling();
  }

  /** The box as the other nodes see it. */
  get asNode(): NodeBox {
    const slots = this.#slots;
    const { clock } = this.#options;
    const isTaking = () => this.#taking().length > 0;
    return {
      handlers: {
        isRinging: async (callId) =>
          (await this.#holder(callId)?.ask("isRinging", callId)) ?? false,
        handOver: (call) => this.#giveAway(call),
        report: async (report) => {
          const holder = this.#holder(report.claims.callId);
          await holder?.ask("report", report);
          return holder !== undefined;
        },
        endCall: (call) => {
          const holder = this.#holder(call.callId);
          holder?.tell("endCall", call);
          return holder !== undefined;
        },
      },
      get callCount() {
        return slots.callCount;
      },
      get isTaking() {
        return isTaking();
      },
      holds: (callId) => slots.holderOf(callId) !== undefined,
      news: this.#news.asNode,
      breakers: this.#breakers.asNode,
      recordsChanged: () => void tellRecordsChanged(this.#members, undefined, clock),
    };
  }

  /** Resolves when all session processes, but for the one that has changed something, know of it. */
  async recordsChanged(name?: number): Promise<void> {
    const { nodes, clock } = this.#options;
    const here = tellRecordsChanged(this.#members, name, clock);
    await Promise.all([here, nodes?.recordsChanged()]);
  }

  #handlers(name: number): Omit<Handlers<OwnerQuestions>, "started"> {
    const { limits, database, nodes, metrics, clock } = this.#options;
    return {
      ...this.#tokens,
      takeSlot: (slot) => this.#takeSlot(name, slot),
      freeSlot: (callId) => {
        if (this.#slots.free(name, callId)) nodes?.freeSlots([callId]);
      },
      countSlots: (orgId) => nodes?.countSlots(orgId) ?? this.#slots.countOf(orgId),
      streamAddress: () => nodes?.streamAddress,
      use: ({ limit, key }) => limits[limit].take(key),
      isRinging: async (callId) => {
        if (this.#isElsewhere(callId)) return (await nodes?.isRinging(callId)) ?? false;
        return (await this.#otherHolder(name, callId)?.ask("isRinging", callId)) ?? false;
      },
      handOver: (call) => this.#handOver(name, call),
      report: (report) => this.#report(name, report),
      metrics: async () => boxMetricsPage(this.#members, await metrics(), clock),
      state: (state) => this.#noteState(name, state),
      endCall: (call) => this.#endCall(name, call),
      recordsChanged: () => this.recordsChanged(name),
      wantNews: (wanted) => this.#news.want(name, wanted),
      news: (sent) => this.#news.passOn(name, sent),
      breaker: (news) => this.#breakers.hear(name, news),
      wantBreakers: () => this.#breakers.tellAll(name),
      store: (request) => database.relay(request),
      lookAtStore: () => database.look(),
    };
  }

  /** False where neither another process of the box nor another node can have the call. */
  #endCall(asker: number, call: CallEnding): Soon<boolean> {
    if (this.#isElsewhere(call.callId)) return this.#options.nodes?.endCall(call) ?? false;
    const holder = this.#otherHolder(asker, call.callId);
    holder?.tell("endCall", call);
    return holder !== undefined;
  }

  async #takeSlot(name: number, slot: OwnerQuestions["takeSlot"]["asks"]): Promise<boolean> {
    const { nodes } = this.#options;
    const { orgId, callId, callsMax, replaces } = slot;
    if (replaces !== undefined) this.#slots.give(orgId, replaces);
    if (nodes === undefined) return this.#slots.take(name, orgId, callId, callsMax);
    // First here: a slot of nobody's call is given back by the sweep.
    if (!this.#slots.take(name, orgId, callId, NO_LIMIT)) return false;
    let isTaken = false;
    try {
      isTaken = await nodes.takeSlot(slot);
    } finally {
      if (!isTaken) this.#slots.free(name, callId);
    }
    // The asker may have ended meanwhile.
    if (isTaken && !this.#members.has(name)) nodes.freeSlots([callId]);
    return isTaken;
  }

  #holder(callId: string): MemberLink | undefined {
    const holder = this.#slots.holderOf(callId);
    return holder === undefined ? undefined : this.#members.get(holder)?.link;
  }

  #otherHolder(asker: number, callId: string): MemberLink | undefined {
    return this.#slots.holderOf(callId) === asker ? undefined : this.#holder(callId);
  }

  /** Whether only another node can have the call. */
  #isElsewhere(callId: string): boolean {
    return this.#options.nodes !== undefined && this.#slots.holderOf(callId) === undefined;
  }

  /** To another node, with its slot. */
  async #giveAway(call: OwnerQuestions["handOver"]["asks"]) {
    const holder = this.#slots.holderOf(call.callId);
    const handed = await this.#holder(call.callId)?.ask("handOver", call);
    if (handed !== undefined && holder !== undefined) this.#slots.free(holder, call.callId);
    return handed;
  }

  async #fetch(asker: number, call: OwnerQuestions["handOver"]["asks"]) {
    const { orgId, callId } = call;
    // First here, as a slot is taken: else the sweep would give it back.
    if (!this.#slots.take(asker, orgId, callId, NO_LIMIT)) return undefined;
    let isHere = false;
    try {
      const handed = await this.#options.nodes?.handOver(call);
      isHere = handed !== undefined;
      return handed;
    } finally {
      if (!isHere) this.#slots.free(asker, callId);
    }
  }

  async #handOver(asker: number, call: OwnerQuestions["handOver"]["asks"]) {
    if (this.#isElsewhere(call.callId)) return this.#fetch(asker, call);
    const move = this.#move(asker, call).finally(() => this.#moving.delete(call.callId));
    this.#moving.set(call.callId, move);
    return move;
  }

  async #move(asker: number, call: OwnerQuestions["handOver"]["asks"]) {
    const handed = await this.#otherHolder(asker, call.callId)?.ask("handOver", call);
    // The asker may have ended meanwhile: then the call has nobody, and its slot is free.
    if (handed !== undefined) this.#slots.move(call.callId, asker);
    if (!this.#members.has(asker)) this.#options.nodes?.freeSlots(this.#slots.freeAllOf(asker));
    return handed;
  }

  async #report(asker: number, report: PlacedCallReport): Promise<boolean> {
    const { callId } = report.claims;
    // Who had the call knows it no more, and who gets it is not told yet.
    await this.#moving.get(callId)?.catch(() => undefined);
    if (this.#isElsewhere(callId)) return (await this.#options.nodes?.report(report)) ?? false;
    const holder = this.#otherHolder(asker, callId);
    if (holder === undefined) return false;
    await holder.ask("report", report);
    return true;
  }

  #noteState(name: number, state: MemberState): void {
    const member = this.#members.get(name);
    if (member === undefined) return;
    member.state = state;
    this.#tellState();
  }

  #taking(): readonly number[] {
    return [...this.#members]
      .filter(([, { state }]) => state.isServing && !state.isLate)
      .map(([name]) => name);
  }

  #tellState(): void {
    const taking = this.#taking();
    const { callCount } = this.#slots;
    const isDrained = this.#options.nodes?.isDraining ?? false;
    const told = this.#told;
    const isSame = told.callCount === callCount && told.isDrained === isDrained;
    if (isSame && told.taking.join() === taking.join()) return;
    this.#told = { callCount, taking, isDrained };
    for (const { link } of this.#members.values()) link.tell("box", this.#told);
  }
}
