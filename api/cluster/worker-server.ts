import { AgentLlms } from "../../engine/analysis/agent-llms.js";
import { AnalysisRuns } from "../../engine/analysis/analysis-runs.js";
import { TransferSummaries } from "../../engine/analysis/transfer-summary.js";
import { Bucket } from "../../engine/bucket/bucket.js";
import type { RecordingSettings } from "../../engine/bucket/bucket-settings.js";
import { AgentChats } from "../../engine/calls/agent-chats.js";
import { agentLlm, type ChainTimeouts } from "../../engine/calls/agent-vendors.js";
import { CallCenter } from "../../engine/calls/call-center.js";
import { CallListening } from "../../engine/calls/call-listening.js";
import { CallReports } from "../../engine/calls/call-reports.js";
import { CallSupervision } from "../../engine/calls/call-supervision.js";
import { IdempotentRequests } from "../../engine/calls/idempotent-requests.js";
import { CallLists } from "../../engine/calls/lists/call-lists.js";
import { type CallPlacer, ListedCalls } from "../../engine/calls/lists/listed-calls.js";
import { OutboundCalls } from "../../engine/calls/outbound/outbound-calls.js";
import { OutboundTelephony } from "../../engine/calls/outbound/outbound-telephony.js";
import { SandboxPeople } from "../../engine/calls/outbound/sandbox-people.js";
import { TelephonyAccounts } from "../../engine/calls/telephony-accounts.js";
import { ToolTests } from "../../engine/calls/tool-tests.js";
import { warmTransferRefusal } from "../../engine/calls/warm-transfers.js";
import { type LoneNode, NodeList } from "../../engine/cluster/node-registry.js";
import { DocumentReader } from "../../engine/knowledge/document-reader.js";
import { Embeddings } from "../../engine/knowledge/embeddings.js";
import { Knowledge } from "../../engine/knowledge/knowledge.js";
import { VectorSearch } from "../../engine/knowledge/vector-search.js";
import { VectorSets } from "../../engine/knowledge/vector-sets.js";
import type { Logger } from "../../engine/log.js";
import type { Metric } from "../../engine/metrics/cluster-metrics.js";
import { ClientTokens } from "../../engine/security/client-token.js";
import type { CredentialCipher } from "../../engine/security/credential-cipher.js";
import { OutboundTokens } from "../../engine/security/outbound-token.js";
import { CallControl } from "../../engine/telephony/call-control.js";
import type { TelephonySettings, WebhookKeys } from "../../engine/telephony/telephony-settings.js";
import type { AgentForCall } from "../../engine/tenancy/agents/agent-for-call.js";
import { ActiveCredentials } from "../../engine/tenancy/people/active-credentials.js";
import { ClientAccess } from "../../engine/tenancy/people/client-access.js";
import { ProviderChecks } from "../../engine/tenancy/providers/provider-check.js";
import { ProviderVoices } from "../../engine/tenancy/providers/provider-voices.js";
import type { Tenancy } from "../../engine/tenancy/tenancy.js";
import type { Clock } from "../../engine/time/clock.js";
import { within } from "../../engine/time/deadline.js";
import { AgentMcpTools } from "../../engine/tools/agent-mcp-tools.js";
import { McpToolLists } from "../../engine/tools/mcp-tool-lists.js";
import { Connections } from "../../engine/vendors/transport/connections.js";
import type { VendorUrls } from "../../engine/vendors/vendor-environment.js";
import { Webhooks } from "../../engine/webhooks/webhooks.js";
import type { Database } from "../../storage/database.js";
import type { LimiterOf } from "../http/request/rate-limiter.js";
import type { HttpServer } from "../http/server.js";
import { type HttpConfig, startServer } from "../http/start-server.js";
import { localUrl } from "../start-up/local-url.js";
import { type CloseRoutes, openVoiceRoutes } from "../voice/voice-routes.js";
import type { ClusterMember } from "./cluster-member.js";
import { vendorAccess } from "./vendor-access.js";

/**
 * A destroyed connection loses what its client has not read yet: why the call ended, or was refused. Data that the
 * client is just sending would meet a reset. And telephony vendors, whose streams were ended or broke, now request
 * the next step on connections of their own.
 */
const LAST_WORDS_MS = 2_000;
/** REST requests in flight when the server stops. */
const LAST_REQUESTS_MAX_MS = 5_000;
const MINUTE_MS = 60_000;

