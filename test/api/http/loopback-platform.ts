import { randomUUID } from "node:crypto";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import {
  DEFAULT_AUTH_LIMIT,
  DEFAULT_GENERAL_LIMIT,
  DEFAULT_VENDOR_LIMIT,
  type HttpConfig,
  type HttpParts,
  startServer,
} from "../../../api/http/start-server.js";
import type { ApiServices } from "../../../api/routes/all-routes.js";
import { AnalysisRuns } from "../../../engine/analysis/analysis-runs.js";
import { AgentChats } from "../../../engine/calls/agent-chats.js";
import { agentLlm } from "../../../engine/calls/agent-vendors.js";
import { CallFeed } from "../../../engine/calls/call-feed.js";
import { CallListening } from "../../../engine/calls/call-listening.js";
import { CallReports } from "../../../engine/calls/call-reports.js";
import { CallSupervision } from "../../../engine/calls/call-supervision.js";
import { IdempotentRequests } from "../../../engine/calls/idempotent-requests.js";
import { CallLists } from "../../../engine/calls/lists/call-lists.js";
import { SandboxPeople } from "../../../engine/calls/outbound/sandbox-people.js";
import { Recordings } from "../../../engine/calls/recording/recordings.js";
import { TelephonyAccounts } from "../../../engine/calls/telephony-accounts.js";
import { ToolTests } from "../../../engine/calls/tool-tests.js";
import { NodeList } from "../../../engine/cluster/node-registry.js";
import { DocumentReader } from "../../../engine/knowledge/document-reader.js";
import { Embeddings } from "../../../engine/knowledge/embeddings.js";
import { Knowledge } from "../../../engine/knowledge/knowledge.js";
import { VectorSets } from "../../../engine/knowledge/vector-sets.js";
import { RequestError } from "../../../engine/request-error.js";
import { AccessTokens } from "../../../engine/security/access-token.js";
import { ClientTokens } from "../../../engine/security/client-token.js";
import { CredentialCipher } from "../../../engine/security/credential-cipher.js";
import { passwordMark } from "../../../engine/security/password.js";
import { TokenUses } from "../../../engine/security/token-uses.js";
import { telephonySettings } from "../../../engine/telephony/telephony-settings.js";
import { Agents } from "../../../engine/tenancy/agents/agents.js";
import { DoNotCall } from "../../../engine/tenancy/agents/do-not-call.js";
import { PhoneNumbers } from "../../../engine/tenancy/agents/phone-numbers.js";
import { AuditTrail } from "../../../engine/tenancy/audit-trail.js";
import { OrganizationOverviews } from "../../../engine/tenancy/organization-overviews.js";
import { Organizations } from "../../../engine/tenancy/organizations.js";
import { Accounts } from "../../../engine/tenancy/people/accounts.js";
import { ActiveCredentials } from "../../../engine/tenancy/people/active-credentials.js";
import { ApiKeys } from "../../../engine/tenancy/people/api-keys.js";
import { ClientAccess } from "../../../engine/tenancy/people/client-access.js";
import { Members } from "../../../engine/tenancy/people/members.js";
import { Plans } from "../../../engine/tenancy/plans.js";
import { ModelSearch } from "../../../engine/tenancy/providers/model-search.js";
import { ProviderChecks } from "../../../engine/tenancy/providers/provider-check.js";
import { ProviderVoices } from "../../../engine/tenancy/providers/provider-voices.js";
import { Providers } from "../../../engine/tenancy/providers/providers.js";
import {
  type PlatformUrls,
  VendorClients,
} from "../../../engine/tenancy/providers/vendor-clients.js";
import { seedPlatform } from "../../../engine/tenancy/seeding/seeding.js";
import { SystemClock } from "../../../engine/time/clock.js";
import { AgentMcpTools } from "../../../engine/tools/agent-mcp-tools.js";
import { McpToolLists } from "../../../engine/tools/mcp-tool-lists.js";
import { Breakers } from "../../../engine/vendors/chain/breakers.js";
import { LearnedParameters } from "../../../engine/vendors/learned-parameters.js";
import { Connections } from "../../../engine/vendors/transport/connections.js";
import { Webhooks } from "../../../engine/webhooks/webhooks.js";
import { type Database, openDatabase } from "../../../storage/database.js";
import type { ApiKeyScope } from "../../../storage/records.js";
import { chainsOf } from "../../doubles/chains-of.js";
import { frontUnderTest } from "../../doubles/front-under-test.js";
import { RecordingLogger } from "../../doubles/recording-logger.js";
import { VirtualClock } from "../../doubles/virtual-clock.js";
import { createDatabaseFile } from "../../storage/temporary-file.js";
import { checkAgainstContract } from "../contract/contract-check.js";
import { LoopbackClient } from "./loopback-client.js";
import { insertOwner } from "./tenancy-owner.js";

