import assert from "node:assert/strict";
import { test } from "node:test";
import { createFirstAgent } from "../../../../engine/tenancy/agents/first-agent.js";
import { VENDOR_CATALOG } from "../../../../engine/tenancy/providers/vendor-catalog.js";
import { warnOfRetiringModels } from "../../../../engine/tenancy/seeding/seeding.js";
import { STANDARD_PLANS } from "../../../../engine/tenancy/seeding/standard-plans.js";
import { vendorOf } from "../../../../engine/vendors/vendors.js";
import type { ProviderRecord } from "../../../../storage/records.js";
import { RecordingLogger } from "../../../doubles/recording-logger.js";
import { openPlatform, type SeededPlatform } from "../seeded-platform.js";

const SANDBOX = { vendorKeys: {}, sandbox: true };
const NO_KEYS = { vendorKeys: {}, sandbox: false };
const DEEPGRAM_KEY = { vendorKeys: { deepgram: "dg-real" }, sandbox: false };

function globals(platform: SeededPlatform): Promise<readonly ProviderRecord[]> {
  return platform.database.providers.listVisible("");
}

async function namesOf(platform: SeededPlatform): Promise<readonly string[]> {
  return (await globals(platform)).map((each) => `${each.category}/${each.providerKey}`).sort();
}

async function deepgramOf(platform: SeededPlatform): Promise<ProviderRecord> {
  const found = (await globals(platform)).find(
    ({ category, providerKey }) => category === "stt" && providerKey === "deepgram",
  );
  assert.ok(found);
  return found;
}

/** The platform can have these vendors: there is a variable for their address. */
const PLATFORM_ENTRIES = VENDOR_CATALOG.filter(
  ({ providerKey }) => vendorOf(providerKey)?.address.variable !== undefined,
);

test("the sandbox gets a marked global provider of every vendor, with keys that are not real", async (t) => {
  const platform = await openPlatform(t, SANDBOX);
  const names = await namesOf(platform);
  assert.deepEqual(
    names,
    PLATFORM_ENTRIES.map(({ category, providerKey }) => `${category}/${providerKey}`).sort(),
  );
  for (const contract of ["llm/groq", "llm/ollama", "llm/openai", "stt/deepgram", "tts/edge"]) {
    assert.ok(names.includes(contract), contract);
  }
  for (const { active, orgId, settings, sealedCredentials, providerKey } of await globals(
    platform,
  )) {
    assert.deepEqual(
      { active, orgId, settings },
      { active: true, orgId: null, settings: { sandbox: true } },
    );
    const needsKey = vendorOf(providerKey)?.apiKey.isRequired;
    assert.equal(sealedCredentials !== null, needsKey);
    if (sealedCredentials === null) continue;
    assert.deepEqual({ ...platform.cipher.open(sealedCredentials) }, { apiKey: "sandbox" });
  }
});

test("without the sandbox, global providers are created only for vendors with a key or without need of one", async (t) => {
  const platform = await openPlatform(t, {
    vendorKeys: { deepgram: "dg-real", openai: "sk-real", groq: "" },
    sandbox: false,
  });
  assert.deepEqual(await namesOf(platform), [
    "llm/ollama",
    "llm/openai",
    "stt/deepgram",
    "tts/deepgram",
    "tts/edge",
    "tts/openai",
  ]);
  const deepgram = await deepgramOf(platform);
  assert.deepEqual(deepgram.settings, {});
  assert.deepEqual(
    { ...platform.cipher.open(deepgram.sealedCredentials ?? "") },
    { apiKey: "dg-real" },
  );
});

test("the registry lists the catalog once, even if it is seeded several times", async (t) => {
  const platform = await openPlatform(t, NO_KEYS);
  await platform.seed(NO_KEYS);
  const registry = await platform.providers.registry();
  assert.deepEqual(
    registry.map(({ createdAtMs: _stored, ...entry }) => entry),
    VENDOR_CATALOG,
  );
});

test("a vendor with OpenAI's protocol at a public address gets a global provider once its key is set", async (t) => {
  const platform = await openPlatform(t, { vendorKeys: { mistral: "m-real" }, sandbox: false });
  assert.ok((await namesOf(platform)).includes("llm/mistral"));
});

test("a self-hosted vendor gets a global provider only if its address is set", async (t) => {
  const vendorUrls = { whisper: "http://127.0.0.1:8000/v1" };
  const platform = await openPlatform(t, { ...NO_KEYS, vendorUrls });
  assert.deepEqual(await namesOf(platform), ["llm/ollama", "stt/whisper", "tts/edge"]);
});

