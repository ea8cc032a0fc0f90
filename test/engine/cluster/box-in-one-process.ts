import { type Handlers, type IpcMessage, Link } from "../../../engine/cluster/ipc-link.js";
import type {
  PrimaryRequests,
  WorkerLink,
  WorkerRequests,
} from "../../../engine/cluster/ipc-messages.js";
import type { OtherNodes } from "../../../engine/cluster/other-nodes.js";
import { ClusterPrimary } from "../../../engine/cluster/primary.js";
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
  report: nothing,
  endCall: nothing,
  subscribed: nothing,
  news: nothing,
  breakers: nothing,
  metrics: () => [],
  recordsChanged: nothing,
  box: nothing,
  stop: nothing,
  endAll: nothing,
};
/** What a box is told to have beside its session processes. */
interface BoxDeps {
  /** The other servers of its database. */
  readonly nodes?: OtherNodes;
  /** The metrics of the owner's process. */
  readonly metrics?: readonly Metric[];
  readonly log?: Logger;
}

/** An owner whose session processes are all in this one. */
export function newBox({ nodes, metrics = [], log = new SilentLogger() }: BoxDeps = {}) {
  const clock = new VirtualClock();
  const limiter = { take: () => 0 };
  const owner = new ClusterPrimary({
    limits: { auth: limiter, general: limiter, vendor: limiter, voice: limiter, webhook: limiter },
    database: {
      relay: () => Promise.resolve({ results: [], fault: undefined, writeFault: undefined }),
      look: () => Promise.resolve({ fault: undefined, warning: undefined }),
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
    const post = (message: IpcMessage) => setImmediate(() => ownerSide.receive(message));
    const member = new Link<PrimaryRequests, WorkerRequests>(
      post,
      { ...HANDLERS, ...handlers },
      log,
    );
    const ownerSide: WorkerLink = owner.join(name, {
      post: (message) => setImmediate(() => member.receive(message)),
      started: nothing,
      ...(hung && { hung }),
    });
    return member;
  };
  return { clock, owner, join };
}

export async function settled(): Promise<void> {
  for (let turn = 0; turn < SETTLE_TURNS; turn += 1) await new Promise(setImmediate);
}

export const slotOf = (callId: string) => ({ orgId: ORG, callId, callsMax: CALLS_MAX });
