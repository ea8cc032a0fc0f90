import type { Database } from "../../storage/database.js";
import { type BusMessages, RECORDS_CHANGED } from "../../storage/nodes/message-bus.js";
import type { NodeStart } from "../../storage/nodes/node-store.js";
import type { PublishedEvent, Subscription } from "../calls/call-events.js";
import type { CallControl, ControlOutcome } from "../conversation/control-command.js";
import type { Logger } from "../log.js";
import type { Clock } from "../time/clock.js";
import { within } from "../time/deadline.js";
import type { BreakerEvent } from "../vendors/chain/breakers.js";
import type {
  AvailableServer,
  CallEnding,
  LocalServer,
  OneUseTokens,
  OtherNodes,
  PlacedCallReport,
  RingingCall,
  SlotRequest,
} from "./coordination.js";
import { NodeBreakers } from "./node-breakers.js";
import { ALL_NODES, NODE_ANSWERS, NodeBus } from "./node-bus.js";
import { NodeEvents } from "./node-events.js";
import { NodeRegistry } from "./node-registry.js";
import { nodeTokens } from "./node-tokens.js";

export interface NodesOptions {
  readonly database: Pick<Database, "nodes" | "calls" | "callSlots" | "onceTokens">;
  readonly messageBus: BusMessages;
  readonly node: NodeStart;
  /** As in `NodeRegistryOptions`. */
  readonly isNameCertain: boolean;
  readonly onLost: () => void;
  readonly clock: Clock;
  readonly log: Logger;
}

/** They also find out by the next heartbeats. */
const STOP_ANNOUNCEMENT_MAX_MS = 1_000;
/** The call was already counted, and continues. */
const NO_LIMIT = Number.MAX_SAFE_INTEGER;

/** This server among those of its database: slots, tokens and calls are shared by all of them. */
export class Nodes implements OtherNodes {
  readonly tokens: OneUseTokens;
  readonly #options: NodesOptions;
  readonly #registry: NodeRegistry;
  #server: LocalServer | undefined;
  #nodeBus: NodeBus | undefined;
  #events: NodeEvents | undefined;
  #breakers: NodeBreakers | undefined;
  #isStopping = false;

