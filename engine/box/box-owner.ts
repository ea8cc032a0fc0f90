import { isDeepStrictEqual } from "node:util";
import type { Database } from "../../storage/database.js";
import type { Logger } from "../log.js";
import type { Metric } from "../metrics/box-metrics.js";
import type { CancelTimer, Clock } from "../time/clock.js";
import {
  type BoxState,
  HEARTBEAT_MS,
  type LimitName,
  type MemberLink,
  type MemberQuestions,
  type MemberState,
  type OwnerQuestions,
} from "./box-questions.js";
import { BreakerDesk } from "./breaker-desk.js";
import { CallHolders } from "./call-holders.js";
import { type Handlers, Link, type Parcel } from "./link.js";
import { boxMetricsPage, tellRecordsChanged } from "./member-rounds.js";
import { NewsDesk } from "./news-desk.js";
import type { NodeBox, OtherNodes, TokenHandlers } from "./other-nodes.js";
import { boxTokens } from "./owner-tokens.js";
import { PlacedCallDesk } from "./placed-call-desk.js";
import { NO_LIMIT, SlotLedger } from "./slot-ledger.js";

/** How old what the session processes know of each other may be. */
const STATE_MS = 250;
/** A process that missed so many heartbeats gets no calls of others; a long garbage collection does not miss as many. */
const SUSPECT_BEATS = 3;
/** One that missed so many hangs: its event loop has not turned for 8 s, and each call that it carries is dead. */
export const HUNG_BEATS = 8;
/** Until its first heartbeat it loads its code, which takes long on a busy machine. */
export const HUNG_BEATS_AT_START = 60;

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
  /** It misses its heartbeats. Told once. Left out where the process is this one. */
  readonly hung?: (missedBeats: number) => void;
}

interface Member {
  readonly link: MemberLink;
  readonly hung: MemberDoors["hung"];
  state: MemberState;
  /**
   * Counted by the owner's own turns, not by time: when the owner or the whole machine stood still, one turn has passed, and the
   * heartbeats that were sent meanwhile are read before the next.
   */
  missedBeats: number;
  hungAtBeats: number;
  isDebugged: boolean;
}

const STARTING: MemberState = { isServing: false, isLate: false };

/** What must be one for a box, for its session processes: they ask, and there is no lock. */
export class BoxOwner {
  readonly #options: BoxOwnerOptions;
  readonly #members = new Map<number, Member>();
  readonly #slots = new SlotLedger();
  readonly #holders: CallHolders;
  readonly #placedCalls: PlacedCallDesk;
  readonly #news: NewsDesk;
  readonly #breakers: BreakerDesk;
  readonly #tokens: TokenHandlers;
  readonly #stopTelling: CancelTimer;
  readonly #stopWatching: CancelTimer;
  #countedAtMs: number;
  #told: BoxState = { callCount: 0, taking: [], isDrained: false, otherServersTake: false };

  constructor(options: BoxOwnerOptions) {
    const { clock, nodes } = options;
    this.#options = options;
    this.#holders = new CallHolders(this.#members, this.#slots, nodes);
    this.#placedCalls = new PlacedCallDesk(this.#members, this.#holders, nodes);
    this.#news = new NewsDesk(this.#members, nodes);
    this.#breakers = new BreakerDesk(this.#members, clock, nodes);
    this.#tokens = nodes?.tokens ?? boxTokens(clock);
    this.#stopTelling = clock.every(STATE_MS, () => this.#tellState());
    this.#countedAtMs = clock.monotonicMs();
    this.#stopWatching = clock.every(HEARTBEAT_MS, () => this.#countBeats());
  }

  get callCount(): number {
    return this.#slots.callCount;
  }

