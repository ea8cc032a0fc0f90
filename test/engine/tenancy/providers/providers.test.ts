import assert from "node:assert/strict";
import { test } from "node:test";
import { RequestError } from "../../../../engine/request-error.js";
import type { ProviderInput } from "../../../../engine/tenancy/providers/provider-input.js";
import type { JsonObject } from "../../../../storage/records.js";
import { ownLlm, platformOfFile, refusal } from "../seeded-platform.js";

const sharedPlatform = platformOfFile();

test("an organization's own provider is stored with all fields, and its credentials are sealed", async () => {
  const platform = await sharedPlatform();
  const tenant = await platform.tenantOn("starter");
  const created = await platform.providers.create(
    tenant,
    ownLlm({ settings: { baseUrl: "https://llm.example.com/v1", region: "eu" } }),
  );
  assert.equal(created.orgId, tenant.organization.id);
  assert.equal(created.active, true);
  assert.deepEqual(created.settings, { baseUrl: "https://llm.example.com/v1", region: "eu" });
  assert.ok(!JSON.stringify(created).includes("sk-ours"));
  assert.deepEqual(
    { ...platform.cipher.open(created.sealedCredentials ?? "") },
    { apiKey: "sk-ours" },
  );
  assert.deepEqual(await platform.providers.get(tenant, created.id), created);
});

test("a vendor that requires no key needs neither credentials nor settings", async () => {
  const platform = await sharedPlatform();
  const tenant = await platform.tenantOn("starter");
  const { sealedCredentials, settings } = await platform.providers.create(tenant, {
    category: "llm",
    providerKey: "ollama",
    name: "Our box",
    models: [],
  });
  assert.deepEqual({ sealedCredentials, settings }, { sealedCredentials: null, settings: {} });
});

test("the list contains the platform's providers first, then the organization's own, or only its own on request", async () => {
  const platform = await sharedPlatform();
  const tenant = await platform.tenantOn("starter");
  const own = await platform.providers.create(tenant, ownLlm());
  const all = await platform.providers.list(tenant, { clientOnly: false });
  const globals = await platform.database.providers.listVisible("");
  assert.equal(all.length, globals.length + 1);
  assert.ok(all.slice(0, 7).every((each) => each.orgId === null));
  assert.deepEqual(all.at(-1), own);
  assert.deepEqual(await platform.providers.list(tenant, { clientOnly: true }), [own]);
});

test("another organization's provider can be neither read, listed, changed nor removed", async () => {
  const platform = await sharedPlatform();
  const { id } = await platform.providers.create(await platform.tenantOn("pro"), ownLlm());
  const stranger = await platform.tenantOn("pro");
  const { providers } = platform;
  assert.deepEqual(await providers.list(stranger, { clientOnly: true }), []);
  await assert.rejects(providers.get(stranger, id), refusal("not_found"));
  await assert.rejects(providers.update(stranger, id, { name: "Mine" }), refusal("not_found"));
  await assert.rejects(providers.remove(stranger, id), refusal("not_found"));
  await assert.rejects(providers.get(stranger, "unknown"), refusal("not_found"));
});

test("a global provider can be read, but neither changed nor removed", async () => {
  const platform = await sharedPlatform();
  const tenant = await platform.tenantOn("enterprise");
  const id = await platform.globalId("llm", "groq");
  assert.equal((await platform.providers.get(tenant, id)).name, "Groq");
  await assert.rejects(
    platform.providers.update(tenant, id, { active: false }),
    refusal("provider_read_only"),
  );
  await assert.rejects(platform.providers.remove(tenant, id), refusal("provider_read_only"));
});

test("a plan without own providers refuses the first one", async () => {
  const platform = await sharedPlatform();
  await assert.rejects(
    platform.providers.create(await platform.tenantOn("free"), ownLlm()),
    refusal("plan_feature_missing"),
  );
});

test("the plan's limit of own providers is never exceeded, not even by two concurrent requests", async () => {
  const platform = await sharedPlatform();
  const tenant = await platform.tenantOn("starter");
  const outcomes = await Promise.allSettled([
    platform.providers.create(tenant, ownLlm({ name: "One" })),
    platform.providers.create(tenant, ownLlm({ name: "Two" })),
  ]);
  const refused = outcomes.filter((outcome) => outcome.status === "rejected");
  assert.equal(refused.length, 1);
  refusal("plan_limit_reached")(refused[0]?.reason);
  assert.equal((await platform.providers.list(tenant, { clientOnly: true })).length, 1);
});

test("a name is unique within a vendor and category of an organization", async () => {
  const platform = await sharedPlatform();
  const tenant = await platform.tenantOn("pro");
  await platform.providers.create(tenant, ownLlm());
  await assert.rejects(platform.providers.create(tenant, ownLlm()), refusal("name_taken", "name"));
  assert.ok(await platform.providers.create(tenant, ownLlm({ providerKey: "groq" })));
  assert.ok(await platform.providers.create(tenant, ownLlm({ category: "tts" })));
  assert.ok(await platform.providers.create(await platform.tenantOn("pro"), ownLlm()));
});

test("renaming a provider to a used name is a conflict", async () => {
  const platform = await sharedPlatform();
  const tenant = await platform.tenantOn("pro");
  await platform.providers.create(tenant, ownLlm({ name: "One" }));
  const two = await platform.providers.create(tenant, ownLlm({ name: "Two" }));
  await assert.rejects(
    platform.providers.update(tenant, two.id, { name: "One" }),
    refusal("name_taken", "name"),
  );
});

test("a vendor that is not in the registry for the category is refused, and the error names the known ones", async () => {
  const platform = await sharedPlatform();
  const tenant = await platform.tenantOn("pro");
  await assert.rejects(
    platform.providers.create(tenant, ownLlm({ providerKey: "elevenlabs" })),
    (error) => {
      assert.match(String(error), /: openai, groq, .*ollama/);
      return refusal("invalid_request", "providerKey")(error);
    },
  );
});

