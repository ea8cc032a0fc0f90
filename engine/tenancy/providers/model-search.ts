import type { Database } from "../../../storage/database.js";
import type { Category, PlanRecord, ProviderRecord } from "../../../storage/records.js";
import { isModelAllowed, modelString } from "../agents/agent-access.js";
import { STANDARD_PLANS } from "../seeding/standard-plans.js";
import type { Tenant } from "../tenant.js";
import { byPreference } from "./vendor-preference.js";

export interface ModelQuery {
  readonly category: Category;
  /** Looked for in the model's id and label, whatever the case; empty finds all. */
  readonly query: string;
  readonly skip: number;
  readonly limit: number;
}

export interface FoundModel {
  readonly providerId: string;
  readonly providerKey: string;
  readonly providerName: string;
  readonly modelId: string;
  readonly label: string;
  readonly source: "global" | "client";
  readonly allowed: boolean;
  /** Slug of the smallest standard plan that has the model; null when it is allowed already, or when no plan has it. */
  readonly requiredPlan: string | null;
}

export interface ModelPage {
  readonly items: readonly FoundModel[];
  readonly total: number;
  readonly skip: number;
  readonly limit: number;
}

export class ModelSearch {
  readonly #database: Pick<Database, "plans" | "providers">;

  constructor({ database }: { readonly database: Pick<Database, "plans" | "providers"> }) {
    this.#database = database;
  }

  /**
   * Models of active providers: those that the tenant may use first, then those of larger plans. Among both, what somebody
   * has set up comes before what merely needs no key.
   */
  async search(tenant: Tenant, query: ModelQuery): Promise<ModelPage> {
    const [providers, plans] = await Promise.all([
      this.#database.providers.listVisible(tenant.organization.id),
      this.#database.plans.list(),
    ]);
    const standardPlans = standardPlansBySize(plans);
    const found = providers
      .filter((provider) => provider.active && provider.category === query.category)
      .sort(byPreference)
      .flatMap((provider) => modelsOf(provider, tenant.plan, standardPlans))
      .filter((model) => matches(model, query.query));
    const sorted = [...found.filter((model) => model.allowed), ...found.filter(isGated)];
    const { skip, limit } = query;
    return { items: sorted.slice(skip, skip + limit), total: sorted.length, skip, limit };
  }
}

function standardPlansBySize(plans: readonly PlanRecord[]): readonly PlanRecord[] {
  return STANDARD_PLANS.flatMap(({ slug }) =>
    plans.filter((plan) => plan.slug === slug && plan.public && !plan.custom),
  );
}

function modelsOf(
  provider: ProviderRecord,
  plan: PlanRecord,
  standardPlans: readonly PlanRecord[],
): readonly FoundModel[] {
  return provider.models.map(({ modelId, label }) => {
    const allowed = isModelAllowed(plan, provider, modelId);
    const smallest = standardPlans.find((each) =>
      each.models[provider.category].includes(modelString(provider, modelId)),
    );
    return {
      providerId: provider.id,
      providerKey: provider.providerKey,
      providerName: provider.name,
      modelId,
      label,
      source: provider.orgId === null ? "global" : "client",
      allowed,
      requiredPlan: allowed ? null : (smallest?.slug ?? null),
    };
  });
}

function matches({ modelId, label }: FoundModel, query: string): boolean {
  const wanted = query.trim().toLowerCase();
  return modelId.toLowerCase().includes(wanted) || label.toLowerCase().includes(wanted);
}

function isGated(model: FoundModel): boolean {
  return !model.allowed;
}
