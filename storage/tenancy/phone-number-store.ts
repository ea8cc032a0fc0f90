import type { Kysely } from "kysely";
import type { PhoneNumberRecord } from "../records.js";
import type { AtomicRequests } from "../statements/atomic-requests.js";
import type { Tables } from "../tables.js";
import type { AuditRecord } from "./audit-record.js";
import { auditOf } from "./audit-store.js";

const FIELDS = [
  "number",
  "orgId",
  "createdAtMs",
  "vendor",
  "agentId",
  "accountId",
  "importedAtMs",
] as const;

/** The organizations' telephone numbers. */
export class PhoneNumberStore {
  readonly #db: Kysely<Tables>;
  readonly #atomic: AtomicRequests;

  constructor(db: Kysely<Tables>, atomic: AtomicRequests) {
    this.#db = db;
    this.#atomic = atomic;
  }

  /**
   * Throws `UniqueViolationError` (phoneNumbers, number) if the number belongs to an organization, this one or
   * another.
   */
  async insert(record: PhoneNumberRecord, entry?: AuditRecord): Promise<void> {
    await this.#atomic.run([
      this.#db.insertInto("phoneNumbers").values(record),
      ...auditOf(this.#db, entry),
    ]);
  }

  find(number: string): Promise<PhoneNumberRecord | undefined> {
    return this.#db
      .selectFrom("phoneNumbers")
      .select(FIELDS)
      .where("number", "=", number)
      .executeTakeFirst();
  }

  /** The vendor of the organization's own account that the number is in; undefined where it is in none. */
  async ownVendorOf(orgId: string, number: string): Promise<string | undefined> {
    const row = await this.#db
      .selectFrom("phoneNumbers")
      .innerJoin("telephonyAccounts", "telephonyAccounts.id", "phoneNumbers.accountId")
      .select("telephonyAccounts.vendor")
      .where("phoneNumbers.number", "=", number)
      .where("phoneNumbers.orgId", "=", orgId)
      .executeTakeFirst();
    return row?.vendor;
  }

  async belongsTo(orgId: string, number: string): Promise<boolean> {
    const row = await this.#db
      .selectFrom("phoneNumbers")
      .select("number")
      .where("number", "=", number)
      .where("orgId", "=", orgId)
      .executeTakeFirst();
    return row !== undefined;
  }

  /** The organization's numbers in ascending order. */
  listOf(orgId: string): Promise<PhoneNumberRecord[]> {
    return this.#db
      .selectFrom("phoneNumbers")
      .select(FIELDS)
      .where("orgId", "=", orgId)
      .orderBy("number")
      .execute();
  }

  /** False when the number is not that organization's. */
  async update(
    {
      number,
      orgId,
      agentId,
      accountId,
    }: Pick<PhoneNumberRecord, "number" | "orgId" | "agentId" | "accountId">,
    entry?: AuditRecord,
  ): Promise<boolean> {
    const [{ changes }] = await this.#atomic.change([
      this.#db
        .updateTable("phoneNumbers")
        .set({ agentId, accountId })
        .where("number", "=", number)
        .where("orgId", "=", orgId),
      ...auditOf(this.#db, entry),
    ]);
    return changes > 0;
  }

  /** Lists the numbers in ascending order. */
  list(): Promise<PhoneNumberRecord[]> {
    return this.#db.selectFrom("phoneNumbers").select(FIELDS).orderBy("number").execute();
  }

  /** Does nothing if the number is no longer that organization's. */
  async remove(orgId: string, number: string, entry?: AuditRecord): Promise<void> {
    await this.#atomic.run([
      this.#db.deleteFrom("phoneNumbers").where("number", "=", number).where("orgId", "=", orgId),
      ...auditOf(this.#db, entry),
    ]);
  }
}
