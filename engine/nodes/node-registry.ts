import { availableParallelism, loadavg } from "node:os";
import type { Database } from "../../storage/database.js";
import type { NodeRecord, NodeStart } from "../../storage/nodes/node-store.js";
import { StorageUnavailable } from "../../storage/statements/storage-failure.js";
import type { Elsewhere } from "../box/box-questions.js";
import type { Logger } from "../log.js";
import type { CancelTimer, Clock } from "../time/clock.js";
import { leastLoaded } from "./least-loaded.js";
import { SilenceWatch } from "./silence-watch.js";

const BEAT_MS = 2_000;
/** A node that is silent for so long is taken for dead. */
export const SILENCE_MAX_MS = 15_000;
/** Slots of calls that are over, and calls of nodes that are gone: what an unlucky moment has left. */
const SWEEP_BEATS = 15;

export interface NodeRegistryOptions {
  readonly database: Pick<Database, "nodes" | "calls">;
  readonly node: NodeStart;
  /** False: the lock of this name may have been lost by a node that lives. */
  readonly isNameCertain: boolean;
  /** Whether this node takes no callers any more. */
  readonly isStopping: () => boolean;
  /** What is said of this node with each heartbeat. */
  readonly state: () => { readonly calls: number; readonly isTaking: boolean };
  /** Other nodes have taken this one for dead, and have closed its calls. */
  readonly onLost: () => void;
  /** Now and then, after a heartbeat that was stored. */
  readonly onSweep: () => Promise<void>;
  readonly clock: Clock;
  readonly log: Logger;
}

/** This node among those of its database: says that it lives, and closes the calls of those that do not. */
export class NodeRegistry {
  readonly #options: NodeRegistryOptions;
  readonly #watch: SilenceWatch;
  #nodes: readonly NodeRecord[] = [];
  #tidyCount = 0;
  #beating: Promise<void> | undefined;
  #tidying: Promise<void> | undefined;
  #isOver = false;
  #stopBeating: CancelTimer | undefined;
  /** Callers who were sent to each node since the last heartbeat told of them. */
  readonly #sent = new Map<string, number>();

  constructor(options: NodeRegistryOptions) {
    this.#options = options;
    this.#watch = new SilenceWatch(SILENCE_MAX_MS);
  }

  /** Closes what an earlier start of this name has left. Rejects with `StorageUnavailable` when that one lives. */
  async join(): Promise<void> {
    const { database, node, clock } = this.#options;
    const earlier = (await database.nodes.list()).find(({ name }) => name === node.name);
    if (earlier !== undefined && !(await this.#follows(earlier))) {
      throw new StorageUnavailable(
        `another server named ${node.name} runs on the database: give this one a NODE_NAME of its own`,
      );
    }
    await database.nodes.register(node);
    this.#stopBeating = clock.every(BEAT_MS, () => void this.beat());
    await this.beat();
  }

  /** Nodes that live, this one among them. */
  get liveCount(): number {
    return Math.max(1, this.#nodes.filter((node) => this.#lives(node)).length);
  }

  get isDraining(): boolean {
    const { startId } = this.#options.node;
    return this.#nodes.some((node) => node.startId === startId && node.isDraining === 1);
  }

  /** Where the next caller is best sent; undefined where nodes have no addresses of their own. */
  get streamAddress(): string | undefined {
    return this.#sendOneTo(this.#taking);
  }

  /** Whether another node takes callers who come by the address that all nodes share. */
  get othersTake(): boolean {
    return this.#welcoming.some(({ address }) => address === null);
  }

  /** Where the next caller is best sent but here; undefined when nobody else takes callers. */
  get elsewhere(): Elsewhere | undefined {
    const others = this.#welcoming;
    return others.length === 0 ? undefined : { address: this.#sendOneTo(others) };
  }

  /**
   * The other nodes that take callers. Where this one takes none for good, those that live are good enough: one that has just
   * been started, or was late for a moment, takes them before its heartbeat says so.
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
   * Settles when the heartbeat is stored, or could not be: the next one makes up for it. What it shows to be left by others is
   * put away by then, but further heartbeats do not wait for that. Never rejects.
   */
  beat(): Promise<void> {
    if (this.#isOver) return Promise.resolve();
    this.#beating ??= this.#beatOnce().finally(() => {
      this.#beating = undefined;
    });
    return this.#beating.then(() => this.#tidying);
  }

  /** The node is gone; its calls have ended. */
  async leave(): Promise<void> {
    const { node, log } = this.#options;
    this.#stop();
    try {
      const calls = await this.#remove(node);
      if (calls > 0)
        log.error({ calls }, "calls whose end could not be stored were closed as failed");
    } catch (error) {
      log.warn({ error }, "this server could not say that it has stopped");
    }
  }

  /** Whether nothing is left of an earlier start, by now; false when that one lives. */
  async #follows(earlier: NodeRecord): Promise<boolean> {
    if (!this.#options.isNameCertain && !(await this.#isSilent(earlier))) return false;
    const what = "an earlier start of this server has not said that it stopped";
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
      this.#options.log.warn({ error }, "the heartbeat of this server could not be stored");
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
    const silent = this.#watch.look(others, clock.monotonicMs());
    // Not waited for: a lock that a dead node has left would make this one look dead, too.
    this.#tidying ??= this.#tidy(silent).finally(() => {
      this.#tidying = undefined;
    });
  }

  async #tidy(silent: readonly NodeRecord[]): Promise<void> {
    const isSweepDue = this.#tidyCount % SWEEP_BEATS === 0;
    this.#tidyCount += 1;
    try {
      for (const node of silent) {
        await this.#close(node, "a server of this database was silent for too long");
      }
      if (!isSweepDue) return;
      await this.#closeOrphans();
      await this.#options.onSweep();
    } catch (error) {
      this.#options.log.warn({ error }, "what is over could not be put away; it is tried again");
    }
  }

  #lives({ isLost, silentMs }: NodeRecord): boolean {
    return isLost === 0 && silentMs < SILENCE_MAX_MS;
  }

  /**
   * What another node does at the same time is done once: a call is closed by whoever comes first. False when the node has lived
   * on.
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

  /** After a restart of the database the name's lock says nothing: one that lives goes on to beat. */
  async #isSilent(earlier: NodeRecord): Promise<boolean> {
    const { clock } = this.#options;
    const endMs = clock.monotonicMs() + SILENCE_MAX_MS;
    while (clock.monotonicMs() < endMs) {
      await new Promise<void>((resolve) => {
        clock.after(BEAT_MS, resolve);
      });
      const now = await this.#find(earlier);
      // It has left, or others have taken it for dead.
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
