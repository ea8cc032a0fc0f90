import type { Database } from "../../../storage/database.js";
import type { Category, PlanRecord, ProviderRecord } from "../../../storage/records.js";
import type { Clock } from "../../time/clock.js";
import { byModelStage, catalogRow } from "../../vendors/model-catalog.js";
import { isModelAllowed, modelString, providerModelNotice } from "../agents/agent-access.js";
import { STANDARD_PLANS } from "../seeding/standard-plans.js";
import type { Tenant } from "../tenant.js";
import { byPreference } from "./vendor-preference.js";

export interface ModelQuery {
  readonly category: Category;
  /** Searched in the model's id and label, ignoring case; empty matches all models. */
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
  /** Slug of the smallest standard plan that has the model; null if it is allowed already or no plan has it. */
  readonly requiredPlan: string | null;
  /** Whether an STT model takes key terms; null if unknown. */
  readonly takesKeyterms: boolean | null;
}

export interface ModelPage {
  readonly items: readonly FoundModel[];
  readonly total: number;
  readonly skip: number;
  readonly limit: number;
}

export interface ModelSearchOptions {
  readonly database: Pick<Database, "plans" | "providers">;
  readonly clock: Clock;
}

export class ModelSearch {
  readonly #database: ModelSearchOptions["database"];
  readonly #clock: Clock;

  constructor({ database, clock }: ModelSearchOptions) {
    this.#database = database;
    this.#clock = clock;
  }

  /**
   * Models of active providers: first those that the tenant may use, then those of larger plans. In both groups,
   * configured providers come before those that merely need no key; within a provider, models that will be retired come
   * last. Retired models are at the end.
   */
  async search(tenant: Tenant, query: ModelQuery): Promise<ModelPage> {
    const [providers, plans] = await Promise.all([
      this.#database.providers.listVisible(tenant.organization.id),
      this.#database.plans.list(),
    ]);
    const standardPlans = standardPlansBySize(plans);
    const nowMs = this.#clock.epochMs();
    const found = providers
      .filter((provider) => provider.active && provider.category === query.category)
      .sort(byPreference)
      .flatMap((provider) => {
        const current = { ...provider, models: currentFirst(provider, nowMs) };
        return modelsOf(current, tenant.plan, standardPlans);
      })
      .filter((model) => matches(model, query.query));
    const isGone = (model: FoundModel) => gone.has(model);
    const gone = new Set(
      found.filter(({ providerId, modelId }) => {
        const provider = providers.find(({ id }) => id === providerId);
        return provider && providerModelNotice(provider, modelId, nowMs)?.stage === "retired";
      }),
    );
    const served = found.filter((model) => !isGone(model));
    const sorted = [
      ...served.filter((model) => model.allowed),
      ...served.filter(isGated),
      ...found.filter(isGone),
    ];
    const { skip, limit } = query;
    return { items: sorted.slice(skip, skip + limit), total: sorted.length, skip, limit };
  }
}

function standardPlansBySize(plans: readonly PlanRecord[]): readonly PlanRecord[] {
  return STANDARD_PLANS.flatMap(({ slug }) =>
    plans.filter((plan) => plan.slug === slug && plan.public && !plan.custom),
  );
}

/** Returns the provider's models; those that will not be retired come first. */
export function currentFirst(provider: ProviderRecord, nowMs: number): ProviderRecord["models"] {
  const noticeOf = ({ modelId }: { readonly modelId: string }) =>
    providerModelNotice(provider, modelId, nowMs);
  return provider.models.toSorted((a, b) => byModelStage(noticeOf(a), noticeOf(b)));
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
      takesKeyterms:
        catalogRow(provider.providerKey, provider.category, modelId)?.takesKeyterms ?? null,
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
