import type { Database } from "../../../storage/database.js";
import type { AuditRecord } from "../../../storage/tenancy/audit-record.js";
import type { DoNotCallRecord } from "../../../storage/tenancy/do-not-call-store.js";
import { RequestError } from "../../request-error.js";
import type { Clock } from "../../time/clock.js";
import { actorOf, auditEntry } from "../audit-entry.js";
import type { Tenant } from "../tenant.js";

/** Far above what one organization calls; all of its numbers are about 20 MB of database. */
export const DO_NOT_CALL_MAX = 200_000;

export interface DoNotCallOptions {
  readonly database: Pick<Database, "doNotCallNumbers">;
  readonly clock: Clock;
  readonly newId: () => string;
}

export interface DoNotCallPage {
  readonly numbers: readonly DoNotCallRecord[];
  /** The `after` of the next page; undefined on the last one. */
  readonly next: string | undefined;
}

/** The organization's do-not-call list: its agents never call these numbers. Numbers are in E.164. */
export class DoNotCall {
  readonly #options: DoNotCallOptions;

  constructor(options: DoNotCallOptions) {
    this.#options = options;
  }

  has(orgId: string, number: string): Promise<boolean> {
    return this.#options.database.doNotCallNumbers.has(orgId, number);
  }

  async list({ organization }: Tenant, after: string, limit: number): Promise<DoNotCallPage> {
    const { doNotCallNumbers } = this.#options.database;
    const found = await doNotCallNumbers.page(organization.id, after, limit + 1);
    const numbers = found.slice(0, limit);
    const next = found.length > limit ? numbers.at(-1)?.number : undefined;
    return { numbers, next };
  }

  /**
   * Adds the numbers, and returns how many the organization has then. Numbers that it already has keep their note.
   * RequestError `limit_reached`: it would have more than `DO_NOT_CALL_MAX`.
   */
  async add(tenant: Tenant, numbers: readonly string[], note: string | null): Promise<number> {
    const { database, clock } = this.#options;
    const { id: orgId } = tenant.organization;
    const { doNotCallNumbers } = database;
    const unique = [...new Set(numbers)];
    const listed = new Set(await doNotCallNumbers.listed(orgId, unique));
    const added = unique.filter((number) => !listed.has(number));
    const count = await doNotCallNumbers.count(orgId);
    if (added.length === 0) return count;
    // Requests at the same time may exceed the limit together, each by what it adds.
    if (count + added.length > DO_NOT_CALL_MAX) {
      const message = `the do-not-call list takes ${DO_NOT_CALL_MAX} numbers at most`;
      throw new RequestError("limit_reached", message);
    }
    const createdAtMs = clock.epochMs();
    const records = added.map((number) => ({ orgId, number, note, createdAtMs }));
    await doNotCallNumbers.insert(records, this.#entry(tenant, "organization.addDoNotCall"));
    return doNotCallNumbers.count(orgId);
  }

  /** RequestError `not_found`: the number is not on the list. */
  async remove(tenant: Tenant, number: string): Promise<void> {
    const entry = this.#entry(tenant, "organization.removeDoNotCall");
    const { doNotCallNumbers } = this.#options.database;
    if (await doNotCallNumbers.remove(tenant.organization.id, number, entry)) return;
    throw new RequestError("not_found", "the number is not on the do-not-call list");
  }

  #entry(
    tenant: Tenant,
    action: "organization.addDoNotCall" | "organization.removeDoNotCall",
  ): AuditRecord {
    const { clock, newId } = this.#options;
    const { id, name } = tenant.organization;
    return auditEntry({
      id: newId(),
      atMs: clock.epochMs(),
      actor: actorOf(tenant),
      action,
      target: { type: "organization", id, orgId: id, name },
      changes: ["doNotCallNumbers"],
    });
  }
}
