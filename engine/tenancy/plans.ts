import type { Database } from "../../storage/database.js";
import type { PlanRecord } from "../../storage/records.js";
import type { Clock } from "../time/clock.js";
import { STANDARD_PLANS } from "./standard-plans.js";

export interface PlansOptions {
  readonly database: Pick<Database, "plans">;
  readonly clock: Clock;
  readonly newId: () => string;
}

export class Plans {
  readonly #database: PlansOptions["database"];
  readonly #clock: Clock;
  readonly #newId: () => string;

  constructor({ database, clock, newId }: PlansOptions) {
    this.#database = database;
    this.#clock = clock;
    this.#newId = newId;
  }

  /** The plans that anybody may choose, cheapest first. */
  async listPublic(): Promise<readonly PlanRecord[]> {
    const plans = await this.#database.plans.list();
    return plans
      .filter((plan) => plan.public && !plan.custom)
      .sort((a, b) => a.pricing.monthly - b.pricing.monthly);
  }

  /** Stores the standard plans; one whose slug exists stays as it is. */
  async seed(): Promise<void> {
    const nowMs = this.#clock.epochMs();
    for (const plan of STANDARD_PLANS) {
      await this.#database.plans.insertIfAbsent({
        ...plan,
        id: this.#newId(),
        custom: false,
        public: true,
        createdAtMs: nowMs,
        updatedAtMs: nowMs,
      });
    }
  }
}