export interface PlatformOptions {
  readonly config?: Partial<HttpConfig>;
  readonly isDraining?: () => boolean;
  readonly isReady?: () => boolean;
  readonly metricsText?: () => string;
  readonly extend?: HttpParts["extend"];
  /**
   * The addresses of the platform's vendors; omitted: none is reachable. Organizations' own vendors may be on loopback.
   */
  readonly vendorUrls?: PlatformUrls;
  /** Replaces Twilio's address for organizations' own accounts. */
  readonly telephonyUrl?: string;
  readonly usesSandbox?: boolean;
}

/** An active organization with a user and a key. */
export interface Tenancy {
  readonly orgId: string;
  readonly email: string;
  /** Complete request headers. */
  readonly byToken: Readonly<Record<string, string>>;
  readonly byKey: Readonly<Record<string, string>>;
}

/** Tests set limits only if they are about them. */
const UNLIMITED = { usesMax: 1_000_000, windowMs: 60_000 };

/** A port without a listener: with the default addresses a test would reach real vendors. */
const NOWHERE = "127.0.0.1:9";
const NO_VENDORS: PlatformUrls = {
  openai: `http://${NOWHERE}`,
  groq: `http://${NOWHERE}`,
  ollama: `http://${NOWHERE}`,
  elevenlabs: `http://${NOWHERE}`,
  deepgram: `ws://${NOWHERE}`,
  edge: `ws://${NOWHERE}`,
};

/** The real server, services and database, with their own port and file; the test moves the clock. */
export class LoopbackPlatform {
  readonly client: LoopbackClient;
  readonly clock: VirtualClock;
  readonly logger: RecordingLogger;
  readonly database: Database;
  readonly services: ApiServices;
  readonly port: number;
  readonly #stop: () => Promise<void>;
  #tenancyCount = 0;

  private constructor(
    parts: Pick<LoopbackPlatform, "clock" | "logger" | "database" | "services" | "port">,
    stop: () => Promise<void>,
  ) {
    this.clock = parts.clock;
    this.logger = parts.logger;
    this.database = parts.database;
    this.services = parts.services;
    this.port = parts.port;
    this.client = new LoopbackClient(parts.port, checkAgainstContract);
    this.#stop = stop;
  }

  static async start(options: PlatformOptions = {}): Promise<LoopbackPlatform> {
    const folder = await mkdtemp(join(tmpdir(), "parley-edge-"));
    const filePath = join(folder, "test.db");
    await createDatabaseFile(filePath);
    const database = await openDatabase({ filePath });
    const clock = new VirtualClock();
    const logger = new RecordingLogger();
    const connections = new Connections({ clock, allowPrivateAddresses: true });
    const vendorUrls = options.vendorUrls ?? NO_VENDORS;
    const telephonyUrl = options.telephonyUrl ?? "http://127.0.0.1:9";
    const services = await buildServices({
      database,
      clock,
      logger,
      connections,
      vendorUrls,
      telephonyUrl,
      dataDir: folder,
    });
    const { server, port } = await startServer({
      config: {
        host: "127.0.0.1",
        port: 0,
        httpBackend: frontUnderTest.choice,
        trustedProxies: [],
        corsOrigins: [],
        authLimit: UNLIMITED,
        generalLimit: UNLIMITED,
        vendorLimit: UNLIMITED,
        ...options.config,
      },
      services,
      logger,
      clock,
      newId: randomUUID,
      isDraining: options.isDraining ?? (() => false),
      isReady: options.isReady ?? (() => true),
      storeRefusal: () => undefined,
      usesSandbox: options.usesSandbox ?? false,
      metricsText: options.metricsText ?? (() => ""),
      ...(options.extend === undefined ? {} : { extend: options.extend }),
    });
    const stop = async () => {
      server.close();
      await connections.close();
      await database.close();
      await rm(folder, { recursive: true });
    };
    return new LoopbackPlatform({ clock, logger, database, services, port }, stop);
  }

