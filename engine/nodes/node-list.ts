import { availableParallelism, loadavg } from "node:os";
import type { Database } from "../../storage/database.js";
import type { NodeRecord } from "../../storage/nodes/node-store.js";
import type { AuditActor } from "../../storage/tenancy/audit-record.js";
import { Failure } from "../failure.js";
import { auditEntry } from "../tenancy/audit-entry.js";
import type { Clock } from "../time/clock.js";
import { VERSION } from "../version.js";
import { ALL_NODES } from "./node-letter.js";
import { SILENCE_MAX_MS } from "./node-registry.js";

/** `silent`: not heard of for so long that it is taken for dead; `full`: takes no more calls just now. */
export type NodeState = "taking" | "full" | "draining" | "silent";

export interface ListedNode {
  readonly name: string;
  readonly state: NodeState;
  /** In progress. */
  readonly calls: number;
  /** 0 = no such limit. */
  readonly callsMax: number;
  /** Processes that wanted a core lately, by cores. */
  readonly load: number;
  readonly version: string;
  /** Undefined where one address serves all. */
  readonly address: string | undefined;
  readonly startedAtMs: number;
}

/** What a server says of itself that has its database for itself. */
export interface LoneNode {
  readonly name: string;
  readonly callsMax: number;
  readonly isTaking: () => boolean;
}

export interface NodeListOptions {
  readonly database: Pick<Database, "nodes" | "organizationOverviews" | "writers" | "mail">;
  /** Stands in the list of a file, which has one server. */
  readonly lone: LoneNode;
  readonly clock: Clock;
  readonly newId: () => string;
}

/** The servers of a database, for those who look after them. */
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

  /** As `drainNode`; Failure `conflict` where the database has one server. */
  async drain(name: string, actor: AuditActor): Promise<void> {
    const { database } = this.#options;
    if (isOneServers(database)) {
      throw new Failure("conflict", "a file has one server; several work on PostgreSQL");
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

/** The server takes no new calls until it is started again. Failure `notFound`: there is none of this name. */
export async function drainNode(
  { database, clock, newId }: Omit<NodeListOptions, "lone">,
  name: string,
  actor: AuditActor,
): Promise<void> {
  const target = { type: "node", id: name, orgId: null, name } as const;
  const change = { actor, action: "node.drain", target } as const;
  const entry = auditEntry({ id: newId(), atMs: clock.epochMs(), ...change });
  if (!(await database.nodes.drain(name, entry))) {
    throw new Failure("notFound", `there is no node ${name}`);
  }
  // A process that has no mail leaves it to the node's next heartbeat.
  await database.mail?.post(ALL_NODES, "");
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
