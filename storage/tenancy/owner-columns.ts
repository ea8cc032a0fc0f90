import type { Selectable } from "kysely";
import { LRUCache } from "lru-cache";
import type { OrganizationRecord, PlanRecord } from "../records.js";
import type { Tables } from "../tables.js";
import { planRecordOf } from "./plan-store.js";

/** The organization of a user or key, and its plan. */
export interface Owner {
  readonly organization: OrganizationRecord;
  readonly plan: PlanRecord;
}

/**
 * Selects columns of a query that has joined both tables. They have aliases, since columns of both have the same names.
 */
export const OWNER_COLUMNS = [
  "organizations.id as orgId",
  "organizations.name as orgName",
  "organizations.status as orgStatus",
  "organizations.ownerEmail as orgOwnerEmail",
  "organizations.createdAtMs as orgCreatedAtMs",
  "organizations.updatedAtMs as orgUpdatedAtMs",
  "plans.id as planId",
  "plans.slug as planSlug",
  "plans.name as planName",
  "plans.description as planDescription",
  "plans.custom as planCustom",
  "plans.public as planPublic",
  "plans.pricing as planPricing",
  "plans.limits as planLimits",
  "plans.models as planModels",
  "plans.features as planFeatures",
  "plans.createdAtMs as planCreatedAtMs",
  "plans.updatedAtMs as planUpdatedAtMs",
] as const;

type Prefixed<Prefix extends string, Row> = {
  readonly [Key in keyof Row & string as `${Prefix}${Capitalize<Key>}`]: Row[Key];
};

export type OwnerRow = { readonly orgId: string } & Omit<
  Prefixed<"org", Selectable<Tables["organizations"]>>,
  "orgSequence" | "orgPlanId" | "orgId"
> &
  Omit<Prefixed<"plan", Selectable<Tables["plans"]>>, "planSequence">;

/** The number of cached plans; a client's own plan counts too. */
const PLANS_MAX = 1_000;

/** Reads owners. Plans come with every request and hardly ever change, so their JSON is only parsed when it is new. */
export class OwnerReader {
  readonly #plans = new LRUCache<string, { readonly row: OwnerRow; readonly plan: PlanRecord }>({
    max: PLANS_MAX,
  });

  ownerOf(row: OwnerRow): Owner {
    return {
      organization: {
        id: row.orgId,
        name: row.orgName,
        planId: row.planId,
        status: row.orgStatus,
        ownerEmail: row.orgOwnerEmail,
        createdAtMs: row.orgCreatedAtMs,
        updatedAtMs: row.orgUpdatedAtMs,
      },
      plan: this.#planOf(row),
    };
  }

  #planOf(row: OwnerRow): PlanRecord {
    const known = this.#plans.get(row.planId);
    if (known !== undefined && hasSamePlan(known.row, row)) return known.plan;
    const plan = planRecordOf({
      id: row.planId,
      slug: row.planSlug,
      name: row.planName,
      description: row.planDescription,
      custom: row.planCustom,
      public: row.planPublic,
      pricing: row.planPricing,
      limits: row.planLimits,
      models: row.planModels,
      features: row.planFeatures,
      createdAtMs: row.planCreatedAtMs,
      updatedAtMs: row.planUpdatedAtMs,
    });
    this.#plans.set(row.planId, { row, plan });
    return plan;
  }
}

/** Compares every column: a manual change of a plan in the file may leave its `updatedAtMs`. */
function hasSamePlan(known: OwnerRow, row: OwnerRow): boolean {
  return (
    known.planLimits === row.planLimits &&
    known.planModels === row.planModels &&
    known.planFeatures === row.planFeatures &&
    known.planPricing === row.planPricing &&
    known.planSlug === row.planSlug &&
    known.planName === row.planName &&
    known.planDescription === row.planDescription &&
    known.planCustom === row.planCustom &&
    known.planPublic === row.planPublic &&
    known.planUpdatedAtMs === row.planUpdatedAtMs
  );
}
