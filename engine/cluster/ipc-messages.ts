import type { RelayedOutcome, RelayedRequest } from "../../storage/statements/relayed-store.js";
import type { StoreCondition } from "../../storage/statements/statement-port.js";
import type { PublishedEvent, Subscription } from "../calls/call-events.js";
import type { CallPlacer } from "../calls/lists/listed-calls.js";
import type { Metric } from "../metrics/cluster-metrics.js";
import type { BreakerEvent } from "../vendors/chain/breakers.js";
import type { CallHolder, Coordination, OneUseTokens } from "./coordination.js";
import type { Link, RequestsOf } from "./ipc-link.js";

/** The rate limits that are counted over all workers of a server. */
export type LimitName = "auth" | "general" | "vendor" | "voice" | "webhook";

/** A worker's state, as far as others need it. */
export interface WorkerState {
  /** It accepts calls, unless it is late. */
  readonly isServing: boolean;
  /** Its event loop is late: calls in progress come first. */
  readonly isLate: boolean;
}

/** How often a worker sends a heartbeat to the primary. */
export const HEARTBEAT_MS = 1_000;

export interface Heartbeat {
  /** A debugger is attached: the process may stop at a breakpoint for as long as a person thinks. */
  readonly isDebugged: boolean;
}

/** The server as each of its workers sees it. */
export interface ClusterState {
  readonly callCount: number;
  /** Names of the workers that accept calls. */
  readonly taking: readonly number[];
  /** An operator has stopped new calls here. */
  readonly isDrained: boolean;
  /** Another server accepts callers at the shared address. */
  readonly otherServersTake: boolean;
}

/** Services that only the primary offers, besides the coordination of calls. */
interface PrimaryServices {
  /** The seconds to wait; 0 when the use is within the limit. */
  take(use: { readonly limit: LimitName; readonly key: string }): number;
  /** Sends the breakers that are not closed, and all changes from now on. */
  subscribeBreakers(): void;
  /** The metrics of all workers as text. */
  metrics(): Promise<string>;
  /** The worker listens on this port. */
  started(port: number): void;
  state(state: WorkerState): void;
  /** A heartbeat of the worker's event loop, from its start on. */
  heartbeat(heartbeat: Heartbeat): void;
  /** Runs statements on the database. */
  store(request: RelayedRequest): Promise<RelayedOutcome>;
  checkStore(): Promise<StoreCondition>;
  /** The worker has stored jobs, which the primary runs. */
  jobsAdded(): void;
}

/** Requests from the primary to a worker. */
interface WorkerServices extends CallHolder, CallPlacer {
  /** A watcher at another worker or server has subscribed, or the last one has left. */
  subscribed(subscription: Subscription): void;
  published(published: PublishedEvent): void;
  /** Breaker events from other processes. */
  breakers(events: readonly BreakerEvent[]): void;
  metrics(): Promise<readonly Metric[]>;
  /** Cached records may be out of date. */
  recordsChanged(): void;
  cluster(state: ClusterState): void;
  /** Drains, then ends, at the latest after `drainTimeoutMs`. */
  stop(drainTimeoutMs: number): Promise<void>;
  endAll(): void;
}

/** Requests from a worker to the primary. */
export type PrimaryRequests = RequestsOf<Coordination & OneUseTokens & PrimaryServices>;
export type WorkerRequests = RequestsOf<WorkerServices>;

/** The primary's side of its link with a worker. */
export type WorkerLink = Link<WorkerRequests, PrimaryRequests>;
/** A worker's side. */
export type PrimaryLink = Pick<Link<PrimaryRequests, WorkerRequests>, "request" | "notify">;
