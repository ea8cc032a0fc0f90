import assert from "node:assert/strict";
import { test } from "node:test";
import {
  accessFaults,
  agentAvailability,
  isModelAllowed,
  sttModelId,
  usableFallbacks,
} from "../../../../engine/tenancy/agents/agent-access.js";
import { agentForCall } from "../../../../engine/tenancy/agents/agent-for-call.js";
import { newAgent } from "../../../../engine/tenancy/agents/agent-input.js";
import type {
  AgentRecord,
  Category,
  PlanRecord,
  ProviderRecord,
} from "../../../../storage/records.js";

const PLAN: PlanRecord = {
  id: "plan",
  slug: "small",
  name: "Small",
  description: "",
  custom: false,
  public: true,
  pricing: { monthly: 0, annual: 0, maxDiscountPercent: 0 },
  limits: { maxAgents: 2, maxConcurrentCalls: 1, maxCallDurationSec: 1, maxMonthlyMinutes: 1 },
  models: { llm: ["vendor/llm-model"], tts: ["vendor/tts-model"], stt: ["vendor/stt-model"] },
  features: { customProviders: false, maxCustomProviders: 0 },
  createdAtMs: 0,
  updatedAtMs: 0,
};

function provider(category: Category, changes: Partial<ProviderRecord> = {}): ProviderRecord {
  return {
    id: category,
    orgId: null,
    category,
    providerKey: "vendor",
    name: `The ${category}`,
    sealedCredentials: null,
    models: [{ modelId: `${category}-model`, label: "" }],
    settings: {},
    active: true,
    createdAtMs: 0,
    updatedAtMs: 0,
    ...changes,
  };
}

function byId(...changed: ProviderRecord[]): Map<string, ProviderRecord> {
  const all = [provider("llm"), provider("tts"), provider("stt"), ...changed];
  return new Map(all.map((each) => [each.id, each]));
}

const AGENT: AgentRecord = newAgent(
  { id: "agent", orgId: "org", createdAtMs: 0, updatedAtMs: 0 },
  {
    name: "Agent",
    llmProviderId: "llm",
    llmModelId: "llm-model",
    ttsProviderId: "tts",
    ttsModelId: "tts-model",
    sttProviderId: "stt",
  },
);

test("an agent whose providers and models are usable is active", () => {
  assert.deepEqual(agentAvailability(AGENT, 1, PLAN, byId()), {
    status: "active",
    pauseReason: null,
  });
});

test("an agent that is switched off is inactive, whatever else would pause it", () => {
  const off = { ...AGENT, active: false };
  assert.deepEqual(agentAvailability(off, 9, PLAN, new Map()), {
    status: "inactive",
    pauseReason: null,
  });
});

test("a pause because of the provider takes precedence over one because of the plan", () => {
  const providers = byId(provider("stt", { active: false }));
  const costly = { ...AGENT, llmModelId: "llm-other" };
  assert.deepEqual(agentAvailability(costly, 9, PLAN, providers), {
    status: "paused_provider",
    pauseReason: 'the speech-to-text provider "The stt" is not active',
  });
});

test("a missing provider and another organization's provider both pause the agent as missing", () => {
  const missing = byId();
  missing.delete("tts");
  const strangers = byId(provider("tts", { orgId: "other" }));
  for (const providers of [missing, strangers]) {
    assert.deepEqual(agentAvailability(AGENT, 0, PLAN, providers), {
      status: "paused_provider",
      pauseReason: "the text-to-speech provider is missing",
    });
  }
});

test("the plan has to include each of the three models", () => {
  for (const category of ["llm", "tts", "stt"] as const) {
    const plan = { ...PLAN, models: { ...PLAN.models, [category]: [] } };
    assert.deepEqual(agentAvailability(AGENT, 0, plan, byId()), {
      status: "paused_plan",
      pauseReason: `the model vendor/${category}-model is not in the plan "small"`,
    });
    const { gated } = accessFaults("org", plan, AGENT, byId());
    assert.deepEqual(
      gated.map((fault) => fault.path),
      [{ llm: "llmModelId", tts: "ttsModelId", stt: "sttProviderId" }[category]],
    );
  }
});

test("the last agent within the plan's limit is active, and the next one is paused", () => {
  assert.equal(agentAvailability(AGENT, 1, PLAN, byId()).status, "active");
  assert.deepEqual(agentAvailability(AGENT, 2, PLAN, byId()), {
    status: "paused_plan",
    pauseReason: 'the plan "small" allows 2 agents',
  });
});

