import assert from "node:assert/strict";
import { test } from "node:test";
import { type ModelQuery, ModelSearch } from "../../../../engine/tenancy/providers/model-search.js";
import type { Database } from "../../../../storage/database.js";
import { VirtualClock } from "../../../doubles/virtual-clock.js";
import { planRecord, providerRecord } from "../../../storage/sample-records.js";
import { TENANT } from "../sample-tenant.js";
import { openPlatform, ownLlm, platformOfFile } from "../seeded-platform.js";

const sharedPlatform = platformOfFile();

/** Vendors whose LLMs are in every list. */
const THREE = new Set(["openai", "groq", "ollama"]);

const LLM: ModelQuery = { category: "llm", query: "", skip: 0, limit: 100 };

test("models of the plan come first, then the others with the smallest plan that includes them", async () => {
  const platform = await sharedPlatform();
  const { items, total } = await platform.modelSearch.search(await platform.tenantOn("free"), LLM);
  assert.equal(total, items.length);
  const known = items.filter(({ providerKey }) => THREE.has(providerKey));
  assert.deepEqual(
    known.map((item) => [`${item.providerKey}/${item.modelId}`, item.allowed, item.requiredPlan]),
    [
      ["openai/gpt-6-luna", true, null],
      ["groq/openai/gpt-oss-20b", true, null],
      ["ollama/llama3.2", true, null],
      ["ollama/llama3.1", true, null],
      ["ollama/qwen2.5", true, null],
      ["openai/gpt-5.6-luna", false, "starter"],
      ["openai/gpt-6-sol", false, "pro"],
      ["openai/gpt-5.6-sol", false, "enterprise"],
      ["groq/openai/gpt-oss-120b", false, "starter"],
    ],
  );
});

test("the first model in a new organization's list belongs to a configured provider", async (t) => {
  const vendorKeys = { deepgram: "dg-real", openai: "sk-real" };
  const platform = await openPlatform(t, { vendorKeys, sandbox: false });
  const tenant = await platform.tenantOn("free");
  const first = async (category: ModelQuery["category"]) => {
    const { items } = await platform.modelSearch.search(tenant, { ...LLM, category, limit: 1 });
    return items.map(({ providerKey, modelId, allowed }) => [providerKey, modelId, allowed]);
  };
  assert.deepEqual(await first("llm"), [["openai", "gpt-6-luna", true]]);
  // The platform's clock is at 15 January 2027, when OpenAI's TTS models are retired.
  assert.deepEqual(await first("tts"), [["edge", "en-US-AriaNeural", true]]);
  assert.deepEqual(await first("stt"), [["deepgram", "nova-3", true]]);
});

test("retiring models come last within their provider, and retired ones after all others", async (t) => {
  const platform = await openPlatform(t, { vendorKeys: { groq: "gsk-real" }, sandbox: false });
  const groqId = await platform.globalId("llm", "groq");
  const models = ["llama-3.1-8b-instant", "openai/gpt-oss-20b"].map((modelId) => ({
    modelId,
    label: modelId,
  }));
  await platform.database.providers.update(groqId, null, { models }, platform.clock.epochMs());
  const { items } = await platform.modelSearch.search(await platform.tenantOn("free"), LLM);
  const ids = items.map(({ modelId }) => modelId);
  assert.deepEqual([ids[0], ids.at(-1)], ["openai/gpt-oss-20b", "llama-3.1-8b-instant"]);
});

test("an organization's own models come before the platform's", async () => {
  const platform = await sharedPlatform();
  const tenant = await platform.tenantOn("starter");
  await platform.providers.create(tenant, ownLlm({ providerKey: "ollama", name: "Basement" }));
  const { items } = await platform.modelSearch.search(tenant, { ...LLM, limit: 2 });
  assert.deepEqual(
    items.map(({ providerName }) => providerName),
    ["Basement", "OpenAI"],
  );
});

test("an item contains everything that a model picker shows", async () => {
  const platform = await sharedPlatform();
  const tenant = await platform.tenantOn("free");
  const { items } = await platform.modelSearch.search(tenant, {
    ...LLM,
    category: "stt",
    limit: 1,
  });
  assert.deepEqual(items, [
    {
      providerId: await platform.globalId("stt", "deepgram"),
      providerKey: "deepgram",
      providerName: "Deepgram",
      modelId: "nova-3",
      label: "Nova 3",
      source: "global",
      allowed: true,
      requiredPlan: null,
      takesKeyterms: true,
    },
  ]);
});

