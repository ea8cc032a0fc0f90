import { randomUUID } from "node:crypto";
import type { WorkerLink } from "../../engine/cluster/ipc-messages.js";
import { Nodes } from "../../engine/cluster/nodes.js";
import { ClusterPrimary } from "../../engine/cluster/primary.js";
import type { Logger } from "../../engine/log.js";
import type { Metric } from "../../engine/metrics/cluster-metrics.js";
import type { Clock } from "../../engine/time/clock.js";
import { VERSION } from "../../engine/version.js";
import type { Database } from "../../storage/database.js";
import { sharedLimits } from "./cluster-limits.js";
import { ClusterWorker } from "./worker-client.js";
import type { WorkerSettings } from "./worker-server.js";

export interface JoiningOptions {
  readonly database: Database;
  readonly nodeName: string;
  /** The address for streams of this node's calls; undefined if all servers share one address. */
  readonly nodeUrl: string | undefined;
  readonly callsMax: number;
  /** Other servers have declared this one dead. */
  readonly onLost: () => void;
  readonly clock: Clock;
  readonly log: Logger;
}

/** This server among those of its database; undefined if the database has one server. */
export async function joinNodes(options: JoiningOptions): Promise<Nodes | undefined> {
  const { database, nodeName: name, nodeUrl, callsMax: capacity } = options;
  const { messageBus } = database;
  if (messageBus === undefined) return undefined;
  const about = { name, address: nodeUrl ?? null, version: VERSION, capacity };
  const node = { startId: randomUUID(), ...about };
  const nodes = new Nodes({ ...options, messageBus, node, isNameCertain: database.isSoleServer });
  await nodes.join();
  database.recordChanges.onChanged(() => nodes.recordsChanged());
  return nodes;
}

export interface SoleWorkerOptions {
  readonly settings: WorkerSettings;
  readonly database: Database;
  readonly nodes: Nodes;
  /** Additional metrics for the page. */
  readonly moreMetrics: () => Promise<readonly Metric[]>;
  readonly clock: Clock;
  readonly log: Logger;
}

/** A single-process server among several servers: that process uses a primary too, in the same process. */
export function soleWorker(options: SoleWorkerOptions) {
  const { settings, database, clock, log, nodes } = options;
  const limits = sharedLimits(settings, clock, () => nodes.liveCount);
  const primary = new ClusterPrimary({ ...options, limits, metrics: options.moreMetrics });
  const primarySide: { link?: WorkerLink } = {};
  const worker = new ClusterWorker({
    name: 1,
    sharesPort: false,
    post: (message) => primarySide.link?.receive(message),
    jwtSecret: settings.jwtSecret,
    clock,
    log,
    onRecordsChanged: () => database.recordChanges.invalidate(),
    stop: () => Promise.resolve(),
    endAll: () => undefined,
  });
  primarySide.link = primary.join(1, {
    post: (message) => worker.primary.receive(message),
    started: () => undefined,
  });
  const close = () => {
    worker.close();
    primary.close();
  };
  return { primary, worker, close };
}