  /** A session process begins. */
  join(name: number, { post, started, hung }: MemberDoors): MemberLink {
    const handlers = { ...this.#handlers(name), started };
    const link = new Link<MemberQuestions, OwnerQuestions>(post, handlers, this.#options.log);
    this.#members.set(name, {
      link,
      hung,
      state: STARTING,
      missedBeats: 0,
      hungAtBeats: HUNG_BEATS_AT_START,
      isDebugged: false,
    });
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

  /** The box takes no new calls: other servers are told, and its session processes where those are who take them. */
  async stopTaking(): Promise<void> {
    await this.#options.nodes?.stopTaking();
    this.#tellState();
  }

  close(): void {
    this.#stopTelling();
    this.#stopWatching();
  }

  /** The box as the other nodes see it. */
  get asNode(): NodeBox {
    const slots = this.#slots;
    const holders = this.#holders;
    const { clock } = this.#options;
    const isTaking = () => this.#taking().length > 0;
    return {
      handlers: {
        isRinging: (callId) => this.#placedCalls.ringsHere(callId),
        handOver: (call) => this.#placedCalls.giveAway(call),
        report: (report) => this.#placedCalls.hear(report),
        endCall: (call) => holders.endHere(call),
        hasCall: (callId) => holders.isHere(callId),
      },
      get callCount() {
        return slots.callCount;
      },
      get isTaking() {
        return isTaking();
      },
      holds: (callId) => holders.isHere(callId),
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
      elsewhere: () => nodes?.elsewhere,
      use: ({ limit, key }) => limits[limit].take(key),
      isRinging: (callId) => this.#placedCalls.isRinging(name, callId),
      handOver: (call) => this.#placedCalls.handOver(name, call),
      report: (report) => this.#placedCalls.report(name, report),
      metrics: async () => boxMetricsPage(this.#members, await metrics(), clock),
      state: (state) => this.#noteState(name, state),
      heartbeat: ({ isDebugged }) => this.#noteHeartbeat(name, isDebugged),
      endCall: (call) => this.#holders.end(name, call),
      hasCall: (callId) => this.#holders.isAnywhere(callId),
      recordsChanged: () => this.recordsChanged(name),
      wantNews: (wanted) => this.#news.want(name, wanted),
      news: (sent) => this.#news.passOn(name, sent),
      breaker: (news) => this.#breakers.hear(name, news),
      wantBreakers: () => this.#breakers.tellAll(name),
      store: (request) => database.relay(request),
      lookAtStore: () => database.look(),
    };
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

  #noteState(name: number, state: MemberState): void {
    const member = this.#members.get(name);
    if (member === undefined) return;
    member.state = state;
    this.#tellState();
  }

  #noteHeartbeat(name: number, isDebugged: boolean): void {
    const member = this.#members.get(name);
    if (member === undefined) return;
    const wasSuspect = member.missedBeats >= SUSPECT_BEATS;
    member.missedBeats = 0;
    member.hungAtBeats = HUNG_BEATS;
    member.isDebugged = isDebugged;
    if (wasSuspect) this.#tellState();
  }

  #countBeats(): void {
    const nowMs = this.#options.clock.monotonicMs();
    const sinceMs = nowMs - this.#countedAtMs;
    this.#countedAtMs = nowMs;
    // Turns that come together after the owner stood still are one.
    if (sinceMs < HEARTBEAT_MS / 2) return;
    for (const member of this.#members.values()) {
      if (member.hung === undefined || member.isDebugged) continue;
      member.missedBeats += 1;
      if (member.missedBeats === member.hungAtBeats) member.hung(member.missedBeats);
    }
  }

  #taking(): readonly number[] {
    return [...this.#members]
      .filter(([, { state }]) => state.isServing && !state.isLate)
      .filter(([, { missedBeats }]) => missedBeats < SUSPECT_BEATS)
      .map(([name]) => name);
  }

  #tellState(): void {
    const taking = this.#taking();
    const { isDraining: isDrained = false, othersTake: otherServersTake = false } =
      this.#options.nodes ?? {};
    const state = { callCount: this.callCount, taking, isDrained, otherServersTake };
    if (isDeepStrictEqual(state, this.#told)) return;
    this.#told = state;
    for (const { link } of this.#members.values()) link.tell("box", this.#told);
  }
}