test("one error names every wrong field of a new provider", async () => {
  const platform = await sharedPlatform();
  const model = { modelId: "twin", label: "Twin" };
  await assert.rejects(
    platform.providers.create(
      await platform.tenantOn("pro"),
      ownLlm({
        credentials: {},
        models: [model, model],
        settings: { baseUrl: "file:///etc/passwd", sandbox: true },
      }),
    ),
    refusal(
      "invalid_request",
      "models.1.modelId",
      "settings.sandbox",
      "settings.baseUrl",
      "credentials.apiKey",
    ),
  );
});

test("an API key that does not fit into a header is refused, and the error does not repeat it", async () => {
  const platform = await sharedPlatform();
  const tenant = await platform.tenantOn("pro");
  for (const apiKey of [
    "sk-secret\n",
    "sk-secret\r\nx-evil: 1",
    "sk secret",
    "sk-sécret",
    "",
    12,
  ]) {
    await assert.rejects(
      platform.providers.create(tenant, ownLlm({ credentials: { apiKey } })),
      (error) => {
        assert.ok(error instanceof RequestError && !error.message.includes("secret"));
        return refusal("invalid_request", "credentials.apiKey")(error);
      },
    );
  }
});

test("a base URL has to be a web address without a user name", async () => {
  const platform = await sharedPlatform();
  const tenant = await platform.tenantOn("pro");
  for (const baseUrl of ["", "example.com", "ftp://example.com", "https://me:pw@example.com", 7]) {
    await assert.rejects(
      platform.providers.create(tenant, ownLlm({ settings: { baseUrl } })),
      refusal("invalid_request", "settings.baseUrl"),
    );
  }
});

test("settings that the registry knows must have their type; others are free", async () => {
  const platform = await sharedPlatform();
  const tenant = await platform.tenantOn("pro");
  const voice = (settings: JsonObject): ProviderInput => ({
    ...ownLlm({ category: "tts", providerKey: "elevenlabs", models: [] }),
    settings,
  });
  await assert.rejects(
    platform.providers.create(tenant, voice({ voiceId: "", stability: "high", style: true })),
    refusal("invalid_request", "settings.voiceId", "settings.stability", "settings.style"),
  );
  const settings = { voiceId: "v1", stability: 0.5, style: 0, department: { name: "Sales" } };
  const created = await platform.providers.create(
    tenant,
    voice({ ...settings, similarityBoost: null }),
  );
  assert.deepEqual(created.settings, settings);
});

test("a change affects only the fields that it names, and settings merge key by key", async () => {
  const platform = await sharedPlatform();
  const tenant = await platform.tenantOn("pro");
  const created = await platform.providers.create(
    tenant,
    ownLlm({ settings: { baseUrl: "https://llm.example.com", region: "eu", tier: 1 } }),
  );
  platform.clock.advance(1_000);
  const updated = await platform.providers.update(tenant, created.id, {
    name: "New name",
    active: false,
    credentials: undefined,
    settings: { region: "us", tier: null },
  });
  assert.deepEqual(updated, {
    ...created,
    name: "New name",
    active: false,
    settings: { baseUrl: "https://llm.example.com", region: "us" },
    updatedAtMs: created.updatedAtMs + 1_000,
  });
  assert.deepEqual(await platform.providers.get(tenant, created.id), updated);
});

test("new credentials replace the old ones as a whole", async () => {
  const platform = await sharedPlatform();
  const tenant = await platform.tenantOn("pro");
  const { id } = await platform.providers.create(
    tenant,
    ownLlm({ credentials: { apiKey: "sk-old", project: "p" } }),
  );
  const updated = await platform.providers.update(tenant, id, {
    credentials: { apiKey: "sk-new" },
  });
  assert.deepEqual(
    { ...platform.cipher.open(updated.sealedCredentials ?? "") },
    { apiKey: "sk-new" },
  );
});

test("a change has to follow the same rules as a new provider", async () => {
  const platform = await sharedPlatform();
  const tenant = await platform.tenantOn("pro");
  const { id } = await platform.providers.create(tenant, ownLlm());
  const model = { modelId: "twin", label: "Twin" };
  await assert.rejects(
    platform.providers.update(tenant, id, {
      credentials: {},
      models: [model, model],
      settings: { baseUrl: 1 },
    }),
    refusal("invalid_request", "models.1.modelId", "settings.baseUrl", "credentials.apiKey"),
  );
});

test("a provider that no agent uses is removed", async () => {
  const platform = await sharedPlatform();
  const tenant = await platform.tenantOn("pro");
  const { id } = await platform.providers.create(tenant, ownLlm());
  await platform.providers.remove(tenant, id);
  await assert.rejects(platform.providers.get(tenant, id), refusal("not_found"));
  await assert.rejects(platform.providers.remove(tenant, id), refusal("not_found"));
});

test("a provider that agents use is kept, and the refusal names them", async () => {
  const platform = await sharedPlatform();
  const tenant = await platform.tenantOn("pro");
  const { id } = await platform.providers.create(tenant, ownLlm());
  const reference = { llmProviderId: id, llmModelId: "house-model" };
  const agent = await platform.agents.create(tenant, await platform.agentInput(reference));
  await assert.rejects(platform.providers.remove(tenant, id), (error) => {
    assert.ok(error instanceof RequestError);
    assert.deepEqual(error.extra, { agents: [{ _id: agent.id, name: "Reception" }] });
    return refusal("provider_in_use")(error);
  });
  await platform.agents.remove(tenant, agent.id);
  await platform.providers.remove(tenant, id);
});