  async close(): Promise<void> {
    this.client.close();
    await this.#stop();
  }

  /** `planSlug`: the organization's plan; `status`: whether it has been activated. */
  async newTenancy(
    planSlug = "pro",
    status: "active" | "pending" = "active",
    scopes: readonly ApiKeyScope[] = ["voice", "dashboard"],
  ): Promise<Tenancy> {
    this.#tenancyCount += 1;
    const email = `owner${this.#tenancyCount}@example.com`;
    const owner = await insertOwner(this.database, this.clock, { email, status, planSlug });
    const { id: userId, orgId, passwordHash } = owner;
    const { rawKey } = await this.services.apiKeys.create(orgId, { name: "Test", scopes });
    const mark = passwordMark(passwordHash);
    const token = await tokensOf(this.clock).issue({ userId, orgId, email, passwordMark: mark });
    return {
      orgId,
      email,
      byToken: { authorization: `Bearer ${token}` },
      byKey: { "x-api-key": rawKey },
    };
  }
}

export const CONTRACT_LIMITS = {
  authLimit: DEFAULT_AUTH_LIMIT,
  generalLimit: DEFAULT_GENERAL_LIMIT,
  vendorLimit: DEFAULT_VENDOR_LIMIT,
};

const NO_TELEPHONY = {
  TELNYX_BASE_URL: "http://127.0.0.1:9",
  PLIVO_BASE_URL: "http://127.0.0.1:9",
  VONAGE_BASE_URL: "http://127.0.0.1:9",
  JAMBONZ_BASE_URL: "http://127.0.0.1:9",
  AUDIOSOCKET_PORT: 0,
  TELEPHONY_VENDORS: [],
};

/** A feed whose watchers learn that the watch has started, and that it has ended. */
function closedFeed(clock: VirtualClock): CallFeed {
  const feed = new CallFeed(clock);
  feed.close();
  return feed;
}

function tokensOf(clock: VirtualClock): AccessTokens {
  return new AccessTokens({ secret: "s".repeat(32), expiresIn: "1h", clock });
}

interface ServiceParts {
  readonly database: Database;
  readonly clock: VirtualClock;
  readonly logger: RecordingLogger;
  readonly connections: Connections;
  readonly vendorUrls: PlatformUrls;
  readonly telephonyUrl: string;
  readonly dataDir: string;
}