test("an organization's own providers may use any model", () => {
  const own = provider("llm", { orgId: "org", models: [{ modelId: "any", label: "" }] });
  assert.equal(isModelAllowed(PLAN, own, "any"), true);
  assert.equal(
    agentAvailability({ ...AGENT, llmModelId: "any" }, 0, PLAN, byId(own)).status,
    "active",
  );
});

test("a model is allowed only under its own vendor and category", () => {
  assert.equal(isModelAllowed(PLAN, provider("llm"), "llm-model"), true);
  assert.equal(isModelAllowed(PLAN, provider("llm", { providerKey: "other" }), "llm-model"), false);
  assert.equal(isModelAllowed(PLAN, provider("tts"), "llm-model"), false);
});

test("STT uses the provider's first model that the plan includes", () => {
  const models = ["newest", "stt-model"].map((modelId) => ({ modelId, label: "" }));
  assert.equal(sttModelId(PLAN, provider("stt", { models })), "stt-model");
  assert.equal(sttModelId(PLAN, provider("stt", { models, orgId: "org" })), "newest");
});

test("an organization's own STT provider without models gets the vendor's first model", () => {
  const own = { models: [], orgId: "org", providerKey: "deepgram" };
  assert.equal(sttModelId(PLAN, provider("stt", own)), "nova-3");
});

test("faults of the request and of the plan are reported separately", () => {
  const references = { ...AGENT, llmProviderId: "tts", ttsModelId: "tts-other" };
  const models = ["tts-model", "tts-other"].map((modelId) => ({ modelId, label: "" }));
  const { refused, gated } = accessFaults(
    "org",
    PLAN,
    references,
    byId(provider("tts", { models })),
  );
  assert.deepEqual(refused, [
    {
      path: "llmProviderId",
      message: "expected a language-model provider, this is a text-to-speech provider",
    },
  ]);
  assert.deepEqual(gated, [
    { path: "ttsModelId", message: 'the model vendor/tts-other is not in the plan "small"' },
  ]);
});

test("a fallback STT uses its configured model, or the first one of the plan", () => {
  const models = ["stt-model", "stt-other"].map((modelId) => ({ modelId, label: "" }));
  const own = provider("stt", { id: "own", orgId: "org", models });
  const stt = [
    { providerId: "own", modelId: "stt-other" },
    { providerId: "own", modelId: null },
  ];
  const agent = { ...AGENT, fallbacks: { ...AGENT.fallbacks, stt } };
  const usable = usableFallbacks(agent, "stt", PLAN, byId(own));
  assert.deepEqual(
    usable.map((vendor) => vendor?.modelId),
    ["stt-other", "stt-model"],
  );
});

test("an unusable fallback is skipped in a call, and each voice keeps its own speed", () => {
  const models = ["llm", "tts", "stt"].map((kind) => ({ modelId: `${kind}-model`, label: "" }));
  const off = { orgId: "org", active: false, models };
  const standIn = (category: Category) => provider(category, { id: `${category}-2`, models });
  const providersById = byId(
    ...(["llm", "tts", "stt"] as const).flatMap((category) => [
      provider(category, { ...off, id: `${category}-off` }),
      standIn(category),
    ]),
  );
  const both = (category: Category) =>
    [`${category}-off`, `${category}-2`].map((providerId) => ({
      providerId,
      modelId: `${category}-model`,
    }));
  const tts = both("tts").map((voice, at) => ({ ...voice, speed: [0.5, 1.5][at] ?? 0 }));
  const fallbacks = { ...AGENT.fallbacks, llm: both("llm"), tts, stt: both("stt") };
  const agents = [{ agent: { ...AGENT, fallbacks }, position: 0 }];
  const chosen = agentForCall({ agents, providersById }, PLAN, undefined);
  const names = (usable: readonly { readonly provider: ProviderRecord }[]) =>
    usable.map(({ provider: { id } }) => id);
  assert.deepEqual(names(chosen.fallbacks.llm), ["llm-2"]);
  assert.deepEqual(names(chosen.fallbacks.stt), ["stt-2"]);
  assert.deepEqual(names(chosen.fallbacks.tts), ["tts-2"]);
  assert.deepEqual(
    chosen.fallbacks.tts.map(({ speed }) => speed),
    [1.5],
  );
});

test("a provider without the required feature is not used as a fallback", () => {
  const chosen = (providerId: string, modelId = "llm-model") => {
    const llm = [{ providerId, modelId }];
    const agent = { ...AGENT, fallbacks: { ...AGENT.fallbacks, llm } };
    const strangers = provider("llm", { id: "strangers", orgId: "other" });
    const own = provider("llm", { id: "own", orgId: "org" });
    return usableFallbacks(agent, "llm", PLAN, byId(strangers, own))[0]?.provider.id;
  };
  assert.deepEqual([chosen("own"), chosen("llm")], ["own", "llm"]);
  assert.equal(chosen("own", "removed-model"), undefined);
  assert.equal(chosen("tts", "tts-model"), undefined, "the provider has another category");
  assert.equal(chosen("strangers"), undefined);
  assert.equal(chosen("unknown"), undefined);
});

