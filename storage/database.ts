import { Kysely } from "kysely";
import { AnalysisStore } from "./calls/call-analyses.js";
import { CallListStore } from "./calls/call-list-store.js";
import { CallSlotStore } from "./calls/call-slot-store.js";
import { CallStore } from "./calls/call-store.js";
import { HistoryStore } from "./calls/history-store.js";
import { IdempotencyStore } from "./calls/idempotency-store.js";
import { RecordingStore } from "./calls/recording-store.js";
import { UsageStore } from "./calls/usage-store.js";
import { JobStore, JobsAdded } from "./jobs/job-store.js";
import { EmbeddingStore } from "./knowledge/embedding-store.js";
import { KnowledgeStore } from "./knowledge/knowledge-store.js";
import { type BusMessages, RECORDS_CHANGED } from "./nodes/message-bus.js";
import { NodeStore } from "./nodes/node-store.js";
import { OnceTokenStore } from "./nodes/once-token-store.js";
import { SqliteStore } from "./sqlite/sqlite-store.js";
import { AtomicRequests } from "./statements/atomic-requests.js";
import { RecordChanges } from "./statements/record-changes.js";
import {
  type RelayedOutcome,
  type RelayedRequest,
  RelayedStore,
  runRelayed,
  type StoreWay,
} from "./statements/relayed-store.js";
import type {
  StatementPort,
  StorageStats,
  StoreBackend,
  StoreCondition,
  StoreFault,
} from "./statements/statement-port.js";
import type { Tables } from "./tables.js";
import { AgentStore } from "./tenancy/agent-store.js";
import { ApiKeyStore } from "./tenancy/api-key-store.js";
import { AuditStore } from "./tenancy/audit-store.js";
import { DialTargetStore } from "./tenancy/dial-target-store.js";
import { DoNotCallStore } from "./tenancy/do-not-call-store.js";
import { OrganizationOverviewStore } from "./tenancy/organization-overview-store.js";
import { OrganizationStore } from "./tenancy/organization-store.js";
import { PhoneNumberStore } from "./tenancy/phone-number-store.js";
import { PlanStore } from "./tenancy/plan-store.js";
import { ProviderStore } from "./tenancy/provider-store.js";
import { RegistryStore } from "./tenancy/registry-store.js";
import { SealedCredentialStore } from "./tenancy/sealed-credential-store.js";
import { TelephonyAccountStore } from "./tenancy/telephony-account-store.js";
import { UserStore } from "./tenancy/user-store.js";
import { EventOutbox } from "./webhooks/event-outbox.js";
import { WebhookStore } from "./webhooks/webhook-store.js";

export interface DatabaseOptions {
  /** Created, with its folder, if it does not exist. */
  readonly filePath: string;
  /** A PostgreSQL database instead of the file: `postgres://user:password@host:port/name`. */
  readonly url?: string | undefined;
  /** For features that need their own session, if `url` leads through a pooler in transaction mode. */
  readonly sessionUrl?: string | undefined;
  /** Maximum number of connections to PostgreSQL. */
  readonly connectionsMax?: number | undefined;
  /**
   * Called once if storage dies; from then on every request fails, so a server should stop. Without it, the
   * process gets a warning. An unreachable PostgreSQL is retried instead.
   */
  readonly onFailure?: (error: Error) => void;
  /** A server. A SQLite file may have only one at a time, besides commands and backups. */
  readonly isServer?: boolean;
  /** A server on PostgreSQL has a name, and others may join it; without a name it has the database for itself. */
  readonly nodeName?: string;
  /** Refuses a database that is missing or has no tables, instead of creating one. */
  readonly mustExist?: boolean;
}

/**
 * Opens the database and updates its schema. Another process may have it open. Rejects with
 * `StorageUnavailableError` if it cannot be used.
 */
export async function openDatabase(options: DatabaseOptions): Promise<Database> {
  const { filePath, url, connectionsMax, isServer = false, mustExist = false } = options;
  const { nodeName } = options;
  if (url !== undefined) {
    // Imported on demand: a server with a SQLite file needs none of this module.
    const { sessionUrl } = options;
    const { PostgresStore } = await import("./postgres/postgres-store.js");
    const server = { isServer, nodeName };
    const store = await PostgresStore.open({
      url,
      sessionUrl,
      connectionsMax,
      ...server,
      mustExist,
    });
    const database = new Database(store);
    if (!isServer) database.recordChanges.onChanged(() => notifyServers(store.messageBus));
    return database;
  }
  const onFailure = options.onFailure ?? ((error: Error) => process.emitWarning(error));
  return new Database(await SqliteStore.open({ filePath, isServer, mustExist }, onFailure));
}

/** Notifies servers of a command's changes. If that fails, they notice the changes shortly afterwards. */
function notifyServers(messageBus: BusMessages): Promise<void> {
  return messageBus.post(RECORDS_CHANGED, "").catch((error: Error) => process.emitWarning(error));
}

/** The database that another process of this server has open. */
export function joinDatabase(writers: StatementPort["writers"], way: StoreWay): Database {
  return new Database(new RelayedStore(writers, way));
}

/**
 * All stored data, one store per table. A request takes effect after the requests that were answered before it was
 * made; concurrent requests run in any order.
 */