async function buildServices({
  database,
  clock,
  logger: log,
  connections,
  vendorUrls,
  telephonyUrl,
  dataDir,
}: ServiceParts): Promise<ApiServices> {
  const cipher = new CredentialCipher("0123456789abcdef".repeat(4));
  const tokens = tokensOf(clock);
  const parts = { database, clock, newId: randomUUID, cipher };
  await seedPlatform({ ...parts, vendorKeys: {}, sandbox: true });
  const accounts = new Accounts({ ...parts, tokens });
  const onBackgroundError = (error: unknown) => {
    throw error;
  };
  const apiKeys = new ApiKeys({ ...parts, onBackgroundError });
  const organizations = new Organizations({ ...parts, accounts, apiKeys });
  const agents = new Agents({ ...parts, allowPrivateAddresses: true });
  const providers = new Providers({ ...parts, allowPrivateAddresses: true });
  const clients = new VendorClients(cipher, vendorUrls, { clock, connections });
  const mcpLists = new McpToolLists({ context: { clock, connections }, log });
  const agentMcpTools = new AgentMcpTools({ agents, cipher, lists: mcpLists });
  const vectorSets = new VectorSets({
    store: database.embeddings,
    clock,
    onError: onBackgroundError,
  });
  const audioPool = () => {
    throw new Error("nothing is converted here");
  };
  return {
    accounts,
    apiKeys,
    agentChats: new AgentChats({
      agents,
      knowledge: database.knowledge,
      llmOf: (forCall) => agentLlm(forCall, chainsOf(clients, clock)),
      clock,
      log,
    }),
    agents,
    toolTests: new ToolTests({
      agents,
      cipher,
      context: { clock, connections },
      agentMcpTools,
      mcpLists,
    }),
    agentMcpTools,
    analysisRuns: new AnalysisRuns(parts),
    auditTrail: new AuditTrail(parts),
    telephonyAccounts: new TelephonyAccounts({
      ...parts,
      phoneNumbers: new PhoneNumbers(parts),
      settings: telephonySettings({ ...NO_TELEPHONY, TWILIO_BASE_URL: telephonyUrl }),
      context: { clock: new SystemClock(), connections },
      baseUrl: () => "https://voice.example.com",
      allowPrivateAddresses: true,
      log,
    }),
    webhooks: new Webhooks({ ...parts, allowPrivateAddresses: true }),
    callLists: new CallLists(parts),
    idempotentRequests: new IdempotentRequests(database.idempotencyKeys, clock, log),
    knowledge: new Knowledge({
      ...parts,
      reader: new DocumentReader({ clock: new SystemClock() }),
      allowPrivateAddresses: true,
    }),
    embeddings: new Embeddings({ ...parts, clients, sets: vectorSets, platformModels: new Set() }),
    breakers: new Breakers(clock),
    learned: new LearnedParameters(),
    callReports: new CallReports(parts),
    callSupervision: new CallSupervision({
      standing: new ActiveCredentials({ database, clock }),
      dialTargets: undefined,
      phoneNumbers: undefined,
      clock,
      calls: database.calls,
      feed: closedFeed(clock),
      journal: { annotate: () => {}, recordAction: () => Promise.resolve(true) },
      warmTransferRefusal: () => Promise.resolve(undefined),
      transferSummaries: { of: () => Promise.resolve("") },
      endCall: () => false,
      controlCall: () => "elsewhere",
      newId: randomUUID,
    }),
    callListening: new CallListening({
      supervision: {
        findLive: () => Promise.reject(new RequestError("not_found", "there is no such call")),
      },
      feed: closedFeed(clock),
      audit: database.audit,
      standing: new ActiveCredentials({ database, clock }),
      tokenUses: new TokenUses(clock),
      secret: "s".repeat(32),
      clock,
      newId: randomUUID,
    }),
    sandboxPeople: new SandboxPeople({
      controlUrl: "http://127.0.0.1:9/sandbox",
      calls: database.calls,
    }),
    clientAccess: new ClientAccess({
      ...parts,
      organizations,
      clientTokens: new ClientTokens({ secret: "s".repeat(32), clock }),
    }),
    recordings: new Recordings({ ...parts, dataDir, store: database.recordings, audioPool, log }),
    outboundCalls: {
      numbers: async () => ({ isConfigured: true, isSimulated: true, numbers: [], targets: [] }),
      place: async (tenant, { agentId }) => {
        await agents.get(tenant, agentId);
        throw new RequestError("unavailable", "no calls are placed here");
      },
    },
    nodeList: new NodeList({
      ...parts,
      lone: { name: "loopback", callsMax: 0, isTaking: () => true },
    }),
    organizationOverviews: new OrganizationOverviews(parts),
    members: new Members(parts),
    modelSearch: new ModelSearch(parts),
    organizations,
    doNotCall: new DoNotCall(parts),
    phoneNumbers: new PhoneNumbers(parts),
    plans: new Plans(parts),
    providerChecks: new ProviderChecks({ providers, clients, clock }),
    providerVoices: new ProviderVoices({ providers, clients, clock }),
    providers,
  };
}
