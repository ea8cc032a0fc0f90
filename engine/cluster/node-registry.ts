import { availableParallelism, loadavg } from "node:os";
import type { Database } from "../../storage/database.js";
import type { NodeRecord, NodeStart } from "../../storage/nodes/node-store.js";
import { StorageUnavailableError } from "../../storage/statements/storage-error.js";
import type { AuditActor } from "../../storage/tenancy/audit-record.js";
import type { Logger } from "../log.js";
import { RequestError } from "../request-error.js";
import { auditEntry } from "../tenancy/audit-entry.js";
import type { CancelTimer, Clock } from "../time/clock.js";
import { VERSION } from "../version.js";
import type { AvailableServer } from "./coordination.js";
import { ALL_NODES } from "./node-bus.js";

export interface Carrying {
  readonly startId: string;
  readonly address: string | null;
  readonly calls: number;
  /** 0 = unknown. */
  readonly capacity: number;
  readonly load: number;
}

/** Replaces an unknown capacity, so that calls can be compared with other nodes'. */
const CAPACITY_UNKNOWN = 1_000;

/**
 * The node with an address that has the lowest load relative to its capacity, including callers who were sent
 * there and have not arrived yet; of two equal ones, the one with the lower processor load. Undefined if none has
 * an address.
 */
export function leastLoaded<Node extends Carrying>(
  nodes: readonly Node[],
  sent: ReadonlyMap<string, number>,
): Node | undefined {
  const partOf = ({ startId, calls, capacity }: Node) =>
    (calls + (sent.get(startId) ?? 0)) / (capacity > 0 ? capacity : CAPACITY_UNKNOWN);
  return nodes
    .filter(({ address }) => address !== null)
    .toSorted((one, other) => partOf(one) - partOf(other) || one.load - other.load)[0];
}

/** The maximum time between two checks; after a longer pause it is unknown which nodes were silent in it. */
const PAUSE_MAX_MS = 5_000;

export interface Beating {
  readonly startId: string;
  readonly heartbeatAtMs: number;
}

interface Seen {
  readonly heartbeatAtMs: number;
  readonly sinceMs: number;
}

/**
 * Detects nodes that have been silent for too long, by continuous checks: after the database was down, or this
 * process was blocked, every node has the full time again.
 */
export class SilenceDetector {
  readonly #silenceMaxMs: number;
  #seen: ReadonlyMap<string, Seen> = new Map();
  #checkedAtMs: number | undefined;

  constructor(silenceMaxMs: number) {
    this.#silenceMaxMs = silenceMaxMs;
  }

  /** A check has failed. */
  interrupt(): void {
    this.#checkedAtMs = undefined;
  }

  silentOf<Node extends Beating>(nodes: readonly Node[], nowMs: number): readonly Node[] {
    const isUnbroken = this.#checkedAtMs !== undefined && nowMs - this.#checkedAtMs <= PAUSE_MAX_MS;
    const before = isUnbroken ? this.#seen : new Map<string, Seen>();
    this.#checkedAtMs = nowMs;
    this.#seen = new Map(
      nodes.map(({ startId, heartbeatAtMs }) => {
        const seen = before.get(startId);
        const isSilent = seen?.heartbeatAtMs === heartbeatAtMs;
        return [startId, isSilent ? seen : { heartbeatAtMs, sinceMs: nowMs }];
      }),
    );
    return nodes.filter(({ startId }) => {
      const sinceMs = this.#seen.get(startId)?.sinceMs ?? nowMs;
      return nowMs - sinceMs >= this.#silenceMaxMs;
    });
  }
}

const BEAT_MS = 2_000;
/** A node without a heartbeat for this long counts as dead. */
export const SILENCE_MAX_MS = 15_000;
/** How often, in heartbeats, slots of ended calls and calls of dead nodes are swept. */
const SWEEP_BEATS = 15;

