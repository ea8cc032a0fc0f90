import type { Compilable, Kysely } from "kysely";
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
   * Throws `UniqueViolationError` (phoneNumbers, number) if the number belongs to an organization, this one or another.
   * Returns false if the organization does not have the account.
   */
  async insert(record: PhoneNumberRecord, entry?: AuditRecord): Promise<boolean> {
    const insert = this.#db.insertInto("phoneNumbers").values(record);
    return (await this.#changeWithAccount(record, insert, entry)) > 0;
  }

  find(number: string): Promise<PhoneNumberRecord | undefined> {
    return this.#db
      .selectFrom("phoneNumbers")
      .select(FIELDS)
      .where("number", "=", number)
      .executeTakeFirst();
  }

  /**
   * Returns the vendor of the organization's own account that contains the number. Returns undefined if the number is
   * in no account, and null if its account was removed.
   */
  async ownVendorOf(orgId: string, number: string): Promise<string | null | undefined> {
    const row = await this.#db
      .selectFrom("phoneNumbers")
      .leftJoin("telephonyAccounts", "telephonyAccounts.id", "phoneNumbers.accountId")
      .select("telephonyAccounts.vendor")
      .where("phoneNumbers.number", "=", number)
      .where("phoneNumbers.orgId", "=", orgId)
      .where("phoneNumbers.accountId", "is not", null)
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

  /** Returns false if the number or its account does not belong to that organization. */
  async update(
    {
      number,
      orgId,
      agentId,
      accountId,
    }: Pick<PhoneNumberRecord, "number" | "orgId" | "agentId" | "accountId">,
    entry?: AuditRecord,
  ): Promise<boolean> {
    const update = this.#db
      .updateTable("phoneNumbers")
      .set({ agentId, accountId })
      .where("number", "=", number)
      .where("orgId", "=", orgId);
    return (await this.#changeWithAccount({ orgId, accountId }, update, entry)) > 0;
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

  /**
   * Changes the number only if the organization has the account, which is locked until the commit. Returns the number
   * of changed rows.
   */
  async #changeWithAccount(
    { orgId, accountId }: Pick<PhoneNumberRecord, "orgId" | "accountId">,
    change: Compilable,
    entry: AuditRecord | undefined,
  ): Promise<number> {
    const queries = [change, ...auditOf(this.#db, entry)];
    if (accountId === null) return (await this.#atomic.change(queries))[0]?.changes ?? 0;
    const hold = this.#db
      .updateTable("telephonyAccounts")
      .set((its) => ({ name: its.ref("name") }))
      .where("id", "=", accountId)
      .where("orgId", "=", orgId);
    return (await this.#atomic.changeIf(hold, queries))?.[0] ?? 0;
  }
}