export class Database {
  readonly plans: PlanStore;
  readonly organizations: OrganizationStore;
  readonly organizationOverviews: OrganizationOverviewStore;
  readonly users: UserStore;
  readonly providers: ProviderStore;
  readonly registry: RegistryStore;
  readonly agents: AgentStore;
  readonly apiKeys: ApiKeyStore;
  readonly calls: CallStore;
  readonly recordings: RecordingStore;
  readonly phoneNumbers: PhoneNumberStore;
  readonly telephonyAccounts: TelephonyAccountStore;
  readonly dialTargets: DialTargetStore;
  readonly doNotCallNumbers: DoNotCallStore;
  readonly callLists: CallListStore;
  readonly idempotencyKeys: IdempotencyStore;
  readonly usage: UsageStore;
  readonly history: HistoryStore;
  readonly audit: AuditStore;
  readonly sealedCredentials: SealedCredentialStore;
  /** The state that several servers of one PostgreSQL database share; a SQLite file has no such tables. */
  readonly nodes: NodeStore;
  readonly callSlots: CallSlotStore;
  readonly onceTokens: OnceTokenStore;
  readonly analyses: AnalysisStore;
  readonly jobs: JobStore;
  readonly knowledge: KnowledgeStore;
  readonly embeddings: EmbeddingStore;
  readonly webhooks: WebhookStore;
  /** Counts changes of records that are cached in memory. */
  readonly recordChanges = new RecordChanges();
  /** Counts this process's changes of organizations' minutes. */
  readonly usageChanges = new RecordChanges();
  readonly #backend: StoreBackend;

  constructor(backend: StoreBackend) {
    const db = new Kysely<Tables>({ dialect: backend.dialect });
    const atomic = new AtomicRequests(backend, this.recordChanges);
    const jobsAdded = new JobsAdded();
    const outbox = new EventOutbox(db);
    this.plans = new PlanStore(db, atomic);
    this.organizations = new OrganizationStore(db, atomic);
    this.organizationOverviews = new OrganizationOverviewStore(db);
    this.users = new UserStore(db, atomic);
    this.providers = new ProviderStore(db, atomic);
    this.registry = new RegistryStore(db);
    this.agents = new AgentStore(db, atomic);
    this.apiKeys = new ApiKeyStore(db, atomic);
    this.calls = new CallStore(db, atomic, this.usageChanges, outbox, jobsAdded);
    this.recordings = new RecordingStore(db, atomic, outbox, jobsAdded);
    this.phoneNumbers = new PhoneNumberStore(db, atomic);
    this.telephonyAccounts = new TelephonyAccountStore(db, atomic);
    this.dialTargets = new DialTargetStore(db, atomic);
    this.doNotCallNumbers = new DoNotCallStore(db, atomic);
    this.callLists = new CallListStore({
      db,
      atomic,
      outbox,
      added: jobsAdded,
      writers: backend.writers,
    });
    this.idempotencyKeys = new IdempotencyStore(db, atomic);
    this.usage = new UsageStore(db);
    this.history = new HistoryStore(db, atomic);
    this.audit = new AuditStore(db, atomic);
    this.sealedCredentials = new SealedCredentialStore(db, atomic);
    this.nodes = new NodeStore(db, atomic);
    this.callSlots = new CallSlotStore(db, atomic);
    this.onceTokens = new OnceTokenStore(db, atomic);
    this.analyses = new AnalysisStore(db, atomic, outbox, jobsAdded);
    this.jobs = new JobStore(db, atomic, jobsAdded);
    this.knowledge = new KnowledgeStore(db, atomic, jobsAdded, backend.writers);
    this.embeddings = new EmbeddingStore(db, atomic, jobsAdded);
    this.webhooks = new WebhookStore(db, atomic, {
      outbox,
      jobs: this.jobs,
      changes: this.recordChanges,
    });
    this.#backend = backend;
  }

  /** Undefined if the database has one server. */
  get messageBus(): BusMessages | undefined {
    return this.#backend.messageBus;
  }

  /** The number of requests without a response so far. */
  get queueLength(): number {
    return this.#backend.stats.requestsWaiting;
  }

  get stats(): StorageStats {
    return this.#backend.stats;
  }

  /** Whether no other server can be using the database, as far as its lock shows. */
  get isSoleServer(): boolean {
    return this.#backend.isSoleServer;
  }

  /** Why the last write failed, if the request was not to blame; undefined if it succeeded. */
  get writeFault(): StoreFault | undefined {
    return this.#backend.writeFault;
  }

  /** Checks whether the database still exists, and is the one that was opened; writes nothing. */
  checkHealth(): Promise<StoreCondition> {
    return this.#backend.checkHealth();
  }

  get writers(): StatementPort["writers"] {
    return this.#backend.writers;
  }

  /** Runs a request of another process of this server, which has no database of its own. Never rejects. */
  relay(request: RelayedRequest): Promise<RelayedOutcome> {
    return runRelayed(this.#backend, request);
  }

  /** Refuses new requests, waits for those in progress, then closes the database. */
  close(): Promise<void> {
    return this.#backend.close();
  }
}
