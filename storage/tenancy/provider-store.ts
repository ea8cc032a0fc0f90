import type { Insertable, Kysely, Selectable } from "kysely";
import type { Category, ProviderRecord, ProviderTest } from "../records.js";
import type { AtomicRequests } from "../statements/atomic-requests.js";
import { ForeignKeyViolationError } from "../statements/foreign-key-violation.js";
import {
  jsonObject,
  providerModels,
  providerTest,
  readJson,
  writeJson,
} from "../statements/json-column.js";
import type { Tables } from "../tables.js";
import { namedIn } from "./agent-store.js";
import type { AuditRecord } from "./audit-record.js";
import { auditOf } from "./audit-store.js";

export type ProviderPatch = Partial<
  Pick<ProviderRecord, "name" | "active" | "sealedCredentials" | "models" | "settings">
>;

export class ProviderStore {
  readonly #db: Kysely<Tables>;
  readonly #atomic: AtomicRequests;

  constructor(db: Kysely<Tables>, atomic: AtomicRequests) {
    this.#db = db;
    this.#atomic = atomic;
  }

  /** Returns false if a global provider of this category, vendor and name exists; it stays unchanged. */
  async insertGlobalIfAbsent(provider: ProviderRecord): Promise<boolean> {
    const result = await this.#db
      .insertInto("providers")
      .values(rowOf({ ...provider, orgId: null }))
      .onConflict((conflict) =>
        conflict
          .columns(["category", "providerKey", "name"])
          .where("orgId", "is", null)
          .doNothing(),
      )
      .executeTakeFirst();
    return (result.numInsertedOrUpdatedRows ?? 0n) > 0n;
  }

  /** Throws `UniqueViolationError` if a global provider of the same category and vendor has this name. */
  async insertGlobal(provider: ProviderRecord, entry: AuditRecord): Promise<void> {
    await this.#atomic.run([
      this.#db.insertInto("providers").values(rowOf({ ...provider, orgId: null })),
      ...auditOf(this.#db, entry),
    ]);
  }

  /**
   * Returns false if the organization already has `maxOwned` providers. Throws `UniqueViolationError` if one of them
   * has the same category, vendor and name.
   */
  insertOwned(provider: ProviderRecord, maxOwned: number, entry?: AuditRecord): Promise<boolean> {
    const { orgId } = provider;
    const limited = { table: "providers", row: rowOf(provider), orgId, max: maxOwned } as const;
    return this.#atomic.insertWithin(this.#db, limited, auditOf(this.#db, entry));
  }

  async findById(id: string): Promise<ProviderRecord | undefined> {
    const row = await this.#providers().where("id", "=", id).executeTakeFirst();
    return row && recordOf(row);
  }

  /** The existing providers with these ids, in the order of creation. */
  async findMany(ids: readonly string[]): Promise<ProviderRecord[]> {
    if (ids.length === 0) return [];
    const rows = await this.#providers().where("id", "in", ids).orderBy("sequence").execute();
    return rows.map(recordOf);
  }

  /** Global ones first, then the organization's own; each in the order of creation. */
  async listVisible(orgId: string): Promise<ProviderRecord[]> {
    const rows = await this.#providers()
      .where((where) => where.or([where("orgId", "is", null), where("orgId", "=", orgId)]))
      .orderBy((order) => order("orgId", "is not", null))
      .orderBy("createdAtMs")
      .orderBy("sequence")
      .execute();
    return rows.map(recordOf);
  }

  async listOwned(orgId: string): Promise<ProviderRecord[]> {
    const rows = await this.#providers()
      .where("orgId", "=", orgId)
      .orderBy("createdAtMs")
      .orderBy("sequence")
      .execute();
    return rows.map(recordOf);
  }

  /** Lists the active providers, global or owned by any organization. */
  async countActiveByCategory(): Promise<Record<Category, number>> {
    const rows = await this.#db
      .selectFrom("providers")
      .select((select) => ["category", select.fn.countAll<number>().as("count")])
      .where("active", "=", 1)
      .groupBy("category")
      .execute();
    const counts: Record<Category, number> = { llm: 0, tts: 0, stt: 0 };
    for (const { category, count } of rows) counts[category] = count;
    return counts;
  }

  /**
   * Returns undefined if this organization (null: the platform) has no such provider, or it was updated after
   * `knownAtMs`. Throws `UniqueViolationError` for a name in use.
   */
  async update(
    id: string,
    orgId: string | null,
    patch: ProviderPatch,
    atMs: number,
    entry?: AuditRecord,
    knownAtMs?: number,
  ): Promise<ProviderRecord | undefined> {
    const [{ rows }] = await this.#atomic.change([
      this.#db
        .updateTable("providers")
        .set({ ...changesOf(patch), updatedAtMs: atMs })
        .where("id", "=", id)
        .where("orgId", orgId === null ? "is" : "=", orgId)
        .$if(knownAtMs !== undefined, (its) => its.where("updatedAtMs", "=", knownAtMs ?? 0))
        .returningAll(),
      ...auditOf(this.#db, entry),
    ]);
    return rows[0] && recordOf(rows[0]);
  }

  /** Stored only if the provider was not updated after `knownAtMs`. It does not count as a change for its users. */
  async noteTest(id: string, test: ProviderTest, knownAtMs: number): Promise<void> {
    await this.#db
      .updateTable("providers")
      .set({ lastTest: writeJson(test) })
      .where("id", "=", id)
      .where("updatedAtMs", "=", knownAtMs)
      .execute();
  }

  /**
   * An agent that is created at the same time either finds the provider gone or keeps it from being removed: the
   * foreign keys ensure that.
   */
  async removeUnused(
    id: string,
    orgId: string | null,
    entry?: AuditRecord,
  ): Promise<"removed" | "notFound" | "inUse"> {
    const owner = orgId === null ? "is" : "=";
    const users = this.#db
      .selectFrom("agents")
      .select("agents.id")
      .where((where) =>
        where.or([
          where("llmProviderId", "=", id),
          where("ttsProviderId", "=", id),
          where("sttProviderId", "=", id),
          where("fallbacks", "like", namedIn(id)),
          where("analysis", "like", namedIn(id)),
          where("ttsConfig", "like", namedIn(id)),
        ]),
      );
    const embeddings = this.#db
      .selectFrom("knowledgeEmbeddings")
      .select("orgId")
      .where("providerId", "=", id);
    // Not counted as a change: only providers of agents are cached.
    const removed = this.#atomic.run([
      this.#db
        .deleteFrom("providers")
        .where("id", "=", id)
        .where("orgId", owner, orgId)
        .where((where) => where.not(where.exists(users)))
        .where((where) => where.not(where.exists(embeddings))),
      this.#db
        .selectFrom("providers")
        .select("id")
        .where("id", "=", id)
        .where("orgId", owner, orgId),
      // A query changes nothing, so the deletion is still the last change before the entry.
      ...auditOf(this.#db, entry),
    ]);
    const results = await removed.catch((error: unknown) => {
      if (error instanceof ForeignKeyViolationError) return undefined;
      throw error;
    });
    // Another connection created an agent between the check and the removal.
    if (results === undefined) return "inUse";
    const [removal, rest] = results;
    if (removal.changes > 0) return "removed";
    return rest.rows.length > 0 ? "inUse" : "notFound";
  }

  #providers() {
    return this.#db.selectFrom("providers").selectAll();
  }
}

