import type { Database } from "../../../storage/database.js";
import type { ApiKeyRecord, ApiKeyScope } from "../../../storage/records.js";
import type { AuditActor, AuditRecord } from "../../../storage/tenancy/audit-record.js";
import { invalidFields, RequestError } from "../../request-error.js";
import { hashApiKey, isApiKey, newApiKey } from "../../security/api-key.js";
import { sparseCache } from "../../sparse-cache.js";
import type { Clock } from "../../time/clock.js";
import { auditEntry, SERVER_ACTOR } from "../audit-entry.js";
import { ReadCache } from "../read-cache.js";
import { ALL_SCOPES, type Tenant } from "../tenant.js";

/** People read `lastUsedAt`, so a minute is precise enough; a write per request would cost more than the request. */
const LAST_USED_RESOLUTION_MS = 60_000;
/** Keys whose last write is remembered. A key that is evicted is only written once too often. */
const RECENTLY_TOUCHED_MAX = 10_000;
/** Keys cached for about a second, with their organizations and plans: about 2 kB each. */
const KEPT_MAX = 2_000;
/** Far more than an organization needs; keeps the list in the dashboard small. */
const ACTIVE_KEYS_MAX = 100;

export interface ApiKeyInput {
  readonly name: string;
  readonly scopes?: readonly ApiKeyScope[] | undefined;
}

export interface CreatedApiKey {
  readonly record: ApiKeyRecord;
  /** Shown to the user once; it is not stored and cannot be shown again. */
  readonly rawKey: string;
}

export interface ApiKeysOptions {
  readonly database: Pick<Database, "apiKeys" | "recordChanges">;
  readonly clock: Clock;
  readonly newId: () => string;
  /** Called if a write of `lastUsedAt` fails; no request waits for that write. */
  readonly onBackgroundError: (error: unknown) => void;
}

interface OpenedKey {
  readonly key: ApiKeyRecord;
  readonly tenant: Tenant;
}

export class ApiKeys {
  readonly #database: ApiKeysOptions["database"];
  readonly #clock: Clock;
  readonly #newId: () => string;
  readonly #onBackgroundError: (error: unknown) => void;
  readonly #opened: ReadCache<OpenedKey>;
  readonly #touchedAtMsById = sparseCache<string, number>(RECENTLY_TOUCHED_MAX);

  constructor({ database, clock, newId, onBackgroundError }: ApiKeysOptions) {
    this.#database = database;
    this.#clock = clock;
    this.#newId = newId;
    this.#onBackgroundError = onBackgroundError;
    this.#opened = new ReadCache({ changes: database.recordChanges, clock, entriesMax: KEPT_MAX });
  }

  /** Newest first, including revoked keys. */
  list(orgId: string): Promise<readonly ApiKeyRecord[]> {
    return this.#database.apiKeys.list(orgId);
  }

  /**
   * Creates a key with the given scopes. Default: `grantable`, which are the scopes of the requester. `made`: a key
   * that had to be written down before it is stored. RequestError `scope_missing`: the requester lacks a scope;
   * `limit_reached`: there are 100 keys that are not revoked.
   */
  async create(
    orgId: string,
    input: ApiKeyInput,
    actor = SERVER_ACTOR,
    grantable = ALL_SCOPES,
    made = newApiKey(),
  ): Promise<CreatedApiKey> {
    const scopes = input.scopes ?? grantable;
    const beyond = scopes.find((scope) => !grantable.includes(scope));
    if (beyond !== undefined) throw beyondOwnScopes(beyond);
    const { rawKey, keyHash, keyPrefix } = made;
    const record: ApiKeyRecord = {
      id: this.#newId(),
      orgId,
      keyHash,
      keyPrefix,
      name: input.name,
      scopes,
      lastUsedAtMs: null,
      createdAtMs: this.#clock.epochMs(),
      revokedAtMs: null,
    };
    const entry = this.#entry(actor, "apiKey.create", record);
    if (!(await this.#database.apiKeys.insertWithin(record, ACTIVE_KEYS_MAX, entry))) {
      throw new RequestError(
        "limit_reached",
        `an organization can have ${ACTIVE_KEYS_MAX} API keys`,
      );
    }
    return { record, rawKey };
  }

  /** The key is refused from now on. Revoking it again changes nothing. RequestError `not_found`. */
  async revoke(orgId: string, id: string, actor = SERVER_ACTOR): Promise<void> {
    const key = await this.#database.apiKeys.findById(orgId, id);
    if (key === undefined) throw new RequestError("not_found", "there is no such API key");
    const entry = this.#entry(actor, "apiKey.revoke", key);
    await this.#database.apiKeys.revoke(orgId, id, entry.atMs, entry);
  }

  /** Returns undefined for an unknown or revoked key. Also returns tenants of pending organizations. */
  async authenticate(rawKey: string): Promise<Tenant | undefined> {
    if (!isApiKey(rawKey)) return undefined;
    const keyHash = hashApiKey(rawKey);
    const opened = await this.#opened.get(keyHash, () => this.#open(keyHash));
    if (opened === undefined) return undefined;
    this.#noteUse(opened.key);
    return opened.tenant;
  }

  async #open(keyHash: string): Promise<OpenedKey | undefined> {
    const found = await this.#database.apiKeys.findWithOwner(keyHash);
    if (found === undefined || found.key.revokedAtMs !== null) return undefined;
    const { key, organization, plan } = found;
    const { id: apiKeyId, scopes } = key;
    return { key, tenant: { organization, plan, userId: undefined, apiKeyId, scopes } };
  }

  #entry(
    actor: AuditActor,
    action: "apiKey.create" | "apiKey.revoke",
    { id, orgId, name }: ApiKeyRecord,
  ): AuditRecord {
    const target = { type: "apiKey", id, orgId, name } as const;
    return auditEntry({ id: this.#newId(), atMs: this.#clock.epochMs(), actor, action, target });
  }

  #noteUse(key: ApiKeyRecord): void {
    const nowMs = this.#clock.epochMs();
    const touchedAtMs = Math.max(
      key.lastUsedAtMs ?? Number.NEGATIVE_INFINITY,
      this.#touchedAtMsById.get(key.id) ?? Number.NEGATIVE_INFINITY,
    );
    if (nowMs - touchedAtMs < LAST_USED_RESOLUTION_MS) return;
    this.#touchedAtMsById.set(key.id, nowMs);
    this.#database.apiKeys.touch(key.id, nowMs).catch(this.#onBackgroundError);
  }
}

function beyondOwnScopes(scope: ApiKeyScope): RequestError {
  const message = `expected no "${scope}", which the API key of this request lacks`;
  return invalidFields([{ path: "scopes", message }], "scope_missing");
}