test("seeding skips existing records", async (t) => {
  const platform = await openPlatform(t, DEEPGRAM_KEY);
  const before = await globals(platform);
  platform.clock.advance(1_000);
  await platform.seed(DEEPGRAM_KEY);
  assert.deepEqual(await globals(platform), before);
});

test("models of a new release are added to the registry, providers and plans of an existing database", async (t) => {
  const platform = await openPlatform(t, DEEPGRAM_KEY);
  const own = { modelId: "nova-3-medical", label: "Ours" };
  await pretendOlderRelease(platform, [own, { modelId: "nova-3", label: "Nova 3" }], "nova-2");
  await platform.seed(DEEPGRAM_KEY);
  const modelIds = (await deepgramOf(platform)).models.map(({ modelId }) => modelId);
  assert.deepEqual(modelIds.slice(0, 3), ["nova-3-medical", "nova-3", "nova-2"]);
  const free = await platform.database.plans.findBySlug("free");
  const standard = STANDARD_PLANS.find(({ slug }) => slug === "free");
  assert.deepEqual(free?.models.stt.toSorted(), standard?.models.stt.toSorted());
  const before = [await globals(platform), await platform.database.plans.list()];
  platform.clock.advance(1_000);
  await platform.seed(DEEPGRAM_KEY);
  assert.deepEqual([await globals(platform), await platform.database.plans.list()], before);
});

test("a model that the operator removed from a provider or a plan is not restored by the next release", async (t) => {
  const platform = await openPlatform(t, DEEPGRAM_KEY);
  const { database } = platform;
  const { id } = await deepgramOf(platform);
  const free = await database.plans.findBySlug("free");
  assert.ok(free);
  const models = [{ modelId: "nova-2", label: "Nova 2" }];
  await database.providers.update(id, null, { models }, 1);
  await database.plans.setModels(free.id, { ...free.models, stt: [] }, 1);
  await platform.seed(DEEPGRAM_KEY);
  assert.deepEqual((await deepgramOf(platform)).models, models);
  assert.deepEqual((await database.plans.findBySlug("free"))?.models.stt, []);
});

test("a start logs each retiring model once, with the number of its agents", async (t) => {
  const platform = await openPlatform(t, { vendorKeys: { openai: "sk-real" }, sandbox: true });
  const { database, clock } = platform;
  const openai = (await globals(platform)).find(
    ({ category, providerKey }) => category === "llm" && providerKey === "openai",
  );
  assert.ok(openai);
  const models = [...openai.models, { modelId: "gpt-4o-mini", label: "GPT-4o mini" }];
  await database.providers.update(openai.id, null, { models }, 1);
  for (const plan of await database.plans.list()) {
    const llm = [...plan.models.llm, "openai/gpt-4o-mini"];
    await database.plans.setModels(plan.id, { ...plan.models, llm }, 1);
  }
  const tenant = await platform.tenantOn("enterprise");
  for (const name of ["One", "Two"]) {
    const { agent } = await createFirstAgent(platform, tenant, name);
    assert.ok(agent);
    await platform.agents.update(tenant, agent.id, {
      llmProviderId: openai.id,
      llmModelId: "gpt-4o-mini",
    });
  }
  const log = new RecordingLogger();
  await warnOfRetiringModels({ database, clock, log });
  const told = log.lines.filter(({ message }) => message.includes("is retiring"));
  assert.deepEqual(
    told.map(({ fields }) => fields),
    [
      {
        category: "llm",
        model: "openai/gpt-4o-mini",
        stage: "retired",
        retiresOn: "2027-01-14",
        successor: "gpt-6-luna",
        agents: 2,
      },
    ],
  );
});

/** Restores the state that a release without the model `without` left, with an operator's own Deepgram models. */
async function pretendOlderRelease(
  platform: SeededPlatform,
  models: ProviderRecord["models"],
  without: string,
): Promise<void> {
  const { database } = platform;
  const entry = (await database.registry.list()).find(
    ({ category, providerKey }) => category === "stt" && providerKey === "deepgram",
  );
  assert.ok(entry);
  const older = entry.models.filter(({ modelId }) => modelId !== without);
  await database.registry.put({ ...entry, models: older });
  await database.providers.update((await deepgramOf(platform)).id, null, { models }, 1);
  for (const plan of await database.plans.list()) {
    const stt = plan.models.stt.filter((model) => model !== `deepgram/${without}`);
    await database.plans.setModels(plan.id, { ...plan.models, stt }, 1);
  }
}

