import type { Cluster } from "../../engine/calls/cluster-calls.js";
import type { LiveCalls } from "../../engine/calls/live-calls.js";
import type { OutboundCalls } from "../../engine/calls/outbound/outbound-calls.js";
import type { PlacedCalls } from "../../engine/calls/outbound/placed-calls.js";
import type { AvailableServer } from "../../engine/cluster/coordination.js";
import type { LimitName } from "../../engine/cluster/ipc-messages.js";
import type { Ending } from "../../engine/conversation/call-end.js";
import type { CallControl, ControlOutcome } from "../../engine/conversation/control-command.js";
import { clusterMetricsText, type Metric } from "../../engine/metrics/cluster-metrics.js";
import type { Metrics } from "../../engine/metrics/metrics.js";
import type { OutboundTokens } from "../../engine/security/outbound-token.js";
import { type StreamTokenRegistry, StreamTokens } from "../../engine/security/stream-token.js";
import { type StreamUuidRegistry, StreamUuids } from "../../engine/security/stream-uuid.js";
import { type TokenUseRegistry, TokenUses } from "../../engine/security/token-uses.js";
import { AnsweredWebhooks, type WebhookAnswers } from "../../engine/telephony/answered-webhooks.js";
import { type CallInfoStore, CallInfos } from "../../engine/telephony/call-info.js";
import type { Clock } from "../../engine/time/clock.js";
import type { MaybePromise } from "../../engine/time/maybe-promise.js";
import { type RateLimit, RateLimiter, type UseLimiter } from "../http/request/rate-limiter.js";

/** The state shared by all workers, for the HTTP server of a worker. */
export interface ClusterMember {
  /** Undefined if this process is the only one of its server and of its database. */
  readonly shared: Cluster | undefined;
  /** Other workers listen on the same port. */
  readonly sharesPort: boolean;
  readonly streamTokens: StreamTokenRegistry;
  readonly streamUuids: StreamUuidRegistry;
  readonly callInfos: CallInfoStore;
  readonly answeredWebhooks: WebhookAnswers;
  readonly tokenUses: TokenUseRegistry;
  limiterOf(name: LimitName, limit: RateLimit): UseLimiter;
  placedCalls(own: OutboundCalls, tokens: OutboundTokens): PlacedCalls;
  /** The calls of all workers; `find` also returns a call that none of them has, and its end does nothing. */
  liveCalls(own: LiveCalls): Pick<LiveCalls, "find">;
  /** False if no worker has the call. */
  endCall(own: LiveCalls, callId: string, ending: Ending): MaybePromise<boolean>;
  /** `elsewhere` where no worker has the call. */
  controlCall(own: LiveCalls, call: CallControl): MaybePromise<ControlOutcome>;
  /** `more`: this process's metrics besides those of its calls. */
  metricsText(own: Metrics, more?: () => Promise<readonly Metric[]>): Promise<string>;
  /** The best address for the next caller's stream; undefined if all servers share one address. */
  streamAddress(): MaybePromise<string | undefined>;
  /** Whether another server accepts callers at the address that all of them share. */
  readonly otherServersTake: boolean;
  /** Another server that accepts callers; undefined if there is none. */
  otherAvailableServer(): MaybePromise<AvailableServer | undefined>;
}

/** For a single-process server: every result is available synchronously. */
export function singleProcess(jwtSecret: string, clock: Clock): ClusterMember {
  return {
    shared: undefined,
    sharesPort: false,
    streamTokens: new StreamTokens({ secret: jwtSecret, clock }),
    streamUuids: new StreamUuids(clock),
    callInfos: new CallInfos(clock),
    answeredWebhooks: new AnsweredWebhooks(clock),
    tokenUses: new TokenUses(clock),
    limiterOf: (_name, limit) => new RateLimiter(limit, clock),
    placedCalls: (own) => own,
    liveCalls: (own) => own,
    endCall: (own, callId, ending) => {
      const call = own.find(callId);
      call?.end(ending);
      return call !== undefined;
    },
    controlCall: (own, call) => own.control(call),
    metricsText: async (own, more) =>
      more === undefined ? own.text() : clusterMetricsText([await own.page(), await more()]),
    streamAddress: () => undefined,
    otherServersTake: false,
    otherAvailableServer: () => undefined,
  };
}