/** The settings of a worker as plain values: another process may have read the environment. */
export interface WorkerSettings
  extends TelephonySettings,
    RecordingSettings,
    Omit<HttpConfig, "authLimit" | "generalLimit" | "vendorLimit" | "sharesPort" | "basePath"> {
  readonly dataDir: string;
  readonly nodeName: string;
  readonly publicBaseUrl: string | undefined;
  readonly jwtSecret: string;
  /** Why this server accepts no calls: its encryption key is not the database's. */
  readonly keyRefusal: string | undefined;
  readonly optionalWebhookKeys?: Partial<WebhookKeys> | undefined;
  readonly allowPrivateProviders: boolean;
  readonly authRequestsPerMinute: number;
  readonly requestsPerMinute: number;
  readonly vendorRequestsPerMinute: number;
  readonly voiceConnectionsPerMinute: number;
  readonly callsMax: number;
  readonly eventLoopDelayMaxMs: number;
  readonly speechCacheBytes: number;
  readonly chainTimeouts: ChainTimeouts;
  readonly preemptiveWasteTokensPerHour: number;
  /** From 0 to 100. */
  readonly hedgingTokensPercent: number;
  readonly embeddingModels: readonly string[];
  readonly platformUrls: VendorUrls;
  /** PEM certificates of authorities that are trusted in addition to the public ones. */
  readonly authorities: readonly string[];
  readonly isSandboxed: boolean;
  /** Where the sandbox's settings are, if it answers the telephone: it then calls this machine back. */
  readonly sandboxControlUrl: string | undefined;
}

export interface WorkerServerParts {
  readonly settings: WorkerSettings;
  readonly database: Database;
  readonly cipher: CredentialCipher;
  readonly tenancy: Tenancy;
  readonly cluster: ClusterMember;
  /** Whether it is the first of its server, which has to repair what an earlier run has left. */
  readonly isFirst: boolean;
  readonly leavesAudioSocket?: boolean;
  /** Additional metrics for the page, if this process is the only one of its server. */
  readonly moreMetrics?: () => Promise<readonly Metric[]>;
  readonly runId: string;
  readonly clock: Clock;
  readonly newId: () => string;
  readonly log: Logger;
}

export interface WorkerServer {
  readonly port: number;
  readonly calls: CallCenter;
  readonly http: HttpServer;
  /** Places calls of call lists in this process. */
  readonly placer: CallPlacer;
  /** Drains, then stops its parts in reverse; the database stays open. */
  stop(drainTimeoutMs: number): Promise<void>;
}

/** Builds all parts for calls, and serves. Rejects if one of them cannot start. */
export async function startWorkerServer(parts: WorkerServerParts): Promise<WorkerServer> {
  const { clock } = parts;
  let port = 0;
  const carrier = newCarrier(parts, () => localUrl(parts.settings.host, port));
  const { calls, callControl, outboundCalls, connections, uploads, mcpLists, vectorSets } = carrier;
  await (parts.isFirst ? calls.recover() : calls.join());
  const { server: http, port: given, closeRoutes } = await serve(parts, carrier);
  port = given;
  const stop = async (drainTimeoutMs: number) => {
    outboundCalls.stop();
    await calls.drain(drainTimeoutMs);
    const isWaitedFor = await closeRoutes();
    calls.feed.close();
    if (isWaitedFor || calls.liveCalls.wereEnded) {
      await new Promise<void>((resolve) => {
        clock.after(LAST_WORDS_MS, resolve);
      });
    }
    await within(clock, LAST_REQUESTS_MAX_MS, http.drain());
    mcpLists.close();
    await calls.close();
    await within(clock, LAST_REQUESTS_MAX_MS, callControl.settled());
    await Promise.all([connections.close(), uploads?.bucket.close(), vectorSets.close()]);
    http.close();
  };
  return { port, calls, http, placer: carrier.placer, stop };
}

type Carrier = ReturnType<typeof newCarrier>;

