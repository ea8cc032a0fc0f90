import type { Kysely } from "kysely";
import type { OrganizationRecord, UserRecord } from "../records.js";
import type { AtomicRequests } from "../statements/atomic-requests.js";
import type { Tables } from "../tables.js";
import type { AuditRecord } from "./audit-record.js";
import { auditOf } from "./audit-store.js";
import { userRowOf } from "./user-store.js";

const FIELDS = [
  "organizations.id",
  "organizations.name",
  "organizations.planId",
  "organizations.status",
  "organizations.ownerEmail",
  "organizations.createdAtMs",
  "organizations.updatedAtMs",
] as const;

export interface OrganizationWithPlan {
  readonly organization: OrganizationRecord;
  readonly planSlug: string;
}

export class OrganizationStore {
  readonly #db: Kysely<Tables>;
  readonly #atomic: AtomicRequests;

  constructor(db: Kysely<Tables>, atomic: AtomicRequests) {
    this.#db = db;
    this.#atomic = atomic;
  }

  /**
   * Inserts both the organization and its owner, or neither. Throws `UniqueViolationError` (users, email) if the
   * address is taken.
   */
  async insertWithOwner(
    organization: OrganizationRecord,
    user: UserRecord,
    entry?: AuditRecord,
  ): Promise<void> {
    await this.#atomic.run([
      this.#db.insertInto("organizations").values(organization),
      this.#db.insertInto("users").values(userRowOf(user)),
      ...auditOf(this.#db, entry),
    ]);
  }

  findById(id: string): Promise<OrganizationRecord | undefined> {
    return this.#db
      .selectFrom("organizations")
      .select(FIELDS)
      .where("id", "=", id)
      .executeTakeFirst();
  }

  /** Returns those of the given organizations that may not call now. */
  async listPending(ids: readonly string[]): Promise<readonly string[]> {
    if (ids.length === 0) return [];
    const rows = await this.#db
      .selectFrom("organizations")
      .select("id")
      .where("id", "in", ids)
      .where("status", "!=", "active")
      .execute();
    return rows.map(({ id }) => id);
  }

  /** Lists organizations in the order of their creation. */
  async list(): Promise<OrganizationWithPlan[]> {
    const rows = await this.#db
      .selectFrom("organizations")
      .innerJoin("plans", "plans.id", "organizations.planId")
      .select(FIELDS)
      .select("plans.slug as planSlug")
      .orderBy("organizations.createdAtMs")
      .orderBy("organizations.sequence")
      .execute();
    return rows.map(({ planSlug, ...organization }) => ({ organization, planSlug }));
  }

  async rename(
    id: string,
    name: string,
    atMs: number,
    entry?: AuditRecord,
  ): Promise<OrganizationRecord | undefined> {
    const [{ rows }] = await this.#atomic.change([
      this.#db
        .updateTable("organizations")
        .set({ name, updatedAtMs: atMs })
        .where("id", "=", id)
        .returning(FIELDS),
      ...auditOf(this.#db, entry),
    ]);
    return rows[0];
  }

  /** Returns false if there is no such organization. */
  setStatus(
    id: string,
    status: OrganizationRecord["status"],
    atMs: number,
    entry?: AuditRecord,
  ): Promise<boolean> {
    return this.#change(id, { status, updatedAtMs: atMs }, entry);
  }

  /** Returns false if there is no such organization; throws `ForeignKeyViolationError` if there is no such plan. */
  setPlan(id: string, planId: string, atMs: number, entry?: AuditRecord): Promise<boolean> {
    return this.#change(id, { planId, updatedAtMs: atMs }, entry);
  }

  findByOwnerEmail(email: string): Promise<OrganizationRecord | undefined> {
    return this.#db
      .selectFrom("organizations")
      .select(FIELDS)
      .where("ownerEmail", "=", email)
      .orderBy("sequence")
      .executeTakeFirst();
  }

  async countActive(): Promise<number> {
    const { count } = await this.#db
      .selectFrom("organizations")
      .select((select) => select.fn.countAll<number>().as("count"))
      .where("status", "=", "active")
      .executeTakeFirstOrThrow();
    return count;
  }

  async #change(
    id: string,
    fields: Partial<OrganizationRecord>,
    entry: AuditRecord | undefined,
  ): Promise<boolean> {
    const [{ changes }] = await this.#atomic.change([
      this.#db.updateTable("organizations").set(fields).where("id", "=", id),
      ...auditOf(this.#db, entry),
    ]);
    return changes > 0;
  }
}
