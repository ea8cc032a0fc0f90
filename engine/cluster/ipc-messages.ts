import type { RelayedOutcome, RelayedRequest } from "../../storage/statements/relayed-store.js";
import type { StoreCondition } from "../../storage/statements/statement-port.js";
import type { PublishedEvent, Subscription } from "../calls/call-events.js";
import type { Metric } from "../metrics/cluster-metrics.js";
import type { BreakerEvent } from "../vendors/chain/breakers.js";
import type { CallHolder, Coordination, OneUseTokens } from "./coordination.js";
import type { Link, RequestsOf } from "./ipc-link.js";

/** What is rate limited, counted over all workers of a server. */
export type LimitName = "auth" | "general" | "vendor" | "voice" | "webhook";

/** How a worker fares, as far as the others have to know. */
export interface WorkerState {
  /** Would take a call, were it not late. */
  readonly isServing: boolean;
  /** Its event loop is late: callers in progress come first. */
  readonly isLate: boolean;
}

/** How often a worker sends a heartbeat to the primary. */
export const HEARTBEAT_MS = 1_000;

export interface Heartbeat {
  /** A debugger is attached: the process may stand still at a breakpoint for as long as a person thinks. */
  readonly isDebugged: boolean;
}

/** The server as each of its workers sees it. */
export interface ClusterState {
  readonly callCount: number;
  /** Names of the workers that take calls. */
  readonly taking: readonly number[];
  /** An operator wants no new calls here. */
  readonly isDrained: boolean;
  /** Another server takes callers who come by the address that all of them share. */
  readonly otherServersTake: boolean;
}

/** What only the primary of a worker does, beside the coordination of calls. */
interface PrimaryServices {
  /** The seconds to wait; 0 when the use is within the limit. */
  take(use: { readonly limit: LimitName; readonly key: string }): number;
  /** Sends the breakers that are not closed, and all changes from now on. */
  subscribeBreakers(): void;
  /** The metrics of all workers as text. */
  metrics(): Promise<string>;
  /** The asker listens, on this port. */
  started(port: number): void;
  state(state: WorkerState): void;
  /** A heartbeat of the asker's event loop, from its first moment on. */
  heartbeat(heartbeat: Heartbeat): void;
  /** Runs statements on the database. */
  store(request: RelayedRequest): Promise<RelayedOutcome>;
  checkStore(): Promise<StoreCondition>;
  /** The asker has stored jobs, which the primary runs. */
  jobsAdded(): void;
}

/** What the primary asks of a worker. */
interface WorkerServices extends CallHolder {
  /** A watcher at another worker or server subscribed to that, or the last one left. */
  subscribed(subscription: Subscription): void;
  published(published: PublishedEvent): void;
  /** What others have found out of credentials. */
  breakers(events: readonly BreakerEvent[]): void;
  metrics(): Promise<readonly Metric[]>;
  /** What is kept in memory may be out of date. */
  recordsChanged(): void;
  cluster(state: ClusterState): void;
  /** Drains, then ends; after `drainTimeoutMs` at the latest. */
  stop(drainTimeoutMs: number): Promise<void>;
  endAll(): void;
}

/** What a worker asks of the primary. */
export type PrimaryRequests = RequestsOf<Coordination & OneUseTokens & PrimaryServices>;
export type WorkerRequests = RequestsOf<WorkerServices>;

/** The primary's side of its link with a worker. */
export type WorkerLink = Link<WorkerRequests, PrimaryRequests>;
/** A worker's side. */
export type PrimaryLink = Pick<Link<PrimaryRequests, WorkerRequests>, "request" | "notify">;