  constructor(options: NodesOptions) {
    const { database, clock, log } = options;
    this.#options = options;
    this.tokens = nodeTokens(database, clock, log);
    this.#registry = new NodeRegistry({
      ...options,
      isStopping: () => this.#isStopping,
      state: () => ({
        calls: this.#server?.callCount ?? 0,
        isTaking: !this.#isStopping && (this.#server?.isTaking ?? false),
      }),
      onSweep: () => this.#sweep(),
    });
  }

  /** Rejects with `StorageUnavailableError` if another server of this name is alive. */
  async join(): Promise<void> {
    await this.#registry.join();
  }

  /** From now on the others can send requests to this server. */
  async serve(server: LocalServer): Promise<void> {
    const { messageBus, node, clock, log } = this.#options;
    this.#server = server;
    const onChange = () => void this.#registry.beat();
    const { handlers } = server;
    const { startId } = node;
    const onRecordsChanged = () => server.recordsChanged();
    this.#events = new NodeEvents({ messageBus, startId, ...server.events, clock, log });
    const breakers = new NodeBreakers({ messageBus, startId, ...server.breakers, clock, log });
    const channels = new Map([...this.#events.channels, ...breakers.channels]);
    const onListening = () => void breakers.requestState();
    const listeners = { handlers, onChange, onRecordsChanged, onListening, channels };
    this.#nodeBus = new NodeBus({ messageBus, startId, ...listeners, clock, log });
    await this.#nodeBus.open();
    this.#breakers = breakers;
    await this.#registry.beat();
  }

  /** Assigns calls that are opened under this run to this node; call it before the first one. */
  addRun(runId: string): Promise<void> {
    const { database, node } = this.#options;
    return database.nodes.addRun(node.startId, runId);
  }

  /** Tells the others to send no more callers here. Resolves soon, even if the database is down; never rejects. */
  async stopTaking(): Promise<void> {
    this.#isStopping = true;
    await within(this.#options.clock, STOP_ANNOUNCEMENT_MAX_MS, this.#announceStop());
  }

  async #announceStop(): Promise<void> {
    const { messageBus, log } = this.#options;
    // The heartbeat in progress may still have reported that callers are accepted.
    await this.#registry.beat();
    await this.#registry.beat();
    await messageBus.post(ALL_NODES, "").catch((error: unknown) => {
      log.warn({ error }, "the other servers were not notified that this one stops");
    });
  }

  /** Called when the calls of this server have ended. */
  async leave(): Promise<void> {
    this.#events?.close();
    await this.#registry.leave();
    await this.#nodeBus?.close();
  }

  get liveCount(): number {
    return this.#registry.liveCount;
  }

  get isDraining(): boolean {
    return this.#registry.isDraining;
  }

  streamAddress(): string | undefined {
    return this.#registry.streamAddress;
  }

  get othersAccept(): boolean {
    return this.#registry.othersAccept;
  }

  otherAvailableServer(): AvailableServer | undefined {
    return this.#registry.otherAvailableServer;
  }

  takeSlot(slot: SlotRequest): Promise<boolean> {
    const { database, node } = this.#options;
    return database.callSlots.take({ ...slot, startId: node.startId });
  }

  /** Slots that cannot be freed now are freed by the next sweep. */
  freeSlots(callIds: readonly string[]): void {
    const { database, node, log } = this.#options;
    database.callSlots.free(node.startId, callIds).catch((error: unknown) => {
      log.warn(
        { error, count: callIds.length },
        "failed to free call slots; the next sweep frees them",
      );
    });
  }

  countSlots(orgId: string): Promise<number> {
    return this.#options.database.callSlots.count(orgId);
  }

  isRinging(callId: string): Promise<boolean> {
    const question = { name: "isRinging", asks: callId } as const;
    return this.#requestHolders(callId, (holder) =>
      this.#request(holder, question, NODE_ANSWERS.isRinging),
    );
  }

  async handOver(call: RingingCall) {
    const holder = await this.#otherHolder(call.callId);
    if (holder === undefined) return undefined;
    const question = { name: "handOver", asks: call } as const;
    const handed = await this.#request(holder, question, NODE_ANSWERS.handOver);
    if (handed === undefined) return undefined;
    await this.#takeOver(call, holder);
    return { ...handed, callRef: handed.callRef };
  }

  async transferSlot(callId: string, to: string): Promise<void> {
    const { database, node, log } = this.#options;
    await database.callSlots.move(callId, node.startId, to).catch((error: unknown) => {
      log.warn({ error, callId }, "failed to move a call slot to another server");
    });
  }

  report(report: PlacedCallReport): Promise<boolean> {
    const question = { name: "report", asks: report } as const;
    return this.#requestHolders(report.claims.callId, (holder) =>
      this.#request(holder, question, NODE_ANSWERS.report),
    );
  }

  /** If this fails, the others find out by themselves a moment later. */
  async recordsChanged(): Promise<void> {
    const { messageBus, node, log } = this.#options;
    await messageBus.post(RECORDS_CHANGED, node.startId).catch((error: unknown) => {
      log.warn({ error }, "the other servers were not notified of a change");
    });
  }

  endCall(call: CallEnding): Promise<boolean> {
    const question = { name: "endCall", asks: call } as const;
    return this.#requestHolders(call.callId, (holder) =>
      this.#request(holder, question, NODE_ANSWERS.endCall),
    );
  }

  async controlCall(call: CallControl): Promise<ControlOutcome> {
    const question = { name: "controlCall", asks: call } as const;
    let outcome: ControlOutcome = "elsewhere";
    await this.#requestHolders(call.callId, async (holder) => {
      outcome = await this.#request(holder, question, NODE_ANSWERS.controlCall);
      return outcome !== "elsewhere";
    });
    return outcome;
  }

  hasCall(callId: string): Promise<boolean> {
    const question = { name: "hasCall", asks: callId } as const;
    return this.#requestHolders(callId, (holder) =>
      this.#request(holder, question, NODE_ANSWERS.hasCall),
    );
  }

  /** The others drop a topic that is not renewed. */
  subscribe({ topic, isWanted }: Subscription): void {
    if (isWanted) this.#events?.subscribe(topic);
  }

  publish(published: PublishedEvent): void {
    this.#events?.publish(published);
  }

  publishBreaker(event: BreakerEvent): void {
    this.#breakers?.publish(event);
  }

  /** If the holder has just handed the call over it answers false; then the new holder is asked. */
  async #requestHolders(
    callId: string,
    ask: (holder: string) => Promise<boolean>,
  ): Promise<boolean> {
    const asked = new Set<string>();
    let holder = await this.#otherHolder(callId);
    while (holder !== undefined && !asked.has(holder)) {
      if (await ask(holder)) return true;
      asked.add(holder);
      holder = await this.#otherHolder(callId);
    }
    return false;
  }

  /** The call has already moved here, whatever happens to its slot; never rejects. */
  async #takeOver(call: RingingCall, from: string): Promise<void> {
    const { database, node, log } = this.#options;
    const { callSlots } = database;
    const { callId } = call;
    const { startId } = node;
    try {
      if ((await callSlots.holderOf(callId)) === startId) return;
      // The former node runs the previous version, or its sweep found a slot of a call that it no longer has.
      if (await callSlots.move(callId, from, startId)) return;
      await callSlots.take({ ...call, callsMax: NO_LIMIT, startId });
    } catch (error) {
      log.warn({ error, callId }, "failed to take over a call slot");
    }
  }

  async #otherHolder(callId: string): Promise<string | undefined> {
    const { database, node } = this.#options;
    const holder = await database.callSlots.holderOf(callId);
    return holder === node.startId ? undefined : holder;
  }

  #request: NodeBus["request"] = (...question) => this.#bus.request(...question);

  get #bus(): NodeBus {
    if (this.#nodeBus === undefined) throw new Error("the other servers were asked before `serve`");
    return this.#nodeBus;
  }

  async #sweep(): Promise<void> {
    const { database, node, log } = this.#options;
    const stored = await database.callSlots.callsOf(node.startId);
    const over = stored.filter((callId) => this.#server?.hasCall(callId) === false);
    await database.callSlots.free(node.startId, over);
    if (over.length > 0)
      log.warn({ count: over.length }, "freed the slots of calls that have ended");
    await database.onceTokens.purge();
  }
}
