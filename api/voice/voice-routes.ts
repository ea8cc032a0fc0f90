import type { AgentVendorsOptions } from "../../engine/calls/agent-vendors.js";
import { BriefingVoices } from "../../engine/calls/briefing-voices.js";
import type { CallCenter } from "../../engine/calls/call-center.js";
import type { CallListening } from "../../engine/calls/call-listening.js";
import { Continuations } from "../../engine/calls/continuations.js";
import type { LiveCalls } from "../../engine/calls/live-calls.js";
import type { PlacedCalls } from "../../engine/calls/outbound/placed-calls.js";
import type { TelephonyAccounts } from "../../engine/calls/telephony-accounts.js";
import { WarmTransfers } from "../../engine/calls/warm-transfers.js";
import type { Logger } from "../../engine/log.js";
import type { OutboundTokens } from "../../engine/security/outbound-token.js";
import type { StreamTokenRegistry } from "../../engine/security/stream-token.js";
import type { StreamUuidRegistry } from "../../engine/security/stream-uuid.js";
import type { TokenUseRegistry } from "../../engine/security/token-uses.js";
import type { WebhookAnswers } from "../../engine/telephony/answered-webhooks.js";
import type { CallControl } from "../../engine/telephony/call-control.js";
import { BestEffortCallInfos, type CallInfoStore } from "../../engine/telephony/call-info.js";
import type { WebhookKeys } from "../../engine/telephony/telephony-settings.js";
import type { ClientAccess } from "../../engine/tenancy/people/client-access.js";
import type { Tenancy } from "../../engine/tenancy/tenancy.js";
import type { Clock } from "../../engine/time/clock.js";
import { within } from "../../engine/time/deadline.js";
import type { Database } from "../../storage/database.js";
import type { LimiterOf } from "../http/request/rate-limiter.js";
import type { Router } from "../http/router.js";
import type { HttpServer } from "../http/server.js";
import { AudioSocketRoute } from "./audio-socket-route.js";
import { briefingRoutes } from "./briefing-routes.js";
import { ListenSocket } from "./listen-socket.js";
import type { OtherServer } from "./other-server.js";
import { outboundRoutes } from "./outbound-routes.js";
import { PhoneCalls } from "./phone-calls.js";
import { phoneContinuation } from "./phone-continuation.js";
import type { StreamAddress } from "./phone-document.js";
import { PhoneSocket } from "./phone-socket.js";
import { phoneTenant } from "./phone-tenant.js";
import { phoneWebhook } from "./phone-webhook.js";
import { VoiceSocket } from "./voice-socket.js";

const MINUTE_MS = 60_000;

export interface VoiceRoutesOptions {
  readonly server: HttpServer;
  readonly edge: Router;
  readonly tenancy: Tenancy;
  readonly database: Pick<Database, "calls" | "jobs">;
  readonly vendors: AgentVendorsOptions;
  readonly clientAccess: ClientAccess;
  readonly callListening: Pick<CallListening, "listen">;
  readonly calls: Pick<CallCenter, "opener" | "audioPool" | "journal">;
  readonly liveCalls: Pick<LiveCalls, "find">;
  readonly callControl: CallControl;
  /** Undefined: organizations may call every number. */
  readonly dialTargets: Tenancy["dialTargets"] | undefined;
  readonly telephonyAccounts: TelephonyAccounts;
  readonly placedCalls: PlacedCalls;
  readonly outboundTokens: OutboundTokens;
  readonly streamTokens: StreamTokenRegistry;
  readonly streamUuids: StreamUuidRegistry;
  readonly callInfos: CallInfoStore;
  readonly answeredWebhooks: WebhookAnswers;
  readonly tokenUses: TokenUseRegistry;
  readonly streamAddress: StreamAddress;
  readonly otherServer: OtherServer;
  /** This server accepts no calls, and another one does. */
  readonly isClosed: () => boolean;
  readonly limiterOf: LimiterOf;
  readonly voiceConnectionsPerMinute: number;
  /** The limit of each API key. */
  readonly requestsPerMinute: number;
  readonly publicBaseUrl: string | undefined;
  /** Where placed calls are answered without a public address; known when the server listens. */
  readonly localBaseUrl: (() => string) | undefined;
  readonly webhookKeys: WebhookKeys;
  readonly optionalWebhookKeys?: Partial<WebhookKeys> | undefined;
  readonly telephonyVendors: readonly string[];
  readonly host: string;
  /** 0 = no AudioSocket port. */
  readonly audioSocketPort: number;
  /** Another process of this server has the AudioSocket port. */
  readonly leavesAudioSocket?: boolean;
  readonly jwtSecret: string;
  readonly clock: Clock;
  readonly log: Logger;
}

