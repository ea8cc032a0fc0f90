import type { Database } from "../../../storage/database.js";
import { ReadCache } from "../../tenancy/read-cache.js";
import type { Tenant } from "../../tenancy/tenant.js";
import type { Clock } from "../../time/clock.js";
import { utcMonth } from "../../time/utc-date.js";
import { OpenRefusal } from "./open-refusal.js";

/** Organizations that had calls within a second or so; a number each. */
const KEPT_MAX = 2_000;

export interface MinutesStores {
  readonly usage: Pick<Database["usage"], "minutesBetween">;
  readonly usageChanges: Database["usageChanges"];
}

/** How much of its plan an organization has used; calls in progress count when they have ended. */
export class MonthlyMinutes {
  readonly #usage: MinutesStores["usage"];
  readonly #clock: Clock;
  readonly #used: ReadCache<number>;

  constructor({ usage, usageChanges: changes }: MinutesStores, clock: Clock) {
    this.#usage = usage;
    this.#clock = clock;
    this.#used = new ReadCache({ changes, clock, entriesMax: KEPT_MAX });
  }

  /** Throws an OpenRefusal when the plan's are used up. */
  async demand({ organization, plan }: Tenant): Promise<void> {
    const { maxMonthlyMinutes } = plan.limits;
    if ((await this.used(organization.id)) < maxMonthlyMinutes) return;
    const message = `the plan's ${maxMonthlyMinutes} minutes of this month are used up`;
    throw new OpenRefusal("limitReached", message);
  }

  /** Since the month began (UTC); without what ended at another process within the last second. */
  async used(orgId: string): Promise<number> {
    const { fromDate, toDate } = utcMonth(this.#clock.epochMs());
    const read = () => this.#usage.minutesBetween(orgId, fromDate, toDate);
    return (await this.#used.get(`${orgId} ${toDate}`, read)) ?? 0;
  }
}
