import type { Cluster } from "../../engine/calls/cluster-calls.js";
import type { CallPlacer } from "../../engine/calls/lists/listed-calls.js";
import type { LiveCall, LiveCalls } from "../../engine/calls/live-calls.js";
import type { OutboundCalls } from "../../engine/calls/outbound/outbound-calls.js";
import type { PlacedCalls } from "../../engine/calls/outbound/placed-calls.js";
import type { AvailableServer } from "../../engine/cluster/coordination.js";
import { type Handlers, type IpcMessage, Link } from "../../engine/cluster/ipc-link.js";
import {
  type ClusterState,
  HEARTBEAT_MS,
  type LimitName,
  type PrimaryRequests,
  type WorkerRequests,
  type WorkerState,
} from "../../engine/cluster/ipc-messages.js";
import { NO_WORKER } from "../../engine/cluster/primary.js";
import {
  WorkerBreakers,
  WorkerCallSlots,
  WorkerEventBus,
  WorkerPlacedCalls,
  WorkerStreamTokens,
} from "../../engine/cluster/worker-ports.js";
import type { Ending } from "../../engine/conversation/call-end.js";
import type { CallControl, ControlOutcome } from "../../engine/conversation/control-command.js";
import type { Logger } from "../../engine/log.js";
import type { Metrics } from "../../engine/metrics/metrics.js";
import type { OutboundTokens } from "../../engine/security/outbound-token.js";
import { type StreamTokenRegistry, StreamTokens } from "../../engine/security/stream-token.js";
import type { StreamUuidRegistry } from "../../engine/security/stream-uuid.js";
import type { TokenUseRegistry, UsedToken } from "../../engine/security/token-uses.js";
import type { WebhookAnswers } from "../../engine/telephony/answered-webhooks.js";
import type { CallInfoStore } from "../../engine/telephony/call-info.js";
import type { CancelTimer, Clock } from "../../engine/time/clock.js";
import type { MaybePromise } from "../../engine/time/maybe-promise.js";
import type { UseLimiter } from "../http/request/rate-limiter.js";
import type { ClusterMember } from "./cluster-member.js";
import type { WorkerServer } from "./worker-server.js";

/** How soon the others learn that this process is late, or no longer. */
const CHECK_INTERVAL_MS = 250;

export interface ClusterWorkerOptions {
  /** The worker's number within its server. */
  readonly name: number;
  readonly sharesPort: boolean;
  readonly post: (message: IpcMessage) => void;
  readonly jwtSecret: string;
  readonly clock: Clock;
  readonly log: Logger;
  /** Cached records may be out of date. */
  readonly onRecordsChanged: () => void;
  readonly stop: (drainTimeoutMs: number) => Promise<void>;
  readonly endAll: () => void;
}

/** A worker's side of its server: it requests shared state from the primary. */
export class ClusterWorker implements ClusterMember {
  readonly shared: Cluster;
  readonly streamTokens: StreamTokenRegistry;
  readonly streamUuids: StreamUuidRegistry;
  readonly callInfos: CallInfoStore;
  readonly answeredWebhooks: WebhookAnswers;
  readonly tokenUses: TokenUseRegistry;
  readonly primary: Link<PrimaryRequests, WorkerRequests>;
  readonly #options: ClusterWorkerOptions;
  readonly #slots: WorkerCallSlots;
  readonly #events: WorkerEventBus;
  readonly #breakers: WorkerBreakers;
  #cluster: ClusterState = { callCount: 0, taking: [], isDrained: false, otherServersTake: false };
  #state: WorkerState = { isServing: false, isLate: false };
  #placedCalls: WorkerPlacedCalls | undefined;
  #liveCalls: LiveCalls | undefined;
  #placer: CallPlacer | undefined;
  #metrics: Metrics | undefined;
  #stopLooking: CancelTimer | undefined;
  #stopBeating: CancelTimer | undefined;

