import type { Database } from "../../storage/database.js";
import type { PlanRecord } from "../../storage/records.js";
import type { Clock } from "../time/clock.js";
import { CATEGORIES } from "../vendors/vendor.js";
import type { NewInRelease } from "./seeding/new-in-release.js";
import { STANDARD_PLANS } from "./seeding/standard-plans.js";

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

  /** The plans that any organization may choose, cheapest first. */
  async listPublic(): Promise<readonly PlanRecord[]> {
    const plans = await this.#database.plans.list();
    return plans
      .filter((plan) => plan.public && !plan.custom)
      .sort((a, b) => a.pricing.monthly - b.pricing.monthly);
  }

  /** In creation order. */
  list(): Promise<readonly PlanRecord[]> {
    return this.#database.plans.list();
  }

  /** Stores the standard plans. A stored plan only gets the models that are new in this release. */
  async seed(release: Pick<NewInRelease, "isNew"> = NOTHING_NEW): Promise<void> {
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
    for (const stored of await this.#database.plans.list()) {
      const standard = STANDARD_PLANS.find(({ slug }) => slug === stored.slug);
      if (standard === undefined || stored.custom) continue;
      const models = withNew(stored.models, standard.models, release);
      if (models !== undefined) await this.#database.plans.setModels(stored.id, models, nowMs);
    }
  }
}

const NOTHING_NEW: Pick<NewInRelease, "isNew"> = { isNew: () => false };

type ModelLists = PlanRecord["models"];

/** Returns undefined if there is nothing to add. */
function withNew(
  stored: ModelLists,
  standard: ModelLists,
  { isNew }: Pick<NewInRelease, "isNew">,
): ModelLists | undefined {
  const models = { ...stored };
  let isChanged = false;
  for (const category of CATEGORIES) {
    const missing = standard[category].filter(
      (model) => isNew(category, model) && !stored[category].includes(model),
    );
    if (missing.length === 0) continue;
    isChanged = true;
    models[category] = [...stored[category], ...missing];
  }
  return isChanged ? models : undefined;
}
