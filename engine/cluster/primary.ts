/** What must be one for all session processes of a box: call slots, holders of calls, one-use tokens, placed calls, news, breakers. */

import { isDeepStrictEqual } from "node:util";
import type { Database } from "../../storage/database.js";
import { CallSlots } from "../calls/admission.js";
import type { CallTopic } from "../calls/call-events.js";
import type { Logger } from "../log.js";
import { boxMetricsText, type Metric } from "../metrics/cluster-metrics.js";
import { usedStreamNonces } from "../security/stream-token.js";
import { StreamUuids } from "../security/stream-uuid.js";
import { TokenUses } from "../security/token-uses.js";
import { AnsweredWebhooks } from "../telephony/answered-webhooks.js";
import { CallInfos } from "../telephony/call-info.js";
import type { CancelTimer, Clock } from "../time/clock.js";
import { within } from "../time/deadline.js";
import { type BreakerEvent, Breakers } from "../vendors/chain/breakers.js";
import { answered, type Handlers, type IpcMessage, Link } from "./ipc-link.js";
import {
  type CallEnding,
  type ClusterState,
  HEARTBEAT_MS,
  type LimitName,
  type PlacedCallReport,
  type PrimaryRequests,
  type PublishedEvent,
  type Subscription,
  type WorkerLink,
  type WorkerRequests,
  type WorkerState,
} from "./ipc-messages.js";
import type {
  GivenCall,
  LocalBreakers,
  LocalEvents,
  LocalServer,
  OtherNodes,
  TokenHandlers,
} from "./other-nodes.js";

type Members = ReadonlyMap<number, { readonly link: Pick<WorkerLink, "tell"> }>;

/** Passes on what a session process or another server tells of a breaker, and knows those that are not closed for who comes later. */
export class BreakerRelay {
  readonly #members: Members;
  readonly #nodes: Pick<OtherNodes, "tellOfBreaker"> | undefined;
  readonly #breakers: Breakers;

  constructor(members: Members, clock: Clock, nodes?: Pick<OtherNodes, "tellOfBreaker">) {
    this.#members = members;
    this.#nodes = nodes;
    this.#breakers = new Breakers(clock);
  }

  /** What the box knows and hears of the other servers' breakers. */
  get asNode(): LocalBreakers {
    return {
      known: () => this.#breakers.news(),
      onBreakers: (all) => this.#passOn(undefined, all),
    };
  }

  /** A session process has opened or closed one, or tries it. */
  hear(member: number, news: BreakerEvent): void {
    this.#passOn(member, [news]);
    this.#nodes?.tellOfBreaker(news);
  }

  /** A session process has begun. */
  tellAll(member: number): void {
    this.#members.get(member)?.link.tell("breakers", this.#breakers.news());
  }

  #passOn(from: number | undefined, all: readonly BreakerEvent[]): void {
    for (const news of all) this.#breakers.heard(news);
    for (const [name, { link }] of this.#members) {
      if (name !== from) link.tell("breakers", all);
    }
  }
}

/** Nobody uses what he has read longer ago, so a process that stands still need not be waited for any longer. */
const CHANGE_MAX_MS = 1_000;
/** A session process that says nothing for so long is left out of the page. */
const METRICS_MAX_MS = 2_000;

type AskedMembers = ReadonlyMap<number, { readonly link: Pick<WorkerLink, "ask"> }>;

/** Tells all but `asker` that what they keep in memory may be out of date; resolves when they know. */
export async function tellRecordsChanged(
  members: AskedMembers,
  asker: number | undefined,
  clock: Clock,
): Promise<void> {
  const others = new Map([...members].filter(([name]) => name !== asker));
  await askAll(others, "recordsChanged", clock, CHANGE_MAX_MS);
}

/** The page of `/metrics` for the whole box, in the text form of Prometheus: `own` are those of the owner's process. */
export async function clusterMetricsPage(
  members: AskedMembers,
  own: readonly Metric[],
  clock: Clock,
): Promise<string> {
  const pages = await askAll(members, "metrics", clock, METRICS_MAX_MS);
  return boxMetricsText([own, ...pages]);
}

