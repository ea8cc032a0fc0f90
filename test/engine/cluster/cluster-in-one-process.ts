import type { OtherNodes } from "../../../engine/cluster/coordination.js";
import { type Handlers, type IpcMessage, Link } from "../../../engine/cluster/ipc-link.js";
import type {
  PrimaryRequests,
  WorkerLink,
  WorkerRequests,
} from "../../../engine/cluster/ipc-messages.js";
import { ClusterPrimary, NO_WORKER } from "../../../engine/cluster/primary.js";
import type { Logger } from "../../../engine/log.js";
import type { Metric } from "../../../engine/metrics/cluster-metrics.js";
import { SilentLogger } from "../../doubles/silent-logger.js";
import { VirtualClock } from "../../doubles/virtual-clock.js";

export const ORG = "org";
export const CALLS_MAX = 3;
const SETTLE_TURNS = 5;
export const nothing = () => undefined;
const HANDLERS: Handlers<WorkerRequests> = {
  isRinging: () => false,
  handOver: nothing,
  report: () => false,
  placeListedCall: () => NO_WORKER,
  endCall: () => false,
  controlCall: () => "elsewhere",
  subscribed: nothing,
  published: nothing,
  breakers: nothing,
  metrics: () => [],
  recordsChanged: nothing,
  cluster: nothing,
  stop: nothing,
  endAll: nothing,
};
/** What a server is told to have beside its workers. */
interface ClusterDeps {
  /** The other servers of its database. */
  readonly nodes?: OtherNodes;
  /** The metrics of the primary's process. */
  readonly metrics?: readonly Metric[];
  readonly log?: Logger;
}

/** A primary whose workers are all in this one. */
export function newCluster({ nodes, metrics = [], log = new SilentLogger() }: ClusterDeps = {}) {
  const clock = new VirtualClock();
  const limiter = { take: () => 0 };
  const primary = new ClusterPrimary({
    limits: { auth: limiter, general: limiter, vendor: limiter, voice: limiter, webhook: limiter },
    database: {
      relay: () => Promise.resolve({ results: [], fault: undefined, writeFault: undefined }),
      checkHealth: () => Promise.resolve({ fault: undefined, warning: undefined }),
      jobs: { added: { notify: () => undefined } },
    },
    nodes,
    metrics: () => Promise.resolve(metrics),
    clock,
    log,
  });
  /** Both ends of the way are in this process; parcels go one turn of the event loop later, as between two. */
  const join = (
    name: number,
    handlers: Partial<Handlers<WorkerRequests>> = {},
    hung?: (missedBeats: number) => void,
  ) => {
    const post = (message: IpcMessage) => setImmediate(() => primarySide.receive(message));
    const worker = new Link<PrimaryRequests, WorkerRequests>(
      post,
      { ...HANDLERS, ...handlers },
      log,
    );
    const primarySide: WorkerLink = primary.join(name, {
      post: (message) => setImmediate(() => worker.receive(message)),
      started: nothing,
      ...(hung && { hung }),
    });
    return worker;
  };
  return { clock, primary, join };
}

export async function settled(): Promise<void> {
  for (let turn = 0; turn < SETTLE_TURNS; turn += 1) await new Promise(setImmediate);
}

export const slotOf = (callId: string) => ({ orgId: ORG, callId, callsMax: CALLS_MAX });