/** `localBaseUrl`: the server's address for a vendor on the same machine, once it listens. */
function newCarrier(parts: WorkerServerParts, localBaseUrl: () => string) {
  const { settings, database, cipher, tenancy, cluster, runId, clock, newId, log } = parts;
  const { allowPrivateProviders: allowPrivateAddresses, authorities, isSandboxed } = settings;
  const connections = new Connections({ clock, allowPrivateAddresses, authorities });
  const breakerExchange = cluster.shared?.breakers;
  const access = vendorAccess({ settings, connections, cipher, breakerExchange, clock, log });
  const { learned, context, clients, chains } = access;
  const hasLocalVendor = settings.sandboxControlUrl !== undefined;
  const reachable = { ...settings, localBaseUrl: hasLocalVendor ? localBaseUrl : undefined };
  const mcpLists = new McpToolLists({
    context,
    log,
    onRequest: (operation, outcome) => calls.metrics.mcpRequested(operation, outcome),
  });
  const vendors = { chains, cipher, context, mcpLists };
  const { agents } = tenancy;
  const { recordingsBucket, recordingsWaitingBytesMax: waitingBytesMax } = settings;
  const bucket = recordingsBucket && new Bucket(recordingsBucket, { clock, authorities });
  const uploads = bucket && { bucket, waitingBytesMax };
  const dialTargets = isSandboxed ? undefined : tenancy.dialTargets;
  const deps = { dialTargets, clock, newId, log };
  const vectorSets = new VectorSets({
    store: database.embeddings,
    clock,
    onError: (error) => log.warn({ error }, "vectors could not be loaded"),
  });
  const vectorSearch = new VectorSearch({
    database,
    clients,
    sets: vectorSets,
    platformModels: new Set(settings.embeddingModels),
    clock,
    log,
    onOutcome: (outcome) => calls.metrics.questionEmbedded(outcome),
  });
  const shared = {
    ...deps,
    database,
    vectorSearch,
    agents,
    vendors,
    uploads,
    cluster: cluster.shared,
    runId,
  };
  const calls = new CallCenter({ ...settings, ...shared });
  const { publicBaseUrl } = settings;
  const baseUrl = publicBaseUrl === undefined ? reachable.localBaseUrl : () => publicBaseUrl;
  const { phoneNumbers } = tenancy;
  const telephonyAccounts = new TelephonyAccounts({
    database,
    phoneNumbers,
    cipher,
    settings: reachable,
    context,
    baseUrl: () => baseUrl?.(),
    allowPrivateAddresses,
    clock,
    newId,
    log,
  });
  const callControl = new CallControl(telephonyAccounts, log);
  const ownVendorOf = phoneNumbers.ownVendorOf.bind(phoneNumbers);
  const tokens = new OutboundTokens({ secret: settings.jwtSecret, clock });
  const { opener, slots, liveCalls, journal } = calls;
  const outboundCalls = new OutboundCalls({
    ...deps,
    telephony: new OutboundTelephony({ apis: telephonyAccounts, ownVendorOf, baseUrl }),
    tokens,
    phoneNumbers: isSandboxed ? undefined : phoneNumbers,
    doNotCall: tenancy.doNotCall,
    opener,
    slots,
    liveCalls,
    journal,
    calls: database.calls,
  });
  const placedCalls = cluster.placedCalls(outboundCalls, tokens);
  const placer: CallPlacer = new ListedCalls({ database, outboundCalls });
  const made = {
    connections,
    context,
    learned,
    uploads,
    reachable,
    clients,
    breakers: chains.breakers,
    chains,
    vendors,
    mcpLists,
    vectorSets,
    vectorSearch,
    telephonyAccounts,
    baseUrl: () => baseUrl?.(),
  };
  const placing = { outboundCalls, placedCalls, placer, outboundTokens: tokens };
  return { ...made, calls, callControl, ...placing };
}