function rowOf(provider: ProviderRecord): Insertable<Tables["providers"]> {
  return {
    id: provider.id,
    orgId: provider.orgId,
    category: provider.category,
    providerKey: provider.providerKey,
    name: provider.name,
    sealedCredentials: provider.sealedCredentials,
    models: writeJson(provider.models),
    settings: writeJson(provider.settings),
    active: Number(provider.active),
    createdAtMs: provider.createdAtMs,
    updatedAtMs: provider.updatedAtMs,
    origin: provider.orgId === null ? (provider.origin ?? "environment") : null,
  };
}

function changesOf({ name, active, sealedCredentials, models, settings }: ProviderPatch) {
  const isOther = sealedCredentials !== undefined || models !== undefined || settings !== undefined;
  return {
    ...(isOther ? { lastTest: null } : {}),
    ...(name === undefined ? {} : { name }),
    ...(active === undefined ? {} : { active: Number(active) }),
    ...(sealedCredentials === undefined ? {} : { sealedCredentials }),
    ...(models === undefined ? {} : { models: writeJson(models) }),
    ...(settings === undefined ? {} : { settings: writeJson(settings) }),
  };
}

function recordOf(row: Selectable<Tables["providers"]>): ProviderRecord {
  return {
    id: row.id,
    orgId: row.orgId,
    category: row.category,
    providerKey: row.providerKey,
    name: row.name,
    sealedCredentials: row.sealedCredentials,
    models: readJson("providers.models", providerModels, row.models),
    settings: readJson("providers.settings", jsonObject, row.settings),
    active: row.active === 1,
    createdAtMs: row.createdAtMs,
    updatedAtMs: row.updatedAtMs,
    ...(row.origin === "operator" ? { origin: row.origin } : undefined),
    ...(row.lastTest === null
      ? undefined
      : { lastTest: readJson("providers.lastTest", providerTest, row.lastTest) }),
  };
}
