import type { Kysely } from "kysely";
import type { AtomicRequests } from "../statements/atomic-requests.js";
import type { Tables } from "../tables.js";
import type { AuditRecord } from "./audit-record.js";
import { auditOf } from "./audit-store.js";

export type DoNotCallRecord = Tables["doNotCallNumbers"];

/** The numbers that organizations do not want to be called. */
export class DoNotCallStore {
  readonly #db: Kysely<Tables>;
  readonly #atomic: AtomicRequests;

  constructor(db: Kysely<Tables>, atomic: AtomicRequests) {
    this.#db = db;
    this.#atomic = atomic;
  }

  /** A number that the organization already has keeps its note and its time. */
  async insert(records: readonly DoNotCallRecord[], entry: AuditRecord): Promise<void> {
    await this.#atomic.run([
      this.#db
        .insertInto("doNotCallNumbers")
        .values([...records])
        .onConflict((conflict) => conflict.columns(["orgId", "number"]).doNothing()),
      ...auditOf(this.#db, entry),
    ]);
  }

  async has(orgId: string, number: string): Promise<boolean> {
    const row = await this.#db
      .selectFrom("doNotCallNumbers")
      .select("number")
      .where("orgId", "=", orgId)
      .where("number", "=", number)
      .executeTakeFirst();
    return row !== undefined;
  }

  /** Which of the numbers the organization has. */
  async listed(orgId: string, numbers: readonly string[]): Promise<string[]> {
    const rows = await this.#db
      .selectFrom("doNotCallNumbers")
      .select("number")
      .where("orgId", "=", orgId)
      .where("number", "in", numbers)
      .execute();
    return rows.map(({ number }) => number);
  }

  async count(orgId: string): Promise<number> {
    const row = await this.#db
      .selectFrom("doNotCallNumbers")
      .select(({ fn }) => fn.countAll<number>().as("count"))
      .where("orgId", "=", orgId)
      .executeTakeFirstOrThrow();
    return Number(row.count);
  }

  /** The organization's numbers behind `after` ("" for the first ones), in ascending order. */
  page(orgId: string, after: string, limit: number): Promise<DoNotCallRecord[]> {
    return this.#db
      .selectFrom("doNotCallNumbers")
      .selectAll()
      .where("orgId", "=", orgId)
      .where("number", ">", after)
      .orderBy("number")
      .limit(limit)
      .execute();
  }

  /** False, with nothing written, if the organization does not have it. */
  remove(orgId: string, number: string, entry: AuditRecord): Promise<boolean> {
    const removal = this.#db
      .deleteFrom("doNotCallNumbers")
      .where("orgId", "=", orgId)
      .where("number", "=", number);
    return this.#atomic.runIf(removal, [...auditOf(this.#db, entry)]);
  }
}
