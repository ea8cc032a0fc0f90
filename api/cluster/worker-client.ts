import type { Cluster } from "../../engine/calls/cluster.js";
import type { LiveCall, LiveCalls } from "../../engine/calls/live-calls.js";
import type { OutboundCalls } from "../../engine/calls/outbound/outbound-calls.js";
import type { PlacedCalls } from "../../engine/calls/outbound/placed-calls.js";
import { type IpcMessage, Link } from "../../engine/cluster/ipc-link.js";
import {
  type ClusterState,
  type Elsewhere,
  HEARTBEAT_MS,
  type LimitName,
  type PrimaryRequests,
  type WorkerRequests,
  type WorkerState,
} from "../../engine/cluster/ipc-messages.js";
import {
  WorkerBreakers,
  WorkerCallSlots,
  WorkerEventBus,
  WorkerPlacedCalls,
  WorkerStreamTokens,
} from "../../engine/cluster/worker-ports.js";
import type { Ending } from "../../engine/conversation/call-end.js";
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
import type { SessionServer } from "./worker-server.js";
import type { WorkerSide } from "./worker-side.js";

/** How soon the others learn that this process is late, or no longer. */
const LOOK_MS = 250;

export interface ClusterWorkerOptions {
  /** This process's among those of its box. */
  readonly name: number;
  readonly sharesPort: boolean;
  readonly post: (message: IpcMessage) => void;
  readonly jwtSecret: string;
  readonly clock: Clock;
  readonly log: Logger;
  /** What is kept in memory may be out of date. */
  readonly onRecordsChanged: () => void;
  readonly stop: (drainTimeoutMs: number) => Promise<void>;
  readonly endAll: () => void;
}

/** A session process's side of the box: what must be one for all of them it asks of the owner. */
export class ClusterWorker implements WorkerSide {
  readonly shared: Cluster;
  readonly streamTokens: StreamTokenRegistry;
  readonly streamUuids: StreamUuidRegistry;
  readonly callInfos: CallInfoStore;
  readonly answeredWebhooks: WebhookAnswers;
  readonly tokenUses: TokenUseRegistry;
  readonly owner: Link<PrimaryRequests, WorkerRequests>;
  readonly #options: ClusterWorkerOptions;
  readonly #slots: WorkerCallSlots;
  readonly #news: WorkerEventBus;
  readonly #breakers: WorkerBreakers;
  #box: ClusterState = { callCount: 0, taking: [], isDrained: false, otherServersTake: false };
  #state: WorkerState = { isServing: false, isLate: false };
  #placedCalls: WorkerPlacedCalls | undefined;
  #liveCalls: LiveCalls | undefined;
  #metrics: Metrics | undefined;
  #stopLooking: CancelTimer | undefined;
  #stopBeating: CancelTimer | undefined;

