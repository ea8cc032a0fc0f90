import type { Database } from "../../storage/database.js";
import type { AuditRecord } from "../../storage/tenancy/audit-record.js";
import type { Logger } from "../log.js";
import { RequestError } from "../request-error.js";
import type { CancelTimer, Clock } from "../time/clock.js";
import { canonicalEmail } from "./people/email-address.js";
import type { Tenant } from "./tenant.js";

const DAY_MS = 24 * 60 * 60 * 1_000;
/** A year, and another month to notice that older entries are needed. */
const AUDIT_RETENTION_MS = 400 * DAY_MS;
const PURGE_PERIOD_MS = 60 * 60 * 1_000;

export interface AuditPage {
  readonly skip: number;
  readonly limit: number;
}

export interface AuditEntries {
  /** Newest first. */
  readonly items: readonly AuditRecord[];
  readonly total: number;
}

export interface AuditTrailOptions {
  readonly database: Pick<Database, "audit" | "organizations">;
  readonly clock: Clock;
}

/** Who changed what in an organization. The stores write an entry in the transaction of the change: none is missing. */
export class AuditTrail {
  readonly #database: AuditTrailOptions["database"];
  readonly #clock: Clock;

  constructor({ database, clock }: AuditTrailOptions) {
    this.#database = database;
    this.#clock = clock;
  }

  list(tenant: Tenant, page: AuditPage): Promise<AuditEntries> {
    return this.#database.audit.list(tenant.organization.id, page);
  }

  /** For the platform's administrator. RequestError `not_found`: no organization has an owner with this e-mail. */
  async listOfOwner(ownerEmail: string, page: AuditPage): Promise<AuditEntries> {
    const email = canonicalEmail(ownerEmail);
    const organization = await this.#database.organizations.findByOwnerEmail(email);
    if (organization === undefined) {
      throw new RequestError("not_found", "no organization has an owner with this e-mail");
    }
    return this.#database.audit.list(organization.id, page);
  }

  /** For the platform's administrator: the newest entries of all organizations and of the platform's own providers. */
  listNewest(limit: number): Promise<readonly AuditRecord[]> {
    return this.#database.audit.listNewest(limit);
  }

  /** Removes entries older than the retention, now and every hour, until the timer is cancelled. */
  startPurging(log: Logger): CancelTimer {
    void this.#purge(log);
    return this.#clock.every(PURGE_PERIOD_MS, () => void this.#purge(log));
  }

  async #purge(log: Logger): Promise<void> {
    try {
      const count = await this.#database.audit.purge(this.#clock.epochMs() - AUDIT_RETENTION_MS);
      if (count > 0) log.info({ count }, "old audit entries were removed");
    } catch (error) {
      log.warn({ error }, "failed to remove old audit entries");
    }
  }
}
