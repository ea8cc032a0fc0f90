import type { CompiledQuery, Kysely, Selectable } from "kysely";
import * as v from "valibot";
import type { ApiKeyRecord } from "../records.js";
import type { AtomicRequests } from "../statements/atomic-requests.js";
import { readJson, writeJson } from "../statements/json-column.js";
import type { Tables } from "../tables.js";
import type { AuditRecord } from "./audit-record.js";
import { auditOf } from "./audit-store.js";
import { OWNER_COLUMNS, type Owner, OwnerReader, type OwnerRow } from "./owner-columns.js";

const scopes = v.array(v.picklist(["voice", "dashboard"]));

const KEY_COLUMNS = [
  "apiKeys.id",
  "apiKeys.orgId",
  "apiKeys.keyHash",
  "apiKeys.keyPrefix",
  "apiKeys.name",
  "apiKeys.scopes",
  "apiKeys.lastUsedAtMs",
  "apiKeys.createdAtMs",
  "apiKeys.revokedAtMs",
] as const;

type KeyRow = Omit<Selectable<Tables["apiKeys"]>, "sequence">;

export interface OwnedApiKey extends Owner {
  readonly key: ApiKeyRecord;
}

export class ApiKeyStore {
  readonly #db: Kysely<Tables>;
  readonly #atomic: AtomicRequests;
  readonly #owners = new OwnerReader();
  /** Compiled once, because every request with a key uses it. */
  readonly #withOwner: CompiledQuery<KeyRow & OwnerRow>;

  constructor(db: Kysely<Tables>, atomic: AtomicRequests) {
    this.#db = db;
    this.#atomic = atomic;
    this.#withOwner = db
      .selectFrom("apiKeys")
      .innerJoin("organizations", "organizations.id", "apiKeys.orgId")
      .innerJoin("plans", "plans.id", "organizations.planId")
      .select(KEY_COLUMNS)
      .select(OWNER_COLUMNS)
      .where("apiKeys.keyHash", "=", "")
      .compile();
  }

  async insert(key: ApiKeyRecord, entry?: AuditRecord): Promise<void> {
    await this.#atomic.run([
      this.#db.insertInto("apiKeys").values({ ...key, scopes: writeJson(key.scopes) }),
      ...auditOf(this.#db, entry),
    ]);
  }

  /** Returns false, and nothing is inserted, if the organization already has `max` keys that are not revoked. */
  insertWithin(key: ApiKeyRecord, max: number, entry: AuditRecord): Promise<boolean> {
    const { orgId } = key;
    const row = { ...key, scopes: writeJson(key.scopes) };
    const limited = { table: "apiKeys", row, orgId, max, countsWhileNull: "revokedAtMs" } as const;
    return this.#atomic.insertWithin(this.#db, limited, auditOf(this.#db, entry));
  }

  async findById(orgId: string, id: string): Promise<ApiKeyRecord | undefined> {
    const row = await this.#keys()
      .where("id", "=", id)
      .where("orgId", "=", orgId)
      .executeTakeFirst();
    return row && recordOf(row);
  }

  /** Reads the key, including a revoked one, and its organization and plan in one request. */
  async findWithOwner(keyHash: string): Promise<OwnedApiKey | undefined> {
    const query = { ...this.#withOwner, parameters: [keyHash] };
    const [row] = (await this.#db.executeQuery<KeyRow & OwnerRow>(query)).rows;
    return row && { key: recordOf(row), ...this.#owners.ownerOf(row) };
  }

  /** Includes revoked keys. */
  async findByHash(keyHash: string): Promise<ApiKeyRecord | undefined> {
    const row = await this.#keys().where("keyHash", "=", keyHash).executeTakeFirst();
    return row && recordOf(row);
  }

  /** Returns the newest keys first, including revoked ones. */
  async list(orgId: string): Promise<ApiKeyRecord[]> {
    const rows = await this.#keys()
      .where("orgId", "=", orgId)
      .orderBy("createdAtMs", "desc")
      .orderBy("sequence", "desc")
      .execute();
    return rows.map(recordOf);
  }

  /** Returns false if the organization has no such key. Revoking again changes nothing, and adds no entry. */
  async revoke(orgId: string, id: string, atMs: number, entry?: AuditRecord): Promise<boolean> {
    const key = this.#keys().where("id", "=", id).where("orgId", "=", orgId);
    const [known] = await this.#atomic.change([
      key,
      this.#db
        .updateTable("apiKeys")
        .set({ revokedAtMs: atMs })
        .where("id", "=", id)
        .where("orgId", "=", orgId)
        .where("revokedAtMs", "is", null),
      ...auditOf(this.#db, entry),
    ]);
    return known.rows.length > 0;
  }

  /** Stores when the key was last used. */
  async touch(id: string, atMs: number): Promise<void> {
    await this.#db
      .updateTable("apiKeys")
      .set({ lastUsedAtMs: atMs })
      .where("id", "=", id)
      .execute();
  }

  #keys() {
    return this.#db.selectFrom("apiKeys").selectAll();
  }
}

function recordOf(row: KeyRow): ApiKeyRecord {
  return {
    id: row.id,
    orgId: row.orgId,
    keyHash: row.keyHash,
    keyPrefix: row.keyPrefix,
    name: row.name,
    scopes: readJson("apiKeys.scopes", scopes, row.scopes),
    lastUsedAtMs: row.lastUsedAtMs,
    createdAtMs: row.createdAtMs,
    revokedAtMs: row.revokedAtMs,
  };
}
