import { resolve } from "node:path";
import { Kysely } from "kysely";
import { AgentStore } from "./agent-store.js";
import { ApiKeyStore } from "./api-key-store.js";
import { AtomicRequests } from "./atomic-requests.js";
import { AuditStore } from "./audit-store.js";
import { backupInThread } from "./backup-start.js";
import { CallStore } from "./call-store.js";
import { messageOf } from "./fault.js";
import { HistoryStore } from "./history-store.js";
import { OrganizationStore } from "./organization-store.js";
import { PhoneNumberStore } from "./phone-number-store.js";
import { PlanStore } from "./plan-store.js";
import { ProviderStore } from "./provider-store.js";
import { RecordingStore } from "./recording-store.js";
import { RegistryStore } from "./registry-store.js";
import { SealedCredentialStore } from "./sealed-credential-store.js";
import { StorageUnavailable } from "./storage-failure.js";
import type { Tables } from "./tables.js";
import { type StorageStats, startDatabaseThread, ThreadClient } from "./thread-client.js";
import { ThreadDialect } from "./thread-dialect.js";
import { UsageStore } from "./usage-store.js";
import { UserStore } from "./user-store.js";

export interface DatabaseOptions {
  /** Created, with its folder, when it does not exist. */
  readonly filePath: string;
  /**
   * Called once if storage dies; from then on every request fails, so a server should stop. Without it, the process
   * gets a warning.
   */
  readonly onFailure?: (error: Error) => void;
  /** A server, of which a file may have only one at a time; command lines and backups come beside it. */
  readonly isServer?: boolean;
}

/**
 * Starts the storage thread on the file and brings its schema up to date. Another process may have the same file open.
 * Rejects with `StorageUnavailable` when the file cannot be used.
 */
export async function openDatabase(options: DatabaseOptions): Promise<Database> {
  const filePath = resolve(options.filePath);
  const worker = startDatabaseThread({ filePath, isServer: options.isServer ?? false });
  const onFailure = options.onFailure ?? ((error: Error) => process.emitWarning(error));
  const client = await ThreadClient.connect(worker, { onFailure }).catch((cause: unknown) => {
    throw new StorageUnavailable(messageOf(cause), { cause });
  });
  return new Database(client, filePath);
}

/** Everything that is kept, one store a table; requests take effect in the order in which they are made. */
export class Database {
  readonly plans: PlanStore;
  readonly organizations: OrganizationStore;
  readonly users: UserStore;
  readonly providers: ProviderStore;
  readonly registry: RegistryStore;
  readonly agents: AgentStore;
  readonly apiKeys: ApiKeyStore;
  readonly calls: CallStore;
  readonly recordings: RecordingStore;
  readonly phoneNumbers: PhoneNumberStore;
  readonly usage: UsageStore;
  readonly history: HistoryStore;
  readonly audit: AuditStore;
  readonly sealedCredentials: SealedCredentialStore;
  readonly #client: ThreadClient;
  readonly #filePath: string;

  constructor(client: ThreadClient, filePath: string) {
    const db = new Kysely<Tables>({ dialect: new ThreadDialect(client) });
    const atomic = new AtomicRequests(client);
    this.plans = new PlanStore(db);
    this.organizations = new OrganizationStore(db, atomic);
    this.users = new UserStore(db);
    this.providers = new ProviderStore(db, atomic);
    this.registry = new RegistryStore(db);
    this.agents = new AgentStore(db, atomic);
    this.apiKeys = new ApiKeyStore(db, atomic);
    this.calls = new CallStore(db, atomic);
    this.recordings = new RecordingStore(db, atomic);
    this.phoneNumbers = new PhoneNumberStore(db, atomic);
    this.usage = new UsageStore(db);
    this.history = new HistoryStore(db);
    this.audit = new AuditStore(db, atomic);
    this.sealedCredentials = new SealedCredentialStore(db, atomic);
    this.#client = client;
    this.#filePath = filePath;
  }

  /** Requests that have been made and not been answered. */
  get queueLength(): number {
    return this.#client.stats.requestsWaiting;
  }

  get stats(): StorageStats {
    return this.#client.stats;
  }

  /**
   * Copies the live database, as it is at one moment, to a file that must not exist yet; it appears when it is whole.
   * Requests go on meanwhile. It does not need the database to stay open.
   */
  backup(filePath: string): Promise<void> {
    return backupInThread({ sourcePath: this.#filePath, targetPath: resolve(filePath) });
  }

  /** Refuses new requests, waits for those that were made, then closes the file. */
  close(): Promise<void> {
    return this.#client.close();
  }
}
