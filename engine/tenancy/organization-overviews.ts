import type { Database } from "../../storage/database.js";
import type {
  OrganizationOverview,
  OverviewPage,
} from "../../storage/tenancy/organization-overview-store.js";
import { RequestError } from "../request-error.js";
import type { Clock } from "../time/clock.js";
import { utcMonth } from "../time/utc-date.js";

export interface OrganizationOverviewsOptions {
  readonly database: Pick<Database, "organizationOverviews">;
  readonly clock: Clock;
}

/** For operators: every organization, with its calls in progress and its minutes of this month (UTC). */
export class OrganizationOverviews {
  readonly #options: OrganizationOverviewsOptions;

  constructor(options: OrganizationOverviewsOptions) {
    this.#options = options;
  }

  /** Newest first. */
  list(
    page: Omit<OverviewPage, "fromDate" | "toDate">,
  ): Promise<{ readonly items: readonly OrganizationOverview[]; readonly total: number }> {
    const { database, clock } = this.#options;
    return database.organizationOverviews.list({ ...page, ...utcMonth(clock.epochMs()) });
  }

  /** RequestError `not_found`. */
  async get(id: string): Promise<OrganizationOverview> {
    const { database, clock } = this.#options;
    const found = await database.organizationOverviews.find(id, utcMonth(clock.epochMs()));
    if (found === undefined) throw new RequestError("not_found", "there is no such organization");
    return found;
  }
}