test("the error names the field of every reference that leads nowhere", () => {
  const fallbacks = {
    llm: [{ providerId: "gone", modelId: "a" }],
    tts: [{ providerId: "gone", modelId: "a", speed: 1 }],
    stt: [{ providerId: "stt", modelId: "gone" }],
    hedging: false,
  };
  const { refused } = accessFaults("org", PLAN, { ...AGENT, fallbacks }, byId());
  const missing = "there is no provider with this id";
  assert.deepEqual(refused, [
    { path: "fallbacks.llm.0.providerId", message: missing },
    { path: "fallbacks.tts.0.providerId", message: missing },
    { path: "fallbacks.stt.0.modelId", message: '"gone" is not a model of "The stt"' },
  ]);
  const paths = (changes: Partial<AgentRecord>, providers = byId()) =>
    accessFaults("org", PLAN, { ...AGENT, ...changes }, providers).refused.map(({ path }) => path);
  const ids = ["llmProviderId", "ttsProviderId", "sttProviderId"];
  assert.deepEqual(paths({}, new Map()), ids);
  const models = { llmModelId: "x", ttsModelId: "x", sttModelId: "x" };
  assert.deepEqual(paths(models), ["llmModelId", "ttsModelId", "sttModelId"]);
});

test("an agent is active while one provider of each chain is usable, and its calls start with that provider", () => {
  const models = (category: Category) => [{ modelId: `${category}-model`, label: "" }];
  const own = (category: Category, id: string, active = true) =>
    provider(category, { id, orgId: "org", active, models: models(category) });
  const slot = (category: Category, id: string) => ({
    providerId: id,
    modelId: `${category}-model`,
  });
  const fallbacks = {
    ...AGENT.fallbacks,
    llm: [slot("llm", "llm-off"), slot("llm", "llm-2"), slot("llm", "llm-3")],
    tts: [{ ...slot("tts", "tts-2"), speed: 1.5 }],
    stt: [slot("stt", "stt-2")],
  };
  const agent = { ...AGENT, fallbacks };
  const off = ["llm", "tts", "stt"] as const;
  const switchedOff = off.map((category) => provider(category, { active: false }));
  const others = [
    own("llm", "llm-off", false),
    own("llm", "llm-2"),
    own("llm", "llm-3"),
    own("tts", "tts-2"),
    own("stt", "stt-2"),
  ];
  const providersById = byId(...switchedOff, ...others);
  assert.deepEqual(agentAvailability(agent, 0, PLAN, providersById), {
    status: "active",
    pauseReason: null,
  });
  const agents = [{ agent, position: 0 }];
  const chosen = agentForCall({ agents, providersById }, PLAN, "agent");
  assert.deepEqual(
    [chosen.llm.id, chosen.tts.id, chosen.stt.id, chosen.sttModelId],
    ["llm-2", "tts-2", "stt-2", "stt-model"],
  );
  assert.deepEqual(
    [chosen.agent.llmProviderId, chosen.agent.llmModelId, chosen.agent.ttsConfig.speed],
    ["llm-2", "llm-model", 1.5],
  );
  const behind = chosen.fallbacks.llm.map((each) => each.provider.id);
  assert.deepEqual([behind, chosen.fallbacks.tts, chosen.fallbacks.stt], [["llm-3"], [], []]);

  const without = byId(...switchedOff, own("tts", "tts-2"), own("stt", "stt-2"));
  assert.deepEqual(agentAvailability(agent, 0, PLAN, without), {
    status: "paused_provider",
    pauseReason:
      'the language-model provider "The llm" is not active, and none of its fallbacks can be used',
  });
});

test("a model outside the plan pauses an agent only if no fallback is usable", () => {
  const gated = { ...AGENT, llmModelId: "other" };
  const models = [{ modelId: "llm-model", label: "" }];
  const providersById = byId(provider("llm", { id: "llm-2", models }));
  assert.equal(agentAvailability(gated, 0, PLAN, providersById).status, "paused_plan");
  const llm = [{ providerId: "llm-2", modelId: "llm-model" }];
  const agent = { ...gated, fallbacks: { ...AGENT.fallbacks, llm } };
  assert.equal(agentAvailability(agent, 0, PLAN, providersById).status, "active");
  assert.equal(
    agentAvailability(agent, PLAN.limits.maxAgents, PLAN, providersById).status,
    "paused_plan",
  );
});