export interface NodeRegistryOptions {
  readonly database: Pick<Database, "nodes" | "calls">;
  readonly node: NodeStart;
  /** False: a live node may have lost the lock of this name. */
  readonly isNameCertain: boolean;
  /** Whether this node no longer accepts callers. */
  readonly isStopping: () => boolean;
  /** This node's state for each heartbeat. */
  readonly state: () => { readonly calls: number; readonly isTaking: boolean };
  /** Other nodes have declared this one dead, and have closed its calls. */
  readonly onLost: () => void;
  /** Called now and then, after a stored heartbeat. */
  readonly onSweep: () => Promise<void>;
  readonly clock: Clock;
  readonly log: Logger;
}

/** This node among those of its database: it sends heartbeats, and closes the calls of dead nodes. */
export class NodeRegistry {
  readonly #options: NodeRegistryOptions;
  readonly #watch: SilenceDetector;
  #nodes: readonly NodeRecord[] = [];
  #tidyCount = 0;
  #beating: Promise<void> | undefined;
  #tidying: Promise<void> | undefined;
  #isOver = false;
  #stopBeating: CancelTimer | undefined;
  /** Callers who were sent to each node since its last heartbeat. */
  readonly #sent = new Map<string, number>();

  constructor(options: NodeRegistryOptions) {
    this.#options = options;
    this.#watch = new SilenceDetector(SILENCE_MAX_MS);
  }