  constructor(options: ClusterWorkerOptions) {
    const { jwtSecret: secret, clock, log, post } = options;
    this.#options = options;
    this.primary = new Link<PrimaryRequests, WorkerRequests>(post, this.#handlers(), log);
    this.#slots = new WorkerCallSlots(this.primary);
    this.#events = new WorkerEventBus(this.primary);
    this.#breakers = new WorkerBreakers(this.primary);
    this.shared = this.#sharedCluster();
    this.streamTokens = new WorkerStreamTokens(new StreamTokens({ secret, clock }), this.primary);
    this.streamUuids = {
      mint: (claims) => this.primary.request("mintUuid", claims),
      redeem: (uuid) => this.primary.request("redeemUuid", uuid),
    };
    this.callInfos = {
      keep: (call, info) => this.primary.request("keepCallInfo", { call, info }),
      find: (call) => this.primary.request("findCallInfo", call),
    };
    this.tokenUses = {
      take: (token, historyKey) =>
        this.primary.request("takeToken", { ...usedPart(token), historyKey }),
      opened: (token, historyKey) =>
        this.primary.notify("tokenOpened", { ...usedPart(token), historyKey }),
      release: (token) => this.primary.notify("releaseToken", usedPart(token)),
    };
    this.answeredWebhooks = {
      answerTo: ({ id, isUnique }, make) =>
        this.primary.request("answerWebhook", { id, isUnique, answer: make() }),
    };
  }

  get sharesPort(): boolean {
    return this.#options.sharesPort;
  }

  streamAddress(): Promise<string | undefined> {
    return this.primary.request("streamAddress", undefined);
  }

  get otherServersTake(): boolean {
    return this.#cluster.otherServersTake;
  }

  otherAvailableServer(): Promise<AvailableServer | undefined> {
    return this.primary.request("otherAvailableServer", undefined);
  }

  limiterOf(limit: LimitName): UseLimiter {
    return { take: (key) => this.primary.request("take", { limit, key }) };
  }

  placedCalls(own: OutboundCalls, tokens: OutboundTokens): PlacedCalls {
    const { primary } = this;
    this.#placedCalls = new WorkerPlacedCalls({ own, tokens, slots: this.#slots, primary });
    return this.#placedCalls;
  }

  liveCalls(own: LiveCalls): Pick<LiveCalls, "find"> {
    this.#liveCalls = own;
    const elsewhere = (callId: string): LiveCall => ({
      callId,
      end: (ending) => void this.#endOnOtherWorker(callId, ending),
    });
    return { find: (callId) => own.find(callId) ?? elsewhere(callId) };
  }

  endCall(own: LiveCalls, callId: string, ending: Ending): MaybePromise<boolean> {
    const call = own.find(callId);
    call?.end(ending);
    return call === undefined ? this.primary.request("endCall", { callId, ending }) : true;
  }

  controlCall(own: LiveCalls, call: CallControl): MaybePromise<ControlOutcome> {
    const outcome = own.control(call);
    return outcome === "elsewhere" ? this.primary.request("controlCall", call) : outcome;
  }

  /** Resolves when the other workers know that their cached records may be out of date; never rejects. */
  async recordsChanged(): Promise<void> {
    await this.primary.request("recordsChanged", undefined).catch((error: unknown) => {
      this.#options.log.warn({ error }, "failed to notify the other workers of a change");
    });
  }

  /** The metrics of all workers. */
  metricsText(): Promise<string> {
    return this.primary.request("metrics", undefined);
  }

  /** The server listens: from now on the others know its state, and a late one leaves connections to them. */
  began({ port, calls, http, placer }: WorkerServer): void {
    const { clock, log } = this.#options;
    this.#placer = placer;
    this.#metrics = calls.metrics;
    const look = () => {
      this.#send({ isServing: calls.isServing, isLate: calls.isOverloaded });
      http
        .takeConnections(!calls.isOverloaded || !this.shared.othersAccept)
        .catch((error: unknown) => {
          log.error({ error }, "failed to listen on the port again");
        });
    };
    this.#stopLooking = clock.every(CHECK_INTERVAL_MS, look);
    this.primary.notify("started", port);
    look();
  }

  /** From now on the primary notices when the event loop of this process is blocked. */
  sendHeartbeats(isDebugged: () => boolean): void {
    const send = () => this.primary.notify("heartbeat", { isDebugged: isDebugged() });
    this.#stopBeating = this.#options.clock.every(HEARTBEAT_MS, send);
    send();
  }

  close(): void {
    this.#stopLooking?.();
    this.#stopBeating?.();
  }

  #send(state: WorkerState): void {
    const { isServing, isLate } = this.#state;
    if (state.isServing === isServing && state.isLate === isLate) return;
    this.#state = state;
    this.primary.notify("state", state);
  }

  #sharedCluster(): Cluster {
    const state = () => this.#cluster;
    const { name } = this.#options;
    return {
      slots: this.#slots,
      events: this.#events,
      breakers: this.#breakers,
      hasCall: (callId) => this.#hasOtherNodes(callId),
      endCall: (callId, ending) => this.#endOnOtherWorker(callId, ending),
      get callCount() {
        return state().callCount;
      },
      get isDrained() {
        return state().isDrained;
      },
      get othersAccept() {
        return state().taking.some((other) => other !== name);
      },
    };
  }

  #hasOtherNodes(callId: string): Promise<boolean> {
    return this.#ifAnswered(callId, this.primary.request("hasCall", callId));
  }

  #endOnOtherWorker(callId: string, ending: Ending): Promise<boolean> {
    return this.#ifAnswered(callId, this.primary.request("endCall", { callId, ending }));
  }

  async #ifAnswered(callId: string, answer: Promise<boolean>): Promise<boolean> {
    return answer.catch((error: unknown) => {
      this.#options.log.info({ error, callId }, "the process that has the call did not respond");
      return false;
    });
  }

  #handlers(): Handlers<WorkerRequests> {
    const { stop, endAll, onRecordsChanged } = this.#options;
    return {
      isRinging: (callId) => this.#placedCalls?.handlers.isRinging(callId) ?? false,
      handOver: (call) => this.#placedCalls?.handlers.handOver(call),
      report: (report) => this.#placedCalls?.handlers.report(report) ?? false,
      placeListedCall: (order) => this.#placer?.placeListedCall(order) ?? NO_WORKER,
      endCall: ({ callId, ending }) => {
        const call = this.#liveCalls?.find(callId);
        call?.end(ending);
        return call !== undefined;
      },
      controlCall: (call) => this.#liveCalls?.control(call) ?? "elsewhere",
      subscribed: (subscription) => this.#events.handlers.subscribed(subscription),
      published: (published) => this.#events.handlers.published(published),
      breakers: (events) => this.#breakers.handlers.breakers(events),
      metrics: async () => (await this.#metrics?.page()) ?? [],
      recordsChanged: onRecordsChanged,
      cluster: (state) => {
        this.#cluster = state;
      },
      stop,
      endAll,
    };
  }
}

/** The page's data in its token stays in this process. */
function usedPart({ nonce, expiresAtMs }: UsedToken): UsedToken {
  return { nonce, expiresAtMs };
}