test("an organization's own models are allowed on every plan and visible only to it", async () => {
  const platform = await sharedPlatform();
  const tenant = await platform.tenantOn("starter");
  await platform.providers.create(tenant, ownLlm());
  await platform.organizations.changePlan(tenant.organization.ownerEmail, "free");
  const query = { ...LLM, query: "house" };
  const found = await platform.modelSearch.search(await platform.refreshed(tenant), query);
  assert.deepEqual(
    found.items.map(({ modelId, source, allowed, requiredPlan }) => [
      modelId,
      source,
      allowed,
      requiredPlan,
    ]),
    [["house-model", "client", true, null]],
  );
  const stranger = await platform.modelSearch.search(await platform.tenantOn("starter"), query);
  assert.equal(stranger.total, 0);
});

test("the query is searched in id and label, ignoring case", async () => {
  const platform = await sharedPlatform();
  const tenant = await platform.tenantOn("free");
  const idsFor = async (query: string) =>
    (await platform.modelSearch.search(tenant, { ...LLM, query })).items.map(
      (item) => item.modelId,
    );
  assert.deepEqual(await idsFor("GPT-6-LUNA"), ["gpt-6-luna", "openai/gpt-6-luna"]);
  assert.deepEqual(await idsFor("oss 120"), ["openai/gpt-oss-120b"]);
  assert.deepEqual(await idsFor("no such model"), []);
  assert.deepEqual(await idsFor("%"), []);
});

test("all pages have the same order, and a page past the end is empty", async () => {
  const platform = await sharedPlatform();
  const tenant = await platform.tenantOn("free");
  const whole = await platform.modelSearch.search(tenant, LLM);
  const page = await platform.modelSearch.search(tenant, { ...LLM, skip: 4, limit: 3 });
  assert.deepEqual(page, { items: whole.items.slice(4, 7), total: whole.total, skip: 4, limit: 3 });
  const beyond = await platform.modelSearch.search(tenant, { ...LLM, skip: 50, limit: 3 });
  assert.deepEqual(beyond, { items: [], total: whole.total, skip: 50, limit: 3 });
});

test("models of inactive providers are left out", async () => {
  const platform = await sharedPlatform();
  const tenant = await platform.tenantOn("starter");
  const { id } = await platform.providers.create(tenant, ownLlm());
  await platform.providers.update(tenant, id, { active: false });
  const found = await platform.modelSearch.search(tenant, { ...LLM, query: "house" });
  assert.equal(found.total, 0);
});

test("a model that no standard plan includes names no required plan", async (t) => {
  const platform = await openPlatform(t);
  const groqId = await platform.globalId("llm", "groq");
  const models = [{ modelId: "secret-preview", label: "Preview" }];
  await platform.database.providers.update(groqId, null, { models }, platform.clock.epochMs());
  const query = { ...LLM, query: "preview" };
  const { items } = await platform.modelSearch.search(await platform.tenantOn("pro"), query);
  assert.deepEqual([items[0]?.allowed, items[0]?.requiredPlan], [false, null]);
});

test("the required plan is the smallest public one, whatever the order in which plans were created", async () => {
  const models = { llm: ["openai/small"], tts: [], stt: [] };
  const planOf = (slug: string, changes = {}) => planRecord({ id: slug, slug, models, ...changes });
  const search = new ModelSearch({
    clock: new VirtualClock(),
    // The double has only the methods that are called.
    database: {
      plans: {
        list: async () => [
          planOf("enterprise"),
          planOf("starter", { public: false }),
          planOf("own"),
          planOf("pro"),
          planOf("free", { custom: true }),
        ],
      },
      providers: { listVisible: async () => [providerRecord({ orgId: null })] },
    } as unknown as Database,
  });
  const { items } = await search.search(TENANT, LLM);
  assert.deepEqual(
    items.map(({ allowed, requiredPlan }) => [allowed, requiredPlan]),
    [[false, "pro"]],
  );
});