  /**
   * Closes what an earlier start of this name has left. Rejects with `StorageUnavailableError` if that one is
   * alive.
   */
  async join(): Promise<void> {
    const { database, node, clock } = this.#options;
    const earlier = (await database.nodes.list()).find(({ name }) => name === node.name);
    if (earlier !== undefined && !(await this.#follows(earlier))) {
      throw new StorageUnavailableError(
        `another server named ${node.name} runs on the database: give this one a NODE_NAME of its own`,
      );
    }
    await database.nodes.register(node);
    this.#stopBeating = clock.every(BEAT_MS, () => void this.beat());
    await this.beat();
  }

  /** The number of live nodes, including this one. */
  get liveCount(): number {
    return Math.max(1, this.#nodes.filter((node) => this.#lives(node)).length);
  }

  get isDraining(): boolean {
    const { startId } = this.#options.node;
    return this.#nodes.some((node) => node.startId === startId && node.isDraining === 1);
  }

  /** The best address for the next caller; undefined if nodes have no addresses of their own. */
  get streamAddress(): string | undefined {
    return this.#sendOneTo(this.#taking);
  }

  /** Whether another node accepts callers at the address that all nodes share. */
  get othersAccept(): boolean {
    return this.#welcoming.some(({ address }) => address === null);
  }

  /** The best other server for the next caller; undefined if no other one accepts callers. */
  get otherAvailableServer(): AvailableServer | undefined {
    const others = this.#welcoming;
    return others.length === 0 ? undefined : { address: this.#sendOneTo(others) };
  }

  /**
   * The other nodes that accept callers. If this one has stopped for good, all live nodes count: one that has just
   * started, or was late for a moment, accepts callers before its heartbeat says so.
   */
  get #welcoming(): readonly NodeRecord[] {
    const { node, isStopping } = this.#options;
    const isOther = ({ startId }: NodeRecord) => startId !== node.startId;
    const taking = this.#taking.filter(isOther);
    if (taking.length > 0 || !(isStopping() || this.isDraining)) return taking;
    return this.#nodes.filter(
      (other) => isOther(other) && other.isDraining === 0 && this.#lives(other),
    );
  }

  get #taking(): readonly NodeRecord[] {
    return this.#nodes.filter(
      (node) => node.isTaking === 1 && node.isDraining === 0 && this.#lives(node),
    );
  }

  #sendOneTo(nodes: readonly NodeRecord[]): string | undefined {
    const best = leastLoaded(nodes, this.#sent);
    if (best === undefined) return undefined;
    this.#sent.set(best.startId, (this.#sent.get(best.startId) ?? 0) + 1);
    return best.address ?? undefined;
  }

  /**
   * Resolves when the heartbeat is stored, or has failed: the next one makes up for it. Leftovers of other nodes
   * are removed by then, but further heartbeats do not wait for that. Never rejects.
   */
  beat(): Promise<void> {
    if (this.#isOver) return Promise.resolve();
    this.#beating ??= this.#beatOnce().finally(() => {
      this.#beating = undefined;
    });
    return this.#beating.then(() => this.#tidying);
  }

  /** Removes the node; its calls have ended. */
  async leave(): Promise<void> {
    const { node, log } = this.#options;
    this.#stop();
    try {
      const calls = await this.#remove(node);
      if (calls > 0)
        log.error({ calls }, "calls whose end could not be stored were closed as failed");
    } catch (error) {
      log.warn({ error }, "failed to record that this server has stopped");
    }
  }

  /** Whether nothing of an earlier start is left; false if that one is alive. */
  async #follows(earlier: NodeRecord): Promise<boolean> {
    if (!this.#options.isNameCertain && !(await this.#isSilent(earlier))) return false;
    const what = "an earlier run of this server did not record its stop";
    return (await this.#close(earlier, what)) || (await this.#find(earlier)) === undefined;
  }

  #stop(): void {
    this.#isOver = true;
    this.#stopBeating?.();
  }

  async #beatOnce(): Promise<void> {
    try {
      await this.#beat();
    } catch (error) {
      this.#watch.interrupt();
      this.#options.log.warn({ error }, "failed to store the heartbeat of this server");
    }
  }

  async #beat(): Promise<void> {
    const { database, node, state, onLost, clock } = this.#options;
    const load = (loadavg()[0] ?? 0) / availableParallelism();
    const nodes = await database.nodes.beat(node.startId, { ...state(), load });
    if (this.#isOver) return;
    if (nodes === undefined) {
      this.#stop();
      onLost();
      return;
    }
    this.#nodes = nodes;
    this.#sent.clear();
    const others = nodes.filter(({ startId }) => startId !== node.startId);
    const silent = this.#watch.silentOf(others, clock.monotonicMs());
    // Not awaited: a lock that a dead node has left would make this one look dead, too.
    this.#tidying ??= this.#sweep(silent).finally(() => {
      this.#tidying = undefined;
    });
  }

  async #sweep(silent: readonly NodeRecord[]): Promise<void> {
    const isSweepDue = this.#tidyCount % SWEEP_BEATS === 0;
    this.#tidyCount += 1;
    try {
      for (const node of silent) {
        await this.#close(node, "another server missed its heartbeats for too long");
      }
      if (!isSweepDue) return;
      await this.#closeOrphans();
      await this.#options.onSweep();
    } catch (error) {
      this.#options.log.warn({ error }, "failed to remove expired rows; retrying");
    }
  }

  #lives({ isLost, silentMs }: NodeRecord): boolean {
    return isLost === 0 && silentMs < SILENCE_MAX_MS;
  }

  /**
   * Concurrent attempts of nodes have one effect: the first one closes a call. False if the node is alive after
   * all.
   */
  async #close(node: NodeRecord, what: string): Promise<boolean> {
    const { database, log } = this.#options;
    if (!(await database.nodes.lose(node))) return false;
    const calls = await this.#remove(node);
    log.error({ node: node.name, calls }, `${what}; its calls were closed as failed`);
    return true;
  }

  async #remove({ startId }: Pick<NodeRecord, "startId">): Promise<number> {
    const { database, clock } = this.#options;
    let calls = 0;
    for (const runId of await database.nodes.runsOf(startId)) {
      calls += await database.calls.closeRunOfLostNode(runId, clock.epochMs());
    }
    await database.nodes.remove(startId);
    return calls;
  }

  async #closeOrphans(): Promise<void> {
    const { database, clock, log } = this.#options;
    for (const runId of await database.nodes.orphanRuns()) {
      const calls = await database.calls.closeRunOfLostNode(runId, clock.epochMs());
      if (calls > 0) log.error({ calls }, "calls of no server were closed as failed");
    }
  }

  /** After a restart of the database the name's lock proves nothing: a live node continues its heartbeats. */
  async #isSilent(earlier: NodeRecord): Promise<boolean> {
    const { clock } = this.#options;
    const endMs = clock.monotonicMs() + SILENCE_MAX_MS;
    while (clock.monotonicMs() < endMs) {
      await new Promise<void>((resolve) => {
        clock.after(BEAT_MS, resolve);
      });
      const now = await this.#find(earlier);
      // It has left, or others have declared it dead.
      if (now === undefined) return true;
      if (now.heartbeatAtMs !== earlier.heartbeatAtMs) return false;
    }
    return true;
  }

  async #find({ startId }: NodeRecord): Promise<NodeRecord | undefined> {
    const nodes = await this.#options.database.nodes.list();
    return nodes.find((node) => node.startId === startId);
  }
}