/** The answers that have come within `maxMs`. One that ends meanwhile keeps nothing, and gives none. */
async function askAll<Question extends "metrics" | "recordsChanged">(
  members: AskedMembers,
  question: Question,
  clock: Clock,
  maxMs: number,
): Promise<readonly WorkerRequests[Question]["answers"][]> {
  const answers: WorkerRequests[Question]["answers"][] = [];
  const asked = [...members.values()].map(async ({ link }) => {
    await link.ask(question, undefined).then(
      (answer) => answers.push(answer),
      () => undefined,
    );
  });
  await within(clock, maxMs, Promise.all(asked));
  // Who answers later changes nothing any more.
  return [...answers];
}

/** Stands for the other nodes among those who watch; session processes are counted from 1. */
const OTHER_NODES = 0;

/** Passes on news of calls to those who watch them; the watchers of each process bound how many topics there are. */
export class EventRelay {
  readonly #members: Members;
  readonly #nodes: Pick<OtherNodes, "watch" | "publish"> | undefined;
  /** Who watches what: names of session processes, and `OTHER_NODES`. */
  readonly #watching = new Map<CallTopic, Set<number>>();

  constructor(members: Members, nodes?: Pick<OtherNodes, "watch" | "publish">) {
    this.#members = members;
    this.#nodes = nodes;
  }