test("a real key replaces the sandbox's", async (t) => {
  const platform = await openPlatform(t, SANDBOX);
  const { id } = await deepgramOf(platform);
  await platform.seed(DEEPGRAM_KEY);
  const deepgram = await deepgramOf(platform);
  assert.equal(deepgram.id, id);
  assert.equal(deepgram.active, true);
  assert.deepEqual(deepgram.settings, {});
  assert.deepEqual(
    { ...platform.cipher.open(deepgram.sealedCredentials ?? "") },
    { apiKey: "dg-real" },
  );
});

test("a sandbox provider is switched off without sandbox and key, and on again with the sandbox", async (t) => {
  const platform = await openPlatform(t, SANDBOX);
  await platform.seed(NO_KEYS);
  const switchedOff = await deepgramOf(platform);
  assert.equal(switchedOff.active, false);
  platform.clock.advance(1_000);
  await platform.seed(NO_KEYS);
  assert.deepEqual(await deepgramOf(platform), switchedOff, "the second start changes nothing");
  await platform.seed(SANDBOX);
  assert.equal((await deepgramOf(platform)).active, true);
});

test("a sandbox provider that was switched off works once its key is set", async (t) => {
  const platform = await openPlatform(t, SANDBOX);
  await platform.seed(NO_KEYS);
  await platform.seed(DEEPGRAM_KEY);
  const { active, settings } = await deepgramOf(platform);
  assert.deepEqual({ active, settings }, { active: true, settings: {} });
});

test("vendors without a key switch between sandbox and real with the server", async (t) => {
  const platform = await openPlatform(t, SANDBOX);
  const settingsOfEdge = async () => {
    const edge = (await globals(platform)).find((each) => each.providerKey === "edge");
    return { active: edge?.active, settings: edge?.settings };
  };
  await platform.seed(NO_KEYS);
  assert.deepEqual(await settingsOfEdge(), { active: true, settings: {} });
  await platform.seed(SANDBOX);
  assert.deepEqual(await settingsOfEdge(), { active: true, settings: { sandbox: true } });
});

test("a corrected key in the environment is used from the next start on, and the change is audited", async (t) => {
  const platform = await openPlatform(t, { vendorKeys: { deepgram: "dg-wrong" }, sandbox: false });
  const before = await deepgramOf(platform);
  assert.deepEqual(await platform.seed(NO_KEYS), [], "a variable that was removed changes nothing");
  assert.deepEqual(await deepgramOf(platform), before);
  platform.clock.advance(1_000);
  assert.deepEqual(await platform.seed(DEEPGRAM_KEY), ["deepgram"]);
  const after = await deepgramOf(platform);
  assert.equal(after.id, before.id);
  const stored = { ...platform.cipher.open(after.sealedCredentials ?? "") };
  assert.deepEqual(stored, { apiKey: "dg-real" });
  assert.deepEqual(await platform.seed(DEEPGRAM_KEY), [], "the same key changes nothing");
  assert.deepEqual(await deepgramOf(platform), after);
  const entries = JSON.stringify(await platform.database.audit.listNewest(10));
  assert.match(entries, /provider\.update/);
  assert.ok(entries.includes(after.id));
  assert.doesNotMatch(entries, /dg-real|dg-wrong/);
});

test("the sandbox never overwrites a provider with a real key", async (t) => {
  const platform = await openPlatform(t, DEEPGRAM_KEY);
  const before = await deepgramOf(platform);
  await platform.seed(SANDBOX);
  assert.deepEqual(await deepgramOf(platform), before);
});

test("two servers that seed at the same time create each provider once", async (t) => {
  const platform = await openPlatform(t, NO_KEYS);
  await Promise.all([platform.seed(SANDBOX), platform.seed(SANDBOX)]);
  assert.equal((await globals(platform)).length, PLATFORM_ENTRIES.length);
});

test("the environment's key does not change a provider that an operator has added", async (t) => {
  const platform = await openPlatform(t, DEEPGRAM_KEY);
  const stored = await deepgramOf(platform);
  const own: ProviderRecord = { ...stored, id: "own", name: "Second", origin: "operator" };
  assert.equal(await platform.database.providers.insertGlobalIfAbsent(own), true);
  await platform.seed({ vendorKeys: { deepgram: "dg-new" }, sandbox: false });
  assert.deepEqual(await platform.database.providers.findById("own"), own);
  assert.notEqual((await deepgramOf(platform)).sealedCredentials, stored.sealedCredentials);
});
