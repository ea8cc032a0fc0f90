import type { Insertable, Kysely, Selectable } from "kysely";
import type { TelephonyAccountRecord } from "../records.js";
import type { AtomicRequests } from "../statements/atomic-requests.js";
import { jsonObject, readJson, writeJson } from "../statements/json-column.js";
import type { Tables } from "../tables.js";
import type { AuditRecord } from "./audit-record.js";
import { auditOf } from "./audit-store.js";

/** The organizations' own accounts at telephony vendors. */
export class TelephonyAccountStore {
  readonly #db: Kysely<Tables>;
  readonly #atomic: AtomicRequests;

  constructor(db: Kysely<Tables>, atomic: AtomicRequests) {
    this.#db = db;
    this.#atomic = atomic;
  }

  /** Throws `UniqueViolationError` if the organization already has an account at that vendor. */
  async insert(account: TelephonyAccountRecord, entry: AuditRecord): Promise<void> {
    await this.#atomic.run([
      this.#db.insertInto("telephonyAccounts").values(rowOf(account)),
      ...auditOf(this.#db, entry),
    ]);
  }

  /** Returns false if the account was removed or updated after `knownAtMs`. */
  async update(
    { id, orgId, name, settings, sealedCredentials, updatedAtMs }: TelephonyAccountRecord,
    knownAtMs: number,
    entry: AuditRecord,
  ): Promise<boolean> {
    const [{ changes }] = await this.#atomic.run([
      this.#db
        .updateTable("telephonyAccounts")
        .set({ name, settings: writeJson(settings), sealedCredentials, updatedAtMs })
        .where("id", "=", id)
        .where("orgId", "=", orgId)
        .where("updatedAtMs", "=", knownAtMs),
      ...auditOf(this.#db, entry),
    ]);
    return changes > 0;
  }

  /**
   * Removes the account with the numbers imported from it. Numbers that the operator assigned use the installation's
   * account again.
   */
  async remove(orgId: string, id: string, entry: AuditRecord): Promise<void> {
    await this.#atomic.run([
      // Runs first, so that the following statements see a number that gets the account in between.
      this.#db.deleteFrom("telephonyAccounts").where("id", "=", id).where("orgId", "=", orgId),
      this.#db
        .deleteFrom("phoneNumbers")
        .where("orgId", "=", orgId)
        .where("accountId", "=", id)
        .where("importedAtMs", "is not", null),
      this.#db
        .updateTable("phoneNumbers")
        .set({ accountId: null })
        .where("orgId", "=", orgId)
        .where("accountId", "=", id),
      ...auditOf(this.#db, entry),
    ]);
  }

  /** Returns the oldest first. */
  async list(orgId: string): Promise<TelephonyAccountRecord[]> {
    const rows = await this.#db
      .selectFrom("telephonyAccounts")
      .selectAll()
      .where("orgId", "=", orgId)
      .orderBy("sequence")
      .execute();
    return rows.map(recordOf);
  }

  async findById(id: string): Promise<TelephonyAccountRecord | undefined> {
    const row = await this.#db
      .selectFrom("telephonyAccounts")
      .selectAll()
      .where("id", "=", id)
      .executeTakeFirst();
    return row && recordOf(row);
  }

  async findByVendor(orgId: string, vendor: string): Promise<TelephonyAccountRecord | undefined> {
    const row = await this.#db
      .selectFrom("telephonyAccounts")
      .selectAll()
      .where("orgId", "=", orgId)
      .where("vendor", "=", vendor)
      .executeTakeFirst();
    return row && recordOf(row);
  }
}

function rowOf({
  settings,
  ...account
}: TelephonyAccountRecord): Insertable<Tables["telephonyAccounts"]> {
  return { ...account, settings: writeJson(settings) };
}

function recordOf(row: Selectable<Tables["telephonyAccounts"]>): TelephonyAccountRecord {
  return {
    id: row.id,
    orgId: row.orgId,
    vendor: row.vendor,
    name: row.name,
    settings: readJson("telephonyAccounts.settings", jsonObject, row.settings),
    sealedCredentials: row.sealedCredentials,
    createdAtMs: row.createdAtMs,
    updatedAtMs: row.updatedAtMs,
  };
}