  get topics(): readonly CallTopic[] {
    return [...this.#watching.keys()];
  }

  /** What the box and the other nodes watch of each other's calls. */
  get asNode(): LocalEvents {
    return {
      watchedTopics: () =>
        this.topics.filter((topic) => this.#othersThan(OTHER_NODES, topic).length > 0),
      onWanted: (wanted) => this.#note(OTHER_NODES, wanted),
      onEvent: (sent) => this.passOn(OTHER_NODES, sent),
    };
  }

  /** Somebody at this session process watches that, or nobody any more. */
  want(member: number, wanted: Subscription): void {
    this.#note(member, wanted);
    if (wanted.isWanted) this.#nodes?.watch(wanted.topic);
  }

  passOn(from: number, sent: PublishedEvent): void {
    for (const name of this.#othersThan(from, sent.topic)) {
      if (name === OTHER_NODES) this.#nodes?.publish(sent);
      else this.#members.get(name)?.link.tell("news", sent);
    }
  }

  /** A process has ended. */
  leave(member: number): void {
    for (const topic of this.topics) this.#note(member, { topic, isWanted: false });
  }

  /** All session processes are told when somebody begins to watch, if others do already too, and when nobody does any more. */
  #note(from: number, { topic, isWanted }: Subscription): void {
    const before = this.#watching.get(topic);
    if (isWanted) this.#watching.set(topic, (before ?? new Set()).add(from));
    else if (before?.delete(from) !== true || before.size > 0) return;
    else this.#watching.delete(topic);
    for (const { link } of this.#members.values()) link.tell("subscribed", { topic, isWanted });
  }

  #othersThan(member: number, topic: CallTopic): readonly number[] {
    return [...(this.#watching.get(topic) ?? [])].filter((each) => each !== member);
  }
}

/** One-use tokens of a box that has its database for itself. */
export function primaryTokens(clock: Clock): TokenHandlers {
  const nonces = usedStreamNonces(clock);
  const tokens = new TokenUses(clock);
  const webhooks = new AnsweredWebhooks(clock);
  const uuids = new StreamUuids(clock);
  const infos = new CallInfos(clock);
  return {
    useNonce: (nonce) => nonces.use(nonce),
    answerWebhook: ({ answer, ...webhook }) => webhooks.answerTo(webhook, () => answer),
    takeToken: ({ historyKey, ...token }) => tokens.take(token, historyKey),
    tokenOpened: ({ historyKey, ...token }) => tokens.opened(token, historyKey),
    giveTokenBack: (token) => tokens.giveBack(token),
    mintUuid: (claims) => uuids.mint(claims),
    redeemUuid: (uuid) => uuids.redeem(uuid),
    keepCallInfo: ({ call, info }) => infos.keep(call, info),
    findCallInfo: (call) => infos.find(call),
  };
}

/** More than any plan allows: what all nodes count together, a box only keeps. */
export const NO_LIMIT = Number.POSITIVE_INFINITY;

/** Which session process has which call, and how many calls each organization has on the box: the owner's. */
export class SlotLedger {
  readonly #slots = new CallSlots();
  readonly #holderByCall = new Map<string, number>();

  get callCount(): number {
    return this.#slots.count;
  }

  countOf(orgId: string): number {
    return this.#slots.countOf(orgId);
  }

  /** False when the organization already has `callsMax` calls on the box. */
  take(holder: number, orgId: string, callId: string, callsMax: number): boolean {
    if (!this.#slots.acquire(orgId, callId, callsMax)) return false;
    this.#holderByCall.set(callId, holder);
    return true;
  }

  /** False when another process has the call: what comes late of its former holder does not concern it. */
  free(holder: number, callId: string): boolean {
    if (this.#holderByCall.get(callId) !== holder) return false;
    this.#holderByCall.delete(callId);
    this.#slots.release(callId);
    return true;
  }

  /** Whoever has the call has lost its slot to another call of the same organization. */
  give(orgId: string, callId: string): void {
    const holder = this.#holderByCall.get(callId);
    if (holder !== undefined && this.#slots.callsOf(orgId).includes(callId)) {
      this.free(holder, callId);
    }
  }

  holderOf(callId: string): number | undefined {
    return this.#holderByCall.get(callId);
  }

  move(callId: string, to: number): void {
    if (this.#holderByCall.has(callId)) this.#holderByCall.set(callId, to);
  }

  /** The process is gone, and its calls with it; says which they were. */
  freeAllOf(holder: number): readonly string[] {
    const calls = [...this.#holderByCall].filter(([, each]) => each === holder);
    for (const [callId] of calls) this.free(holder, callId);
    return calls.map(([callId]) => callId);
  }
}

type LinkedMembers = ReadonlyMap<number, { readonly link: WorkerLink }>;
type HolderNodes = Pick<OtherNodes, "endCall" | "hasCall">;

/** Which session process of the box, or which other node, has a call: who has its slot. */
export class CallHolders {
  readonly slots: SlotLedger;
  readonly #members: LinkedMembers;
  readonly #nodes: HolderNodes | undefined;

  constructor(members: LinkedMembers, slots: SlotLedger, nodes?: HolderNodes) {
    this.#members = members;
    this.slots = slots;
    this.#nodes = nodes;
  }

  of(callId: string): WorkerLink | undefined {
    const holder = this.slots.holderOf(callId);
    return holder === undefined ? undefined : this.#members.get(holder)?.link;
  }

  other(asker: number, callId: string): WorkerLink | undefined {
    return this.slots.holderOf(callId) === asker ? undefined : this.of(callId);
  }

  isHere(callId: string): boolean {
    return this.slots.holderOf(callId) !== undefined;
  }

  /** Whether only another node can have the call. */
  isElsewhere(callId: string): boolean {
    return this.#nodes !== undefined && !this.isHere(callId);
  }

  /** Whether any process of the box or of the other nodes has it. */
  async isAnywhere(callId: string): Promise<boolean> {
    return this.isHere(callId) || ((await this.#nodes?.hasCall(callId)) ?? false);
  }

  /** False where neither another process of the box nor another node can have the call. */
  async end(asker: number, call: CallEnding): Promise<boolean> {
    if (this.isElsewhere(call.callId)) return (await this.#nodes?.endCall(call)) ?? false;
    return tellOfEnd(this.other(asker, call.callId), call);
  }

  /** False where no process of the box has the call. */
  endHere(call: CallEnding): boolean {
    return tellOfEnd(this.of(call.callId), call);
  }
}

function tellOfEnd(holder: WorkerLink | undefined, call: CallEnding): boolean {
  holder?.tell("endCall", call);
  return holder !== undefined;
}

type HandedCall = PrimaryRequests["handOver"]["asks"];
type Nodes = Pick<OtherNodes, "freeSlots" | "giveSlot" | "handOver" | "isRinging" | "report">;

/** A placed call is answered wherever the vendor's request comes: it moves there, and its reports follow it. */
export class PlacedCallRelay {
  readonly #members: LinkedMembers;
  readonly #holders: CallHolders;
  readonly #nodes: Nodes | undefined;
  /** By call: those that a session process is just giving to another one, or to another node. */
  readonly #moving = new Map<string, Promise<unknown>>();

  constructor(members: LinkedMembers, holders: CallHolders, nodes?: Nodes) {
    this.#members = members;
    this.#holders = holders;
    this.#nodes = nodes;
  }

  async isRinging(asker: number, callId: string): Promise<boolean> {
    const settled = this.#settled(callId);
    if (settled !== undefined) await settled;
    const holders = this.#holders;
    if (holders.isElsewhere(callId)) return (await this.#nodes?.isRinging(callId)) ?? false;
    return (await holders.other(asker, callId)?.ask("isRinging", callId)) ?? false;
  }

  handOver(asker: number, call: HandedCall) {
    if (this.#holders.isElsewhere(call.callId)) return this.#fetch(asker, call);
    return this.#moved(call.callId, this.#move(asker, call));
  }

  async report(asker: number, report: PlacedCallReport): Promise<boolean> {
    const { callId } = report.claims;
    // Where nothing moves nothing is waited for, so that the report passes no later wish to have the call.
    const settled = this.#settled(callId);
    if (settled !== undefined) await settled;
    // What is no other node's may have come here meanwhile.
    if (this.#holders.isElsewhere(callId) && (await this.#nodes?.report(report))) return true;
    return told(this.#holders.other(asker, callId), report);
  }

  /** Whether a call still waits for its answer, for another node. */
  async ringsHere(callId: string): Promise<boolean> {
    const settled = this.#settled(callId);
    if (settled !== undefined) await settled;
    return (await this.#holders.of(callId)?.ask("isRinging", callId)) ?? false;
  }

  /** To another node, with its slot. */
  giveAway(call: GivenCall) {
    return this.#moved(call.callId, this.#give(call));
  }

  /** What another node was told of a call; false when it is not here, or no longer. */
  async hear(report: PlacedCallReport): Promise<boolean> {
    const { callId } = report.claims;
    const settled = this.#settled(callId);
    if (settled !== undefined) await settled;
    return told(this.#holders.of(callId), report);
  }

  /** Settles when the call has a place: who had it knows it no more, and who gets it is not told yet. */
  #settled(callId: string): Promise<void> | undefined {
    return this.#moving.has(callId) ? this.#atRest(callId) : undefined;
  }

  async #atRest(callId: string): Promise<void> {
    for (let move = this.#moving.get(callId); move !== undefined; move = this.#moving.get(callId)) {
      await answered(move);
    }
  }

  async #moved<Handed>(callId: string, move: Promise<Handed>): Promise<Handed> {
    this.#moving.set(callId, move);
    try {
      return await move;
    } finally {
      // Another process may have asked for the same call since.
      if (this.#moving.get(callId) === move) this.#moving.delete(callId);
    }
  }

  async #give({ to, ...call }: GivenCall) {
    const { slots } = this.#holders;
    const { callId } = call;
    const holder = slots.holderOf(callId);
    const handed = await this.#holders.of(callId)?.ask("handOver", call);
    if (handed === undefined || holder === undefined) return handed;
    await this.#nodes?.giveSlot(callId, to);
    slots.free(holder, callId);
    return handed;
  }

  async #fetch(asker: number, call: HandedCall) {
    const { orgId, callId } = call;
    const { slots } = this.#holders;
    // First here, as a slot is taken: else the sweep would give it back.
    if (!slots.take(asker, orgId, callId, NO_LIMIT)) return undefined;
    let isHere = false;
    try {
      const handed = await this.#nodes?.handOver(call);
      isHere = handed !== undefined;
      return handed;
    } finally {
      if (!isHere) slots.free(asker, callId);
    }
  }

  async #move(asker: number, call: HandedCall) {
    const { slots } = this.#holders;
    const handed = await this.#holders.other(asker, call.callId)?.ask("handOver", call);
    // The asker may have ended meanwhile: then the call has nobody, and its slot is free.
    if (handed !== undefined) slots.move(call.callId, asker);
    if (!this.#members.has(asker)) this.#nodes?.freeSlots(slots.freeAllOf(asker));
    return handed;
  }
}

/** False where nobody has the call. */
async function told(holder: WorkerLink | undefined, report: PlacedCallReport): Promise<boolean> {
  if (holder === undefined) return false;
  await holder.ask("report", report);
  return true;
}

/** How old what the session processes know of each other may be. */
const STATE_MS = 250;
/** A process that missed so many heartbeats gets no calls of others; a long garbage collection does not miss as many. */
const SUSPECT_BEATS = 3;
/** One that missed so many hangs: its event loop has not turned for 8 s, and each call that it carries is dead. */
export const HUNG_BEATS = 8;
/** Until its first heartbeat it loads its code, which takes long on a busy machine. */
export const HUNG_BEATS_AT_START = 60;

export interface ClusterPrimaryOptions {
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
export interface WorkerPort {
  readonly post: (message: IpcMessage) => void;
  /** It listens, on this port. */
  readonly started: (port: number) => void;
  /** It misses its heartbeats. Told once. Left out where the process is this one. */
  readonly hung?: (missedBeats: number) => void;
}

interface Member {
  readonly link: WorkerLink;
  readonly hung: WorkerPort["hung"];
  state: WorkerState;
  /**
   * Counted by the owner's own turns, not by time: when the owner or the whole machine stood still, one turn has passed, and the
   * heartbeats that were sent meanwhile are read before the next.
   */
  missedBeats: number;
  hungAtBeats: number;
  isDebugged: boolean;
}

const STARTING: WorkerState = { isServing: false, isLate: false };

/** What must be one for a box, for its session processes: they ask, and there is no lock. */
export class ClusterPrimary {
  readonly #options: ClusterPrimaryOptions;
  readonly #members = new Map<number, Member>();
  readonly #slots = new SlotLedger();
  readonly #holders: CallHolders;
  readonly #placedCalls: PlacedCallRelay;
  readonly #news: EventRelay;
  readonly #breakers: BreakerRelay;
  readonly #tokens: TokenHandlers;
  readonly #stopTelling: CancelTimer;
  readonly #stopWatching: CancelTimer;
  #countedAtMs: number;
  #told: ClusterState = { callCount: 0, taking: [], isDrained: false, otherServersTake: false };

  constructor(options: ClusterPrimaryOptions) {
    const { clock, nodes } = options;
    this.#options = options;
    this.#holders = new CallHolders(this.#members, this.#slots, nodes);
    this.#placedCalls = new PlacedCallRelay(this.#members, this.#holders, nodes);
    this.#news = new EventRelay(this.#members, nodes);
    this.#breakers = new BreakerRelay(this.#members, clock, nodes);
    this.#tokens = nodes?.tokens ?? primaryTokens(clock);
    this.#stopTelling = clock.every(STATE_MS, () => this.#tellState());
    this.#countedAtMs = clock.monotonicMs();
    this.#stopWatching = clock.every(HEARTBEAT_MS, () => this.#countBeats());
  }

  get callCount(): number {
    return this.#slots.callCount;
  }

  /** A session process begins. */
  join(name: number, { post, started, hung }: WorkerPort): WorkerLink {
    const handlers = { ...this.#handlers(name), started };
    const link = new Link<WorkerRequests, PrimaryRequests>(post, handlers, this.#options.log);
    this.#members.set(name, {
      link,
      hung,
      state: STARTING,
      missedBeats: 0,
      hungAtBeats: HUNG_BEATS_AT_START,
      isDebugged: false,
    });
    link.tell("box", this.#told);
    for (const topic of this.#news.topics) link.tell("subscribed", { topic, isWanted: true });
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
  get asNode(): LocalServer {
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

  #handlers(name: number): Omit<Handlers<PrimaryRequests>, "started"> {
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
      metrics: async () => clusterMetricsPage(this.#members, await metrics(), clock),
      state: (state) => this.#noteState(name, state),
      heartbeat: ({ isDebugged }) => this.#noteHeartbeat(name, isDebugged),
      endCall: (call) => this.#holders.end(name, call),
      hasCall: (callId) => this.#holders.isAnywhere(callId),
      recordsChanged: () => this.recordsChanged(name),
      subscribe: (wanted) => this.#news.want(name, wanted),
      news: (sent) => this.#news.passOn(name, sent),
      breaker: (news) => this.#breakers.hear(name, news),
      wantBreakers: () => this.#breakers.tellAll(name),
      store: (request) => database.relay(request),
      lookAtStore: () => database.look(),
    };
  }

  async #takeSlot(name: number, slot: PrimaryRequests["takeSlot"]["asks"]): Promise<boolean> {
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

  #noteState(name: number, state: WorkerState): void {
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