  constructor(options: ClusterWorkerOptions) {
    const { jwtSecret: secret, clock, log, post } = options;
    this.#options = options;
    this.owner = new Link<PrimaryRequests, WorkerRequests>(post, this.#handlers(), log);
    this.#slots = new WorkerCallSlots(this.owner);
    this.#news = new WorkerEventBus(this.owner);
    this.#breakers = new WorkerBreakers(this.owner);
    this.shared = this.#sharedBox();
    this.streamTokens = new WorkerStreamTokens(new StreamTokens({ secret, clock }), this.owner);
    this.streamUuids = {
      mint: (claims) => this.owner.ask("mintUuid", claims),
      redeem: (uuid) => this.owner.ask("redeemUuid", uuid),
    };
    this.callInfos = {
      keep: (call, info) => this.owner.ask("keepCallInfo", { call, info }),
      find: (call) => this.owner.ask("findCallInfo", call),
    };
    this.tokenUses = {
      take: (token, historyKey) => this.owner.ask("takeToken", { ...usedPart(token), historyKey }),
      opened: (token, historyKey) =>
        this.owner.tell("tokenOpened", { ...usedPart(token), historyKey }),
      giveBack: (token) => this.owner.tell("giveTokenBack", usedPart(token)),
    };
    this.answeredWebhooks = {
      answerTo: ({ id, isUnique }, make) =>
        this.owner.ask("answerWebhook", { id, isUnique, answer: make() }),
    };
  }

  get sharesPort(): boolean {
    return this.#options.sharesPort;
  }

  streamAddress(): Promise<string | undefined> {
    return this.owner.ask("streamAddress", undefined);
  }

  get otherServersTake(): boolean {
    return this.#box.otherServersTake;
  }

  elsewhere(): Promise<Elsewhere | undefined> {
    return this.owner.ask("elsewhere", undefined);
  }

  limiterOf(limit: LimitName): UseLimiter {
    return { take: (key) => this.owner.ask("use", { limit, key }) };
  }

  placedCalls(own: OutboundCalls, tokens: OutboundTokens): PlacedCalls {
    const { owner } = this;
    this.#placedCalls = new WorkerPlacedCalls({ own, tokens, slots: this.#slots, owner });
    return this.#placedCalls;
  }

  liveCalls(own: LiveCalls): Pick<LiveCalls, "find"> {
    this.#liveCalls = own;
    const elsewhere = (callId: string): LiveCall => ({
      callId,
      end: (ending) => void this.#endElsewhere(callId, ending),
    });
    return { find: (callId) => own.find(callId) ?? elsewhere(callId) };
  }

  endCall(own: LiveCalls, callId: string, ending: Ending): MaybePromise<boolean> {
    const call = own.find(callId);
    call?.end(ending);
    return call === undefined ? this.owner.ask("endCall", { callId, ending }) : true;
  }

  /** Resolves when the other processes of the box know that what they keep may be out of date; never rejects. */
  async recordsChanged(): Promise<void> {
    await this.owner.ask("recordsChanged", undefined).catch((error: unknown) => {
      this.#options.log.warn({ error }, "the others were not told of a change");
    });
  }

  /** The metrics of the whole box. */
  metricsText(): Promise<string> {
    return this.owner.ask("metrics", undefined);
  }

  /** The server listens: from now on the others are told how it fares, and a late one leaves connections to them. */
  began({ port, calls, http }: SessionServer): void {
    const { clock, log } = this.#options;
    this.#metrics = calls.metrics;
    const look = () => {
      this.#tell({ isServing: calls.isServing, isLate: calls.isLate });
      http.takeConnections(!calls.isLate || !this.shared.othersTake).catch((error: unknown) => {
        log.error({ error }, "the port could not be listened on again");
      });
    };
    this.#stopLooking = clock.every(LOOK_MS, look);
    this.owner.tell("started", port);
    look();
  }

  /** From now on the owner sees when the event loop of this process stands still. */
  sendHeartbeats(isDebugged: () => boolean): void {
    const send = () => this.owner.tell("heartbeat", { isDebugged: isDebugged() });
    this.#stopBeating = this.#options.clock.every(HEARTBEAT_MS, send);
    send();
  }

  close(): void {
    this.#stopLooking?.();
    this.#stopBeating?.();
  }

  #tell(state: WorkerState): void {
    const { isServing, isLate } = this.#state;
    if (state.isServing === isServing && state.isLate === isLate) return;
    this.#state = state;
    this.owner.tell("state", state);
  }

  #sharedBox(): Cluster {
    const box = () => this.#box;
    const { name } = this.#options;
    return {
      slots: this.#slots,
      news: this.#news,
      breakers: this.#breakers,
      hasCall: (callId) => this.#hasElsewhere(callId),
      endCall: (callId, ending) => this.#endElsewhere(callId, ending),
      get callCount() {
        return box().callCount;
      },
      get isDrained() {
        return box().isDrained;
      },
      get othersTake() {
        return box().taking.some((other) => other !== name);
      },
    };
  }

  #hasElsewhere(callId: string): Promise<boolean> {
    return this.#ifAnswered(callId, this.owner.ask("hasCall", callId));
  }

  #endElsewhere(callId: string, ending: Ending): Promise<boolean> {
    return this.#ifAnswered(callId, this.owner.ask("endCall", { callId, ending }));
  }

  async #ifAnswered(callId: string, answer: Promise<boolean>): Promise<boolean> {
    return answer.catch((error: unknown) => {
      this.#options.log.info({ error, callId }, "call owner did not respond");
      return false;
    });
  }

  #handlers() {
    const { stop, endAll, onRecordsChanged } = this.#options;
    return {
      isRinging: (callId: string) => this.#placedCalls?.handlers.isRinging(callId) ?? false,
      handOver: (call: WorkerRequests["handOver"]["asks"]) =>
        this.#placedCalls?.handlers.handOver(call),
      report: (report: WorkerRequests["report"]["asks"]) =>
        this.#placedCalls?.handlers.report(report),
      endCall: ({ callId, ending }: WorkerRequests["endCall"]["asks"]) =>
        this.#liveCalls?.find(callId)?.end(ending),
      subscribed: (wanted: WorkerRequests["subscribed"]["asks"]) =>
        this.#news.handlers.subscribed(wanted),
      news: (sent: WorkerRequests["news"]["asks"]) => this.#news.handlers.news(sent),
      breakers: (all: WorkerRequests["breakers"]["asks"]) => this.#breakers.handlers.breakers(all),
      metrics: async () => (await this.#metrics?.page()) ?? [],
      recordsChanged: onRecordsChanged,
      box: (box: ClusterState) => {
        this.#box = box;
      },
      stop,
      endAll,
    };
  }
}

/** What a page has put into its token stays in this process. */
function usedPart({ nonce, expiresAtMs }: UsedToken): UsedToken {
  return { nonce, expiresAtMs };
}