async function serve(parts: WorkerServerParts, carrier: Carrier) {
  const { settings, database, cipher, tenancy, cluster, clock, newId, log } = parts;
  const { allowPrivateProviders: allowPrivateAddresses } = settings;
  const { context, learned, reachable, clients, breakers, chains, vendors, mcpLists, baseUrl } =
    carrier;
  const { vectorSets, vectorSearch: vectors } = carrier;
  const { calls, callControl, telephonyAccounts, outboundCalls, placedCalls, outboundTokens } =
    carrier;
  const { agents } = tenancy;
  const llmOf = (forCall: AgentForCall, documents: string) =>
    agentLlm(forCall, chains, undefined, documents);
  const reader = new DocumentReader({ clock });
  const clientTokens = new ClientTokens({ secret: settings.jwtSecret, clock });
  const clientAccess = new ClientAccess({ ...tenancy, database, clientTokens, clock });
  const limiterOf: LimiterOf = (name, limit) => cluster.limiterOf(name, limit);
  const standing = new ActiveCredentials({ database, clock });
  const llms = new AgentLlms({ database, chains });
  const callSupervision = new CallSupervision({
    standing,
    dialTargets: settings.isSandboxed ? undefined : tenancy.dialTargets,
    phoneNumbers: settings.isSandboxed ? undefined : tenancy.phoneNumbers,
    clock,
    calls: database.calls,
    feed: calls.feed,
    journal: calls.journal,
    warmTransferRefusal: (call) => warmTransferRefusal(call, telephonyAccounts, baseUrl()),
    transferSummaries: new TransferSummaries({ database, llms, clock, log }),
    endCall: (callId, ending) => cluster.endCall(calls.liveCalls, callId, ending),
    controlCall: (call) => cluster.controlCall(calls.liveCalls, call),
    newId,
  });
  const callListening = new CallListening({
    supervision: callSupervision,
    feed: calls.feed,
    audit: database.audit,
    standing,
    tokenUses: cluster.tokenUses,
    secret: settings.jwtSecret,
    clock,
    newId,
  });
  const agentMcpTools = new AgentMcpTools({ agents, cipher, lists: mcpLists });
  let closeRoutes: CloseRoutes = () => Promise.resolve(false);
  const running = await startServer({
    config: httpConfig(settings, cluster),
    services: {
      ...tenancy,
      breakers,
      learned,
      clientAccess,
      callReports: new CallReports({ database, clock }),
      callSupervision,
      callListening,
      sandboxPeople: new SandboxPeople({
        controlUrl: settings.sandboxControlUrl,
        calls: database.calls,
      }),
      recordings: calls.recordings,
      nodeList: new NodeList({ database, lone: loneNode(settings, calls), clock, newId }),
      outboundCalls,
      callLists: new CallLists({ database, clock, newId }),
      idempotentRequests: new IdempotentRequests(database.idempotencyKeys, clock, log),
      agentChats: new AgentChats({
        agents,
        knowledge: database.knowledge,
        vectors,
        llmOf,
        clock,
        log,
      }),
      toolTests: new ToolTests({ agents, cipher, context, agentMcpTools, mcpLists }),
      agentMcpTools,
      analysisRuns: new AnalysisRuns({ database, clock, newId }),
      knowledge: new Knowledge({ database, vectors, reader, allowPrivateAddresses, clock, newId }),
      embeddings: new Embeddings({
        database,
        clients,
        sets: vectorSets,
        platformModels: new Set(settings.embeddingModels),
        clock,
        newId,
      }),
      providerChecks: new ProviderChecks({ ...tenancy, clients, clock }),
      providerVoices: new ProviderVoices({ ...tenancy, clients, clock }),
      telephonyAccounts,
      webhooks: new Webhooks({ database, cipher, allowPrivateAddresses, clock, newId }),
    },
    logger: log,
    clock,
    newId,
    isDraining: () => calls.isStopping,
    isDrained: () => cluster.shared?.isDrained === true,
    isReady: () => calls.isReady,
    storeRefusal: () => calls.storeRefusal,
    keyRefusal: settings.keyRefusal,
    usesSandbox: settings.isSandboxed,
    metricsText: () => cluster.metricsText(calls.metrics, parts.moreMetrics),
    limiterOf,
    extend: async (server, edge) => {
      const { streamTokens, streamUuids, callInfos, answeredWebhooks, tokenUses } = cluster;
      const liveCalls = cluster.liveCalls(calls.liveCalls);
      const tokens = { streamTokens, streamUuids, callInfos, answeredWebhooks, tokenUses };
      const streamAddress = () => cluster.streamAddress();
      const otherServer = () => cluster.otherAvailableServer();
      const isClosed = () =>
        cluster.otherServersTake && (calls.isStopping || cluster.shared?.isDrained === true);
      const places = { streamAddress, otherServer, isClosed };
      const asked = { ...tokens, ...places, liveCalls, limiterOf, placedCalls, outboundTokens };
      const { leavesAudioSocket = false } = parts;
      const carried = {
        calls,
        callControl,
        dialTargets: settings.isSandboxed ? undefined : tenancy.dialTargets,
        callerNumbers: settings.isSandboxed ? undefined : tenancy.phoneNumbers,
        vendors,
        telephonyAccounts,
        callListening,
        leavesAudioSocket,
      };
      const own = { database, tenancy, clientAccess, ...carried };
      const routes = { ...reachable, ...asked, ...own };
      closeRoutes = await openVoiceRoutes({ ...routes, server, edge, clock, log });
    },
  });
  return { ...running, closeRoutes };
}

function loneNode({ nodeName, callsMax }: WorkerSettings, calls: CallCenter): LoneNode {
  return { name: nodeName, callsMax, isTaking: () => calls.isReady };
}

/** Such as `/voice` of `https://example.com/voice`; empty at the root of the host. */
function basePathOf(publicBaseUrl: string | undefined): string {
  return publicBaseUrl === undefined ? "" : new URL(publicBaseUrl).pathname.replace(/\/$/, "");
}

function httpConfig(settings: WorkerSettings, { sharesPort }: ClusterMember): HttpConfig {
  const { authRequestsPerMinute, requestsPerMinute, vendorRequestsPerMinute, ...config } = settings;
  return {
    ...config,
    sharesPort,
    basePath: basePathOf(settings.publicBaseUrl),
    authLimit: { usesMax: authRequestsPerMinute, windowMs: MINUTE_MS },
    generalLimit: { usesMax: requestsPerMinute, windowMs: MINUTE_MS },
    vendorLimit: { usesMax: vendorRequestsPerMinute, windowMs: MINUTE_MS },
  };
}
