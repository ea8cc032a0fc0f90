/**
 * State that is shared by all workers of a server: call slots, holders of calls, one-use tokens, placed calls,
 * events, breakers.
 */

import { isDeepStrictEqual } from "node:util";
import type { Database } from "../../storage/database.js";
import type { JobsAdded } from "../../storage/jobs/job-store.js";
import { CallSlots } from "../calls/admission.js";
import type { CallTopic, PublishedEvent, Subscription } from "../calls/call-events.js";
import type { CallPlacer, ListedOrder, ListedPlacement } from "../calls/lists/listed-calls.js";
import type { CallControl, ControlOutcome } from "../conversation/control-command.js";
import type { Logger } from "../log.js";
import { clusterMetricsText, type Metric } from "../metrics/cluster-metrics.js";
import { usedStreamNonces } from "../security/stream-token.js";
import { StreamUuids } from "../security/stream-uuid.js";
import { TokenUses } from "../security/token-uses.js";
import { AnsweredWebhooks } from "../telephony/answered-webhooks.js";
import { CallInfos } from "../telephony/call-info.js";
import type { CancelTimer, Clock } from "../time/clock.js";
import { within } from "../time/deadline.js";
import { type BreakerEvent, Breakers } from "../vendors/chain/breakers.js";
import type {
  CallEnding,
  LocalBreakers,
  LocalEvents,
  LocalServer,
  OneUseTokens,
  OtherNodes,
  PlacedCallReport,
  RingingCall,
  SlotRequest,
  TransferredCall,
} from "./coordination.js";
import { answered, type Handlers, type IpcMessage, Link } from "./ipc-link.js";
import {
  type ClusterState,
  HEARTBEAT_MS,
  type LimitName,
  type PrimaryRequests,
  type WorkerLink,
  type WorkerRequests,
  type WorkerState,
} from "./ipc-messages.js";

type Workers = ReadonlyMap<number, { readonly link: Pick<WorkerLink, "notify"> }>;

/**
 * Passes on changes of breakers between workers and other servers, and keeps those that are not closed for workers
 * that start later.
 */
export class BreakerRelay {
  readonly #workers: Workers;
  readonly #nodes: Pick<OtherNodes, "publishBreaker"> | undefined;
  readonly #breakers: Breakers;

  constructor(workers: Workers, clock: Clock, nodes?: Pick<OtherNodes, "publishBreaker">) {
    this.#workers = workers;
    this.#nodes = nodes;
    this.#breakers = new Breakers(clock);
  }

  /** The breakers as the other servers exchange them with this one. */
  get asNode(): LocalBreakers {
    return {
      known: () => this.#breakers.events(),
      onBreakers: (events) => this.#passOn(undefined, events),
    };
  }

  /** A worker has opened, closed or probed one. */
  publish(worker: number, event: BreakerEvent): void {
    this.#passOn(worker, [event]);
    this.#nodes?.publishBreaker(event);
  }

  /** Sends the breakers that are not closed to a worker that has started. */
  sendAll(worker: number): void {
    this.#workers.get(worker)?.link.notify("breakers", this.#breakers.events());
  }

  #passOn(from: number | undefined, events: readonly BreakerEvent[]): void {
    for (const event of events) this.#breakers.applyReport(event);
    for (const [name, { link }] of this.#workers) {
      if (name !== from) link.notify("breakers", events);
    }
  }
}

/** No process uses a record that it read longer ago, so there is no need to wait for a frozen one. */
const CHANGE_MAX_MS = 1_000;
/** A worker that does not answer within this is left out of the page. */
const METRICS_MAX_MS = 2_000;

type WorkerLinks = ReadonlyMap<number, { readonly link: Pick<WorkerLink, "request"> }>;

/** Notifies all workers but `asker` that their cached records may be out of date; resolves when they know. */
export async function notifyRecordsChanged(
  workers: WorkerLinks,
  asker: number | undefined,
  clock: Clock,
): Promise<void> {
  const others = new Map([...workers].filter(([name]) => name !== asker));
  await requestAll(others, "recordsChanged", clock, CHANGE_MAX_MS);
}

