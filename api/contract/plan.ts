import * as v from "valibot";

export const PlanLimits = v.object({
  maxAgents: v.number(),
  maxConcurrentCalls: v.number(),
  maxCallDurationSec: v.number(),
  maxMonthlyMinutes: v.number(),
});

const PlanFeatures = v.object({ customProviders: v.boolean(), maxCustomProviders: v.number() });

export const PublicPlan = v.object({
  slug: v.string(),
  name: v.string(),
  description: v.string(),
  pricing: v.object({
    monthly: v.number(),
    annual: v.number(),
    maxDiscountPercent: v.number(),
  }),
  limits: PlanLimits,
  features: PlanFeatures,
});

const ModelNames = v.array(v.pipe(v.string(), v.description("`<providerKey>/<modelId>`")));

export const OwnPlan = v.object({
  slug: v.string(),
  name: v.string(),
  limits: PlanLimits,
  models: v.object({ llm: ModelNames, tts: ModelNames, stt: ModelNames }),
  features: PlanFeatures,
});
