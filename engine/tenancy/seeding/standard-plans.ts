import type { Category, PlanRecord } from "../../../storage/records.js";
import { PLAN_TIERS, type PlanTier } from "../../vendors/model-catalog.js";
import { VENDORS } from "../../vendors/vendors.js";

export type StandardPlan = Omit<
  PlanRecord,
  "id" | "custom" | "public" | "createdAtMs" | "updatedAtMs"
>;

type ModelLists = Readonly<Record<Category, readonly string[]>>;

/** The models that the vendors assign to this plan and to smaller ones. */
function modelsOf(slug: PlanTier): ModelLists {
  const tiers = new Set(PLAN_TIERS.slice(0, PLAN_TIERS.indexOf(slug) + 1));
  const of = (category: Category) =>
    VENDORS.flatMap((vendor) =>
      (vendor[category]?.models ?? [])
        .filter(({ plan }) => tiers.has(plan))
        .map(({ modelId }) => `${vendor.key}/${modelId}`),
    );
  return { llm: of("llm"), tts: of("tts"), stt: of("stt") };
}

/** Smallest first; each includes the one before. Limits are the contract's, prices ours, models the vendors'. */
export const STANDARD_PLANS: readonly StandardPlan[] = [
  {
    slug: "free",
    name: "Free",
    description: "To try it out: one agent, with voices and models that cost nothing or little.",
    pricing: { monthly: 0, annual: 0, maxDiscountPercent: 0 },
    limits: {
      maxAgents: 1,
      maxConcurrentCalls: 2,
      maxCallDurationSec: 300,
      maxMonthlyMinutes: 60,
    },
    models: modelsOf("free"),
    features: { customProviders: false, maxCustomProviders: 0 },
  },
  {
    slug: "starter",
    name: "Starter",
    description: "For a first product: a few agents, more voices, and one provider of your own.",
    pricing: { monthly: 29, annual: 290, maxDiscountPercent: 10 },
    limits: {
      maxAgents: 5,
      maxConcurrentCalls: 10,
      maxCallDurationSec: 1_800,
      maxMonthlyMinutes: 1_000,
    },
    models: modelsOf("starter"),
    features: { customProviders: true, maxCustomProviders: 1 },
  },
  {
    slug: "pro",
    name: "Pro",
    description: "For daily business: large models, premium voices, and your own vendors.",
    pricing: { monthly: 199, annual: 1_990, maxDiscountPercent: 20 },
    limits: {
      maxAgents: 25,
      maxConcurrentCalls: 50,
      maxCallDurationSec: 3_600,
      maxMonthlyMinutes: 10_000,
    },
    models: modelsOf("pro"),
    features: { customProviders: true, maxCustomProviders: 5 },
  },
  {
    slug: "enterprise",
    name: "Enterprise",
    description: "For call centres: hundreds of calls at once and every model.",
    pricing: { monthly: 999, annual: 9_990, maxDiscountPercent: 30 },
    limits: {
      maxAgents: 999,
      maxConcurrentCalls: 500,
      maxCallDurationSec: 7_200,
      maxMonthlyMinutes: 100_000,
    },
    models: modelsOf("enterprise"),
    features: { customProviders: true, maxCustomProviders: 100 },
  },
];
