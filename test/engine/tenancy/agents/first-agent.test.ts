import assert from "node:assert/strict";
import { test } from "node:test";
import {
  chooseModels,
  createFirstAgent,
  type FirstAgentServices,
  referencesTo,
} from "../../../../engine/tenancy/agents/first-agent.js";
import type { Category } from "../../../../storage/records.js";
import { platformOfFile, type SeededPlatform } from "../seeded-platform.js";

const sharedPlatform = platformOfFile();
const ALL = ["llm", "tts", "stt"] as const;

/** A model search that returns the platform's models, except those of the given categories. */
function without(
  { agents, modelSearch }: SeededPlatform,
  ...missing: readonly Category[]
): FirstAgentServices {
  return {
    agents,
    modelSearch: {
      search: async (tenant, query) => {
        const page = await modelSearch.search(tenant, query);
        return missing.includes(query.category) ? { ...page, items: [] } : page;
      },
    },
  };
}

test("the first agent uses the models that the model search lists first", async () => {
  const platform = await sharedPlatform();
  const tenant = await platform.tenantOn("free");
  const made = await createFirstAgent(platform, tenant, "Reception");
  assert.ok(made.agent !== undefined);
  const { llm, tts, stt } = made.models;
  assert.deepEqual(
    [llm.modelId, tts.providerKey, stt.providerKey],
    ["gpt-6-luna", "kokoro", "deepgram"],
  );
  const stored = await platform.agents.get(tenant, made.agent.id);
  assert.equal(stored.name, "Reception");
  const references = {
    llmProviderId: llm.providerId,
    llmModelId: llm.modelId,
    ttsProviderId: tts.providerId,
    ttsModelId: tts.modelId,
    sttProviderId: stt.providerId,
  };
  assert.deepEqual({ ...stored, ...references }, stored);
  assert.deepEqual(referencesTo(made.models), references);
});

test("no agent is created if one category is missing, and the result names it", async () => {
  const platform = await sharedPlatform();
  const tenant = await platform.tenantOn("free");
  for (const missing of ALL) {
    const services = without(platform, missing);
    const made = await createFirstAgent(services, tenant, "Reception");
    assert.deepEqual(made, { agent: undefined, missing: [missing] });
    const references = referencesTo(await chooseModels(services.modelSearch, tenant));
    assert.deepEqual(
      ALL.filter((category) => `${category}ProviderId` in references),
      ALL.filter((category) => category !== missing),
    );
  }
  const made = await createFirstAgent(without(platform, ...ALL), tenant, "Reception");
  assert.deepEqual(made, { agent: undefined, missing: [...ALL] });
});

test("a model outside the plan is not chosen", async () => {
  const platform = await sharedPlatform();
  const tenant = await platform.tenantOn("free");
  const plan = { ...tenant.plan, models: { ...tenant.plan.models, llm: [] } };
  const { llm, stt } = await chooseModels(platform.modelSearch, { ...tenant, plan });
  assert.equal(llm, undefined);
  assert.equal(stt?.providerKey, "deepgram");
});