/** `silent`: counts as dead, because its heartbeat is overdue; `full`: accepts no more calls at the moment. */
export type NodeState = "taking" | "full" | "draining" | "silent";

export interface ListedNode {
  readonly name: string;
  readonly state: NodeState;
  /** Calls in progress. */
  readonly calls: number;
  /** 0 = unlimited. */
  readonly callsMax: number;
  /** Processes that recently wanted a core, per core. */
  readonly load: number;
  readonly version: string;
  /** Undefined if all servers share one address. */
  readonly address: string | undefined;
  readonly startedAtMs: number;
}

/** The state of a server that has its database for itself. */
export interface LoneNode {
  readonly name: string;
  readonly callsMax: number;
  readonly isTaking: () => boolean;
}

export interface NodeListOptions {
  readonly database: Pick<Database, "nodes" | "organizationOverviews" | "writers" | "messageBus">;
  /** The only entry for a file database, which has one server. */
  readonly lone: LoneNode;
  readonly clock: Clock;
  readonly newId: () => string;
}

/** The servers of a database, for operators. */
export class NodeList {
  readonly #options: NodeListOptions;
  readonly #startedAtMs: number;

  constructor(options: NodeListOptions) {
    this.#options = options;
    this.#startedAtMs = options.clock.epochMs();
  }

  /** By name. */
  async list(): Promise<readonly ListedNode[]> {
    const { database } = this.#options;
    if (isOneServers(database)) return [await this.#lone()];
    return (await database.nodes.list()).map(listed);
  }

  /** As `drainNode`; RequestError `conflict` if the database has one server. */
  async drain(name: string, actor: AuditActor): Promise<void> {
    const { database } = this.#options;
    if (isOneServers(database)) {
      throw new RequestError(
        "conflict",
        "a SQLite file has one server; several servers need PostgreSQL",
      );
    }
    await drainNode(this.#options, name, actor);
  }

  async #lone(): Promise<ListedNode> {
    const { database, lone } = this.#options;
    return {
      name: lone.name,
      state: lone.isTaking() ? "taking" : "full",
      calls: await database.organizationOverviews.countCalls(),
      callsMax: lone.callsMax,
      load: (loadavg()[0] ?? 0) / availableParallelism(),
      version: VERSION,
      address: undefined,
      startedAtMs: this.#startedAtMs,
    };
  }
}

/** The server accepts no new calls until it is restarted. RequestError `not_found`: no server has this name. */
export async function drainNode(
  { database, clock, newId }: Omit<NodeListOptions, "lone">,
  name: string,
  actor: AuditActor,
): Promise<void> {
  const target = { type: "node", id: name, orgId: null, name } as const;
  const change = { actor, action: "node.drain", target } as const;
  const entry = auditEntry({ id: newId(), atMs: clock.epochMs(), ...change });
  if (!(await database.nodes.drain(name, entry))) {
    throw new RequestError("not_found", `there is no node ${name}`);
  }
  // A process without a message bus relies on the node's next heartbeat.
  await database.messageBus?.post(ALL_NODES, "");
}

function isOneServers({ writers }: Pick<Database, "writers">): boolean {
  return writers === "one";
}

function listed(node: NodeRecord): ListedNode {
  const { name, calls, capacity, load, version, address, startedAtMs } = node;
  const state = nodeState(node);
  const about = { name, state, calls, callsMax: capacity, load, version, startedAtMs };
  return { ...about, address: address ?? undefined };
}

export function nodeState({
  isLost,
  silentMs,
  isDraining,
  isTaking,
}: Pick<NodeRecord, "isLost" | "silentMs" | "isDraining" | "isTaking">): NodeState {
  if (isLost === 1 || silentMs >= SILENCE_MAX_MS) return "silent";
  if (isDraining === 1) return "draining";
  return isTaking === 1 ? "taking" : "full";
}