/** After the last calls were told to end: the time limit for callers who are just being refused. */
const LAST_CLOSES_MAX_MS = 1_000;
/**
 * Closes the routes when the calls have ended. Returns whether a client has just been told of the stop, and may
 * not have read it yet: uWebSockets.js counts a connection as closed once its close is sent. Or whether a
 * telephone's stream has just broken.
 */
export type CloseRoutes = () => Promise<boolean>;

/** Opens every route for calls. Rejects if one of their ports is unavailable. */
export async function openVoiceRoutes(options: VoiceRoutesOptions): Promise<CloseRoutes> {
  const { edge, tenancy, calls, callControl, placedCalls: outbound, limiterOf, clock } = options;
  const { apiKeys, organizations, phoneNumbers } = tenancy;
  const { opener } = calls;
  const limit = { usesMax: options.voiceConnectionsPerMinute, windowMs: MINUTE_MS };
  const connectionLimiter = limiterOf("voice", limit);
  const audioPool = () => calls.audioPool();
  const voice = new VoiceSocket({ ...options, apiKeys, opener, audioPool, connectionLimiter });
  new ListenSocket({ ...options, listening: options.callListening, connectionLimiter }).listen();
  const continuations = new Continuations({
    secret: options.jwtSecret,
    clock,
    calls: options.database.calls,
    liveCalls: options.liveCalls,
    journal: calls.journal,
    log: options.log,
  });
  const baseUrl = () => options.publicBaseUrl ?? options.localBaseUrl?.();
  const callInfos = new BestEffortCallInfos(options.callInfos, clock, options.log);
  const { agents } = tenancy;
  const tenantOf = (orgId: string) => phoneTenant(organizations, orgId);
  const { vendors } = options;
  const warmTransfers = new WarmTransfers({
    continuations,
    calls: options.database.calls,
    jobs: options.database.jobs,
    callControl,
    voices: new BriefingVoices({ agents, tenantOf, vendors, audioPool, clock }),
    dialTargets: options.dialTargets,
    doNotCall: tenancy.doNotCall,
    clock,
    log: options.log,
  });
  const phone = { opener, outbound, continuations, baseUrl, callInfos, warmTransfers };
  const shared = { ...options, ...phone };
  const phoneCalls = new PhoneCalls({ ...shared, organizations, callControl, audioPool });
  new PhoneSocket({ ...shared, phoneCalls }).listen();
  const placed = {
    ...shared,
    get publicBaseUrl() {
      return baseUrl();
    },
  };
  for (const route of [...outboundRoutes(placed), ...briefingRoutes(placed)]) edge.add(route);
  const hasAudioSocket = options.audioSocketPort > 0;
  const streamUuids = hasAudioSocket ? options.streamUuids : undefined;
  edge.add(phoneContinuation({ ...shared, organizations, streamUuids }));
  const requestLimit = { usesMax: options.requestsPerMinute, windowMs: MINUTE_MS };
  const requestLimiter = limiterOf("webhook", requestLimit);
  edge.add(
    phoneWebhook({ ...shared, apiKeys, organizations, phoneNumbers, streamUuids, requestLimiter }),
  );
  const port = options.audioSocketPort;
  const audioSocket =
    streamUuids &&
    options.leavesAudioSocket !== true &&
    (await AudioSocketRoute.open({ ...options, port, phoneCalls, streamUuids }));
  return async () => {
    const empty = Promise.all([voice.empty(), phoneCalls.empty()]);
    await within(clock, LAST_CLOSES_MAX_MS, empty);
    if (audioSocket) await audioSocket.close();
    voice.close();
    return voice.hasAnnouncedStop || phoneCalls.isWebhookExpected;
  };
}