/** The page of `/metrics` for all processes, in the text form of Prometheus: `own` are those of the primary. */
export async function clusterMetricsPage(
  workers: WorkerLinks,
  own: readonly Metric[],
  clock: Clock,
): Promise<string> {
  const pages = await requestAll(workers, "metrics", clock, METRICS_MAX_MS);
  return clusterMetricsText([own, ...pages]);
}

/** The responses that arrived within `maxMs`. A worker that ends meanwhile is left out. */
async function requestAll<Question extends "metrics" | "recordsChanged">(
  workers: WorkerLinks,
  question: Question,
  clock: Clock,
  maxMs: number,
): Promise<readonly WorkerRequests[Question]["answers"][]> {
  const answers: WorkerRequests[Question]["answers"][] = [];
  const requests = [...workers.values()].map(async ({ link }) => {
    await link.request(question, undefined).then(
      (answer) => answers.push(answer),
      () => undefined,
    );
  });
  await within(clock, maxMs, Promise.all(requests));
  // A later response must not change the result.
  return [...answers];
}

/** Represents the other nodes among the subscribers; workers are counted from 1. */
const OTHER_NODES = 0;

/** Passes on events of calls to their subscribers; each process limits its watchers, and with them the topics. */
export class EventRelay {
  readonly #workers: Workers;
  readonly #nodes: Pick<OtherNodes, "subscribe" | "publish"> | undefined;
  /** The subscribers of each topic: names of workers, and `OTHER_NODES`. */
  readonly #subscribers = new Map<CallTopic, Set<number>>();

  constructor(workers: Workers, nodes?: Pick<OtherNodes, "subscribe" | "publish">) {
    this.#workers = workers;
    this.#nodes = nodes;
  }

