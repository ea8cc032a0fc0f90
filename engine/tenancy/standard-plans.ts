import type { Category, PlanRecord } from "../../storage/records.js";

export type StandardPlan = Omit<
  PlanRecord,
  "id" | "custom" | "public" | "createdAtMs" | "updatedAtMs"
>;

type ModelLists = Readonly<Record<Category, readonly string[]>>;

function withMore(smaller: ModelLists, more: Partial<ModelLists>): ModelLists {
  return {
    llm: [...smaller.llm, ...(more.llm ?? [])],
    tts: [...smaller.tts, ...(more.tts ?? [])],
    stt: [...smaller.stt, ...(more.stt ?? [])],
  };
}

/** What needs no key, and the smallest model of each hosted vendor but the premium voices. */
const FREE_MODELS: ModelLists = {
  llm: [
    "ollama/llama3.2",
    "ollama/llama3.1",
    "ollama/qwen2.5",
    "groq/llama-3.1-8b-instant",
    "openai/gpt-4o-mini",
  ],
  tts: [
    "edge/en-US-AriaNeural",
    "edge/en-US-GuyNeural",
    "edge/en-GB-SoniaNeural",
    "edge/de-DE-KatjaNeural",
    "edge/es-ES-ElviraNeural",
    "edge/fr-FR-DeniseNeural",
    "openai/tts-1",
  ],
  stt: ["deepgram/nova-3", "deepgram/nova-2"],
};

const STARTER_MODELS = withMore(FREE_MODELS, {
  llm: ["groq/openai/gpt-oss-20b", "groq/llama-3.3-70b-versatile", "openai/gpt-4.1-mini"],
  tts: ["openai/gpt-4o-mini-tts", "elevenlabs/eleven_flash_v2_5"],
});

const PRO_MODELS = withMore(STARTER_MODELS, {
  llm: ["groq/openai/gpt-oss-120b", "openai/gpt-4o"],
  tts: ["openai/tts-1-hd", "elevenlabs/eleven_turbo_v2_5", "elevenlabs/eleven_multilingual_v2"],
});

const ENTERPRISE_MODELS = withMore(PRO_MODELS, { llm: ["openai/gpt-4.1"] });

/** Smallest first; each includes what the one before it has. Limits are the contract's, prices and models ours. */
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
    models: FREE_MODELS,
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
    models: STARTER_MODELS,
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
    models: PRO_MODELS,
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
    models: ENTERPRISE_MODELS,
    features: { customProviders: true, maxCustomProviders: 100 },
  },
];
