import type { Kysely } from "kysely";
import type { AtomicRequests } from "../statements/atomic-requests.js";
import type { Tables } from "../tables.js";
import type { AuditRecord } from "./audit-record.js";
import { auditOf } from "./audit-store.js";

/** Number prefixes, and whole addresses, that agents may call or transfer callers to. */
export class DialTargetStore {
  readonly #db: Kysely<Tables>;
  readonly #atomic: AtomicRequests;

  constructor(db: Kysely<Tables>, atomic: AtomicRequests) {
    this.#db = db;
    this.#atomic = atomic;
  }

  /** Throws `UniqueViolationError` (dialTargets) if the organization already has it. */
  async insert(record: Tables["dialTargets"], entry?: AuditRecord): Promise<void> {
    await this.#atomic.run([
      this.#db.insertInto("dialTargets").values(record),
      ...auditOf(this.#db, entry),
    ]);
  }

  /** Whether the organization has any of these targets. */
  async hasAny(orgId: string, targets: readonly string[]): Promise<boolean> {
    const row = await this.#db
      .selectFrom("dialTargets")
      .select("target")
      .where("orgId", "=", orgId)
      .where("target", "in", targets)
      .executeTakeFirst();
    return row !== undefined;
  }

  /** The organization's targets in ascending order. */
  async listOf(orgId: string): Promise<string[]> {
    const rows = await this.#db
      .selectFrom("dialTargets")
      .select("target")
      .where("orgId", "=", orgId)
      .orderBy("target")
      .execute();
    return rows.map(({ target }) => target);
  }

  /** Lists them by organization, in ascending order. */
  list(): Promise<Tables["dialTargets"][]> {
    const columns = ["orgId", "target", "createdAtMs"] as const;
    const all = this.#db.selectFrom("dialTargets").select(columns);
    return all.orderBy("orgId").orderBy("target").execute();
  }

  /** Returns false, with nothing written, if the organization does not have it. */
  remove(orgId: string, target: string, entry?: AuditRecord): Promise<boolean> {
    const removal = this.#db
      .deleteFrom("dialTargets")
      .where("orgId", "=", orgId)
      .where("target", "=", target);
    return this.#atomic.runIf(removal, [...auditOf(this.#db, entry)]);
  }
}