  get topics(): readonly CallTopic[] {
    return [...this.#subscribers.keys()];
  }

  /** The subscriptions between this server and other nodes. */
  get asNode(): LocalEvents {
    return {
      watchedTopics: () =>
        this.topics.filter((topic) => this.#workersExcept(OTHER_NODES, topic).length > 0),
      onSubscription: (subscription) => this.#note(OTHER_NODES, subscription),
      onEvent: (published) => this.publish(OTHER_NODES, published),
    };
  }

  subscribe(worker: number, subscription: Subscription): void {
    this.#note(worker, subscription);
    this.#nodes?.subscribe(subscription);
  }

  publish(from: number, published: PublishedEvent): void {
    for (const name of this.#workersExcept(from, published.topic)) {
      if (name === OTHER_NODES) this.#nodes?.publish(published);
      else this.#workers.get(name)?.link.notify("published", published);
    }
  }

  /** A process has ended. */
  leave(worker: number): void {
    for (const topic of this.topics) this.#note(worker, { topic, isWanted: false });
  }

  /** Notifies all workers of every new subscriber, and when the last one has left. */
  #note(from: number, { topic, isWanted }: Subscription): void {
    const before = this.#subscribers.get(topic);
    if (isWanted) this.#subscribers.set(topic, (before ?? new Set()).add(from));
    else if (before?.delete(from) !== true || before.size > 0) return;
    else this.#subscribers.delete(topic);
    for (const { link } of this.#workers.values()) link.notify("subscribed", { topic, isWanted });
  }

  #workersExcept(worker: number, topic: CallTopic): readonly number[] {
    return [...(this.#subscribers.get(topic) ?? [])].filter((each) => each !== worker);
  }
}

/** One-use tokens of a server that has its database for itself. */
export function primaryTokens(clock: Clock): OneUseTokens {
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
    releaseToken: (token) => tokens.release(token),
    mintUuid: (claims) => uuids.mint(claims),
    redeemUuid: (uuid) => uuids.redeem(uuid),
    keepCallInfo: ({ call, info }) => infos.keep(call, info),
    findCallInfo: (call) => infos.find(call),
  };
}

/** More than any plan allows: all nodes together enforce the limit, and a server only counts. */
export const NO_LIMIT = Number.POSITIVE_INFINITY;

/** Which worker has which call, and how many calls each organization has on the server. */
export class SlotLedger {
  readonly #slots = new CallSlots();
  readonly #holderByCall = new Map<string, number>();

  get callCount(): number {
    return this.#slots.count;
  }

  countOf(orgId: string): number {
    return this.#slots.countOf(orgId);
  }

  /** False when the organization already has `callsMax` calls on the server. */
  take(holder: number, orgId: string, callId: string, callsMax: number): boolean {
    if (!this.#slots.acquire(orgId, callId, callsMax)) return false;
    this.#holderByCall.set(callId, holder);
    return true;
  }

  /** False if another process has the call: a late message of its former holder has no effect. */
  free(holder: number, callId: string): boolean {
    if (this.#holderByCall.get(callId) !== holder) return false;
    this.#holderByCall.delete(callId);
    this.#slots.release(callId);
    return true;
  }

  /** The holder of the call has lost its slot to another call of the same organization. */
  release(orgId: string, callId: string): void {
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

  /** The worker has ended, and its calls with it; returns those calls. */
  freeAllOf(holder: number): readonly string[] {
    const calls = [...this.#holderByCall].filter(([, each]) => each === holder);
    for (const [callId] of calls) this.free(holder, callId);
    return calls.map(([callId]) => callId);
  }
}

type LinkedWorkers = ReadonlyMap<number, { readonly link: WorkerLink }>;
type HolderNodes = Pick<OtherNodes, "endCall" | "controlCall" | "hasCall">;

/** Which worker of this server, or which other node, has a call: the one with its slot. */
export class CallHolders {
  readonly slots: SlotLedger;
  readonly #workers: LinkedWorkers;
  readonly #nodes: HolderNodes | undefined;

  constructor(workers: LinkedWorkers, slots: SlotLedger, nodes?: HolderNodes) {
    this.#workers = workers;
    this.slots = slots;
    this.#nodes = nodes;
  }

  of(callId: string): WorkerLink | undefined {
    const holder = this.slots.holderOf(callId);
    return holder === undefined ? undefined : this.#workers.get(holder)?.link;
  }

  other(asker: number, callId: string): WorkerLink | undefined {
    return this.slots.holderOf(callId) === asker ? undefined : this.of(callId);
  }

  isHere(callId: string): boolean {
    return this.slots.holderOf(callId) !== undefined;
  }

  /** Whether only another node can have the call. */
  isOnAnotherWorker(callId: string): boolean {
    return this.#nodes !== undefined && !this.isHere(callId);
  }

  /** Whether any worker of this server or of the other nodes has it. */
  async isAnywhere(callId: string): Promise<boolean> {
    return this.isHere(callId) || ((await this.#nodes?.hasCall(callId)) ?? false);
  }

  /** False if neither another worker nor another node can have the call. */
  async end(asker: number, call: CallEnding): Promise<boolean> {
    if (this.isOnAnotherWorker(call.callId)) return (await this.#nodes?.endCall(call)) ?? false;
    return sendEnd(this.other(asker, call.callId), call);
  }

  /** `elsewhere` where neither another worker nor another node can have the call. */
  async control(asker: number, call: CallControl): Promise<ControlOutcome> {
    if (this.isOnAnotherWorker(call.callId)) {
      return (await this.#nodes?.controlCall(call)) ?? "elsewhere";
    }
    return sendControl(this.other(asker, call.callId), call);
  }

  /** `elsewhere` where no worker has the call. */
  controlHere(call: CallControl): Promise<ControlOutcome> {
    return sendControl(this.of(call.callId), call);
  }

  /** False if no worker has the call. */
  endHere(call: CallEnding): boolean {
    return sendEnd(this.of(call.callId), call);
  }
}

function sendEnd(holder: WorkerLink | undefined, call: CallEnding): boolean {
  holder?.notify("endCall", call);
  return holder !== undefined;
}

async function sendControl(
  holder: WorkerLink | undefined,
  call: CallControl,
): Promise<ControlOutcome> {
  return (await holder?.request("controlCall", call)) ?? "elsewhere";
}

type Nodes = Pick<OtherNodes, "freeSlots" | "transferSlot" | "handOver" | "isRinging" | "report">;

/** A placed call is answered where the vendor's request arrives: the call moves there, and its reports follow. */
export class PlacedCallRelay {
  readonly #workers: LinkedWorkers;
  readonly #holders: CallHolders;
  readonly #nodes: Nodes | undefined;
  /** By call: those that are moving to another worker, or to another node. */
  readonly #moving = new Map<string, Promise<unknown>>();

  constructor(workers: LinkedWorkers, holders: CallHolders, nodes?: Nodes) {
    this.#workers = workers;
    this.#holders = holders;
    this.#nodes = nodes;
  }

  async isRinging(asker: number, callId: string): Promise<boolean> {
    const settled = this.#settled(callId);
    if (settled !== undefined) await settled;
    const holders = this.#holders;
    if (holders.isOnAnotherWorker(callId)) return (await this.#nodes?.isRinging(callId)) ?? false;
    return (await holders.other(asker, callId)?.request("isRinging", callId)) ?? false;
  }

  handOver(asker: number, call: RingingCall) {
    if (this.#holders.isOnAnotherWorker(call.callId)) return this.#fetch(asker, call);
    return this.#moved(call.callId, this.#move(asker, call));
  }

  async report(asker: number, report: PlacedCallReport): Promise<boolean> {
    const { callId } = report.claims;
    // A call that is not moving is reported immediately, so that the report arrives before any
    // later request for the call.
    const settled = this.#settled(callId);
    if (settled !== undefined) await settled;
    // A call that no other node has may have arrived here meanwhile.
    if (this.#holders.isOnAnotherWorker(callId) && (await this.#nodes?.report(report))) return true;
    return reportTo(this.#holders.other(asker, callId), report);
  }

  /** Whether a call is still ringing, for another node. */
  async ringsHere(callId: string): Promise<boolean> {
    const settled = this.#settled(callId);
    if (settled !== undefined) await settled;
    return (await this.#holders.of(callId)?.request("isRinging", callId)) ?? false;
  }

  /** Moves the call to another node, with its slot. */
  handOverToWorker(call: TransferredCall) {
    return this.#moved(call.callId, this.#assign(call));
  }

  /** Takes a report that another node has received; false if the call is not here, or no longer. */
  async reportHere(report: PlacedCallReport): Promise<boolean> {
    const { callId } = report.claims;
    const settled = this.#settled(callId);
    if (settled !== undefined) await settled;
    return reportTo(this.#holders.of(callId), report);
  }

  /**
   * Resolves when the move is complete: its former holder has dropped the call, and no message has gone to its new
   * one.
   */
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
      // Another process may have requested the same call since.
      if (this.#moving.get(callId) === move) this.#moving.delete(callId);
    }
  }

  async #assign({ to, ...call }: TransferredCall) {
    const { slots } = this.#holders;
    const { callId } = call;
    const holder = slots.holderOf(callId);
    const handed = await this.#holders.of(callId)?.request("handOver", call);
    if (handed === undefined || holder === undefined) return handed;
    await this.#nodes?.transferSlot(callId, to);
    slots.free(holder, callId);
    return handed;
  }

  async #fetch(asker: number, call: RingingCall) {
    const { orgId, callId } = call;
    const { slots } = this.#holders;
    // The slot is taken here first: otherwise the sweep would free it.
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

  async #move(asker: number, call: RingingCall) {
    const { slots } = this.#holders;
    const handed = await this.#holders.other(asker, call.callId)?.request("handOver", call);
    // The worker may have ended meanwhile: then the call is lost, and its slot is free.
    if (handed !== undefined) slots.move(call.callId, asker);
    if (!this.#workers.has(asker)) this.#nodes?.freeSlots(slots.freeAllOf(asker));
    return handed;
  }
}

/** False if no worker has the call. */
async function reportTo(
  holder: WorkerLink | undefined,
  report: PlacedCallReport,
): Promise<boolean> {
  if (holder === undefined) return false;
  await holder.request("report", report);
  return true;
}

/** The maximum age of the state that workers know of each other. */
const STATE_MS = 250;
/** A process that missed this many heartbeats gets no calls of others; a long garbage collection misses fewer. */
const SUSPECT_BEATS = 3;
/** A process that missed this many hangs: its event loop was blocked for 8 s, and each of its calls is dead. */
export const HUNG_BEATS = 8;
/** The limit before its first heartbeat, while it loads its code, which takes long on a busy machine. */
export const HUNG_BEATS_AT_START = 60;

export interface ClusterPrimaryOptions {
  readonly limits: Readonly<Record<LimitName, { take(key: string): number }>>;
  readonly database: Pick<Database, "relay" | "checkHealth"> & {
    readonly jobs: { readonly added: Pick<JobsAdded, "notify"> };
  };
  /** Omitted if this server has its database for itself. */
  readonly nodes?: OtherNodes | undefined;
  /** The metrics of this process. */
  readonly metrics: () => Promise<readonly Metric[]>;
  readonly clock: Clock;
  readonly log: Logger;
}

/** Messages to and from a worker besides its requests to the primary. */
export interface WorkerPort {
  readonly post: (message: IpcMessage) => void;
  /** The worker listens on this port. */
  readonly started: (port: number) => void;
  /** The worker misses heartbeats. Called once. Omitted if the process is this one. */
  readonly hung?: (missedBeats: number) => void;
}

interface Worker {
  readonly link: WorkerLink;
  readonly hung: WorkerPort["hung"];
  state: WorkerState;
  /**
   * Counted by the primary's own rounds, not by time: when the primary or the whole machine was blocked, one round
   * has passed, and the heartbeats that were sent meanwhile are read before the next.
   */
  missedBeats: number;
  hungAtBeats: number;
  isDebugged: boolean;
}

/** Another look is taken soon: each worker may be busy for a moment, or this server is drained. */
export const NO_WORKER: ListedPlacement = {
  kind: "refused",
  code: "overloaded",
  message: "this server takes no calls now",
  retryAfterSec: 5,
};

const STARTING: WorkerState = { isServing: false, isLate: false };

/** Serves the workers' requests for shared state; no lock is needed. */
export class ClusterPrimary implements CallPlacer {
  readonly #options: ClusterPrimaryOptions;
  readonly #workers = new Map<number, Worker>();
  readonly #slots = new SlotLedger();
  readonly #holders: CallHolders;
  readonly #placedCalls: PlacedCallRelay;
  readonly #events: EventRelay;
  readonly #breakers: BreakerRelay;
  readonly #tokens: OneUseTokens;
  readonly #stopSending: CancelTimer;
  readonly #stopWatching: CancelTimer;
  #countedAtMs: number;
  /** The worker that placed a call of a list last. */
  #lastPlacer = 0;
  #sentState: ClusterState = {
    callCount: 0,
    taking: [],
    isDrained: false,
    otherServersTake: false,
  };

  constructor(options: ClusterPrimaryOptions) {
    const { clock, nodes } = options;
    this.#options = options;
    this.#holders = new CallHolders(this.#workers, this.#slots, nodes);
    this.#placedCalls = new PlacedCallRelay(this.#workers, this.#holders, nodes);
    this.#events = new EventRelay(this.#workers, nodes);
    this.#breakers = new BreakerRelay(this.#workers, clock, nodes);
    this.#tokens = nodes?.tokens ?? primaryTokens(clock);
    this.#stopSending = clock.every(STATE_MS, () => this.#sendState());
    this.#countedAtMs = clock.monotonicMs();
    this.#stopWatching = clock.every(HEARTBEAT_MS, () => this.#countBeats());
  }

  get callCount(): number {
    return this.#slots.callCount;
  }

  /** A worker starts. */
  join(name: number, { post, started, hung }: WorkerPort): WorkerLink {
    const handlers = { ...this.#handlers(name), started };
    const link = new Link<WorkerRequests, PrimaryRequests>(post, handlers, this.#options.log);
    this.#workers.set(name, {
      link,
      hung,
      state: STARTING,
      missedBeats: 0,
      hungAtBeats: HUNG_BEATS_AT_START,
      isDebugged: false,
    });
    link.notify("cluster", this.#sentState);
    for (const topic of this.#events.topics) link.notify("subscribed", { topic, isWanted: true });
    return link;
  }

  /** A worker has ended: frees its slots, and returns their number. */
  leave(name: number): number {
    this.#workers.get(name)?.link.close("a worker of the server has ended");
    this.#workers.delete(name);
    const callIds = this.#slots.freeAllOf(name);
    this.#options.nodes?.freeSlots(callIds);
    this.#events.leave(name);
    this.#sendState();
    return callIds.length;
  }

  /** This server accepts no new calls: notifies the other servers, and tells its workers which ones do. */
  async stopTaking(): Promise<void> {
    await this.#options.nodes?.stopTaking();
    this.#sendState();
  }

  close(): void {
    this.#stopSending();
    this.#stopWatching();
  }

  /** The workers that accept calls take turns. */
  async placeListedCall(order: ListedOrder): Promise<ListedPlacement> {
    const taking = this.#taking();
    const name = taking.find((each) => each > this.#lastPlacer) ?? taking[0];
    const worker = name === undefined ? undefined : this.#workers.get(name);
    if (name === undefined || worker === undefined) return NO_WORKER;
    this.#lastPlacer = name;
    return worker.link.request("placeListedCall", order);
  }

  /** This server as other nodes see it. */
  get asNode(): LocalServer {
    const slots = this.#slots;
    const holders = this.#holders;
    const { clock } = this.#options;
    const isTaking = () => this.#taking().length > 0;
    return {
      handlers: {
        isRinging: (callId) => this.#placedCalls.ringsHere(callId),
        handOver: (call) => this.#placedCalls.handOverToWorker(call),
        report: (report) => this.#placedCalls.reportHere(report),
        endCall: (call) => holders.endHere(call),
        controlCall: (call) => holders.controlHere(call),
        hasCall: (callId) => holders.isHere(callId),
      },
      get callCount() {
        return slots.callCount;
      },
      get isTaking() {
        return isTaking();
      },
      hasCall: (callId) => holders.isHere(callId),
      events: this.#events.asNode,
      breakers: this.#breakers.asNode,
      recordsChanged: () => void notifyRecordsChanged(this.#workers, undefined, clock),
    };
  }

  /** Resolves when all workers know of the change, except the one that made it. */
  async recordsChanged(name?: number): Promise<void> {
    const { nodes, clock } = this.#options;
    const here = notifyRecordsChanged(this.#workers, name, clock);
    await Promise.all([here, nodes?.recordsChanged()]);
  }

  #handlers(name: number): Omit<Handlers<PrimaryRequests>, "started"> {
    const { limits, database, nodes, metrics, clock } = this.#options;
    return {
      ...this.#tokens,
      takeSlot: (slot) => this.#takeSlot(name, slot),
      freeSlots: (callIds) => {
        const freed = callIds.filter((callId) => this.#slots.free(name, callId));
        if (freed.length > 0) nodes?.freeSlots(freed);
      },
      countSlots: (orgId) => nodes?.countSlots(orgId) ?? this.#slots.countOf(orgId),
      streamAddress: () => nodes?.streamAddress(),
      otherAvailableServer: () => nodes?.otherAvailableServer(),
      take: ({ limit, key }) => limits[limit].take(key),
      isRinging: (callId) => this.#placedCalls.isRinging(name, callId),
      handOver: (call) => this.#placedCalls.handOver(name, call),
      report: (report) => this.#placedCalls.report(name, report),
      metrics: async () => clusterMetricsPage(this.#workers, await metrics(), clock),
      state: (state) => this.#noteState(name, state),
      heartbeat: ({ isDebugged }) => this.#noteHeartbeat(name, isDebugged),
      endCall: (call) => this.#holders.end(name, call),
      controlCall: (call) => this.#holders.control(name, call),
      hasCall: (callId) => this.#holders.isAnywhere(callId),
      recordsChanged: () => this.recordsChanged(name),
      subscribe: (subscription) => this.#events.subscribe(name, subscription),
      publish: (published) => this.#events.publish(name, published),
      publishBreaker: (event) => this.#breakers.publish(name, event),
      subscribeBreakers: () => this.#breakers.sendAll(name),
      store: (request) => database.relay(request),
      checkStore: () => database.checkHealth(),
      jobsAdded: () => database.jobs.added.notify(),
    };
  }

  async #takeSlot(name: number, slot: SlotRequest): Promise<boolean> {
    const { nodes } = this.#options;
    const { orgId, callId, callsMax, replaces } = slot;
    if (replaces !== undefined) this.#slots.release(orgId, replaces);
    if (nodes === undefined) return this.#slots.take(name, orgId, callId, callsMax);
    // The slot is taken here first: the sweep frees a slot without a call.
    if (!this.#slots.take(name, orgId, callId, NO_LIMIT)) return false;
    let isTaken = false;
    try {
      isTaken = await nodes.takeSlot(slot);
    } finally {
      if (!isTaken) this.#slots.free(name, callId);
    }
    // The worker may have ended meanwhile.
    if (isTaken && !this.#workers.has(name)) nodes.freeSlots([callId]);
    return isTaken;
  }

  #noteState(name: number, state: WorkerState): void {
    const worker = this.#workers.get(name);
    if (worker === undefined) return;
    worker.state = state;
    this.#sendState();
  }

  #noteHeartbeat(name: number, isDebugged: boolean): void {
    const worker = this.#workers.get(name);
    if (worker === undefined) return;
    const wasSuspect = worker.missedBeats >= SUSPECT_BEATS;
    worker.missedBeats = 0;
    worker.hungAtBeats = HUNG_BEATS;
    worker.isDebugged = isDebugged;
    if (wasSuspect) this.#sendState();
  }

  #countBeats(): void {
    const nowMs = this.#options.clock.monotonicMs();
    const sinceMs = nowMs - this.#countedAtMs;
    this.#countedAtMs = nowMs;
    // Rounds that run together after the primary was blocked count as one.
    if (sinceMs < HEARTBEAT_MS / 2) return;
    for (const worker of this.#workers.values()) {
      if (worker.hung === undefined || worker.isDebugged) continue;
      worker.missedBeats += 1;
      if (worker.missedBeats === worker.hungAtBeats) worker.hung(worker.missedBeats);
    }
  }

  #taking(): readonly number[] {
    return [...this.#workers]
      .filter(([, { state }]) => state.isServing && !state.isLate)
      .filter(([, { missedBeats }]) => missedBeats < SUSPECT_BEATS)
      .map(([name]) => name);
  }

  #sendState(): void {
    const taking = this.#taking();
    const { isDraining: isDrained = false, othersAccept: otherServersTake = false } =
      this.#options.nodes ?? {};
    const state = { callCount: this.callCount, taking, isDrained, otherServersTake };
    if (isDeepStrictEqual(state, this.#sentState)) return;
    this.#sentState = state;
    for (const { link } of this.#workers.values()) link.notify("cluster", this.#sentState);
  }
}
