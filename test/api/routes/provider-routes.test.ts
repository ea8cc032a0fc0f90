import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { VENDOR_CATALOG } from "../../../engine/tenancy/providers/vendor-catalog.js";
import { LoopbackPlatform, type Tenancy } from "../http/loopback-platform.js";
import { agentDraft, idIn, providerIds } from "./agent-drafts.js";

const PROVIDERS = "/api/dashboard/providers";
const DRAFT = {
  category: "llm",
  providerKey: "openai",
  name: "Our own",
  credentials: { apiKey: "sk-very-secret" },
  models: [{ modelId: "gpt-5.6-sol", label: "GPT-5.6 Sol" }],
  settings: {},
};
let platform: LoopbackPlatform;
let tenancy: Tenancy;

before(async () => {
  platform = await LoopbackPlatform.start();
  tenancy = await platform.newTenancy("enterprise");
});

after(() => platform.close());

test("a provider is created, read, changed and deleted, and its credentials are never shown", async () => {
  const { client } = platform;
  const { byToken } = tenancy;
  const created = await client.post(PROVIDERS, DRAFT, byToken);
  assert.equal(created.status, 201, created.text);
  const path = `${PROVIDERS}/${idIn(created.body)}`;
  const own = await client.get(`${PROVIDERS}?client=true`, byToken);
  assert.deepEqual(own.body, [created.body]);
  const all = await client.get(PROVIDERS, byToken);
  assert.equal(Object(all.body).length, (await providerIds(platform, tenancy)).size + 1);
  const shown = await client.get(path, byToken);
  assert.deepEqual(shown.body, created.body);
  const body = { name: "Renamed", active: false, credentials: { apiKey: "sk-other-secret" } };
  const changed = await client.send("PATCH", path, { headers: byToken, body });
  assert.equal(changed.status, 200, changed.text);
  assert.equal(Object(changed.body).name, "Renamed");
  for (const { text } of [created, own, all, shown, changed]) {
    assert.doesNotMatch(text, /secret|credential|[0-9a-f]{24}:[0-9a-f]{32}:/i);
  }
  const deleted = await client.send("DELETE", path, { headers: byToken });
  assert.deepEqual([deleted.status, deleted.body], [200, { success: true }]);
  assert.equal((await client.get(path, byToken)).status, 404);
});

test("settings and credentials are bounded as a whole, even when they are merged", async () => {
  const { client } = platform;
  const headers = tenancy.byKey;
  const long = { note: "x".repeat(40_000) };
  const tooLong = { one: long, two: long };
  for (const field of ["settings", "credentials"]) {
    const draft = { ...DRAFT, name: field, [field]: { apiKey: "sk-secret", ...tooLong } };
    const refused = await client.post(PROVIDERS, draft, headers);
    assert.equal(refused.status, 400, refused.text);
    assert.equal(Object(refused.body).details[0].path, field);
  }
  const made = await client.post(
    PROVIDERS,
    { ...DRAFT, name: "Long", settings: { one: long } },
    headers,
  );
  assert.equal(made.status, 201, made.text);
  const path = `${PROVIDERS}/${idIn(made.body)}`;
  const grown = await client.send("PATCH", path, { headers, body: { settings: { two: long } } });
  assert.equal(grown.status, 400, grown.text);
  await client.send("DELETE", path, { headers });
});

test("a setting that the vendor's client would refuse is refused and named, on creation and on change", async () => {
  const { client } = platform;
  const headers = tenancy.byKey;
  const recognizer = {
    ...DRAFT,
    category: "stt",
    providerKey: "deepgram",
    name: "Recognizer",
    settings: { utteranceEndMs: 2_000 },
  };
  const wrong = { utteranceEndMs: 900.5, baseUrl: "https://recognizer.example.com" };
  const details = [
    { path: "settings.utteranceEndMs", message: "expected a whole number from 1000 to 5000" },
    {
      path: "settings.baseUrl",
      message: "expected an address that begins with ws:// or wss://, without user name",
    },
  ];
  const refused = await client.post(PROVIDERS, { ...recognizer, settings: wrong }, headers);
  assert.deepEqual([refused.status, Object(refused.body).details], [400, details]);
  const path = `${PROVIDERS}/${idIn((await client.post(PROVIDERS, recognizer, headers)).body)}`;
  const body = { settings: wrong };
  const unchanged = await client.send("PATCH", path, { headers, body });
  assert.deepEqual([unchanged.status, Object(unchanged.body).details], [400, details]);
  assert.deepEqual(Object((await client.get(path, headers)).body).settings, recognizer.settings);
});

test("a provider is shown with what calls have learnt: its failures, the last fault, and its circuit breaker", async () => {
  const { client, services, clock } = platform;
  const made = await client.post(PROVIDERS, { ...DRAFT, name: "Failing" }, tenancy.byKey);
  const id = idIn(made.body);
  const told = async () => {
    const { body } = await client.get(`${PROVIDERS}/${id}`, tenancy.byKey);
    const { breaker, recentFailures, lastFault } = Object(body);
    return { breaker, recentFailures, lastFault };
  };
  const sound = { breaker: "closed", recentFailures: 0, lastFault: null };
  assert.deepEqual(await told(), sound);
  const version = Date.parse(String(Object(made.body).updatedAt));
  const credential = { id, version, category: "llm", vendor: "openai" } as const;
  const breaker = services.breakers.of(credential);
  breaker.failed({ fault: "refused", retryAfterMs: undefined });
  assert.deepEqual(
    await told(),
    sound,
    "an error that one request has caused does not count against the vendor",
  );
  breaker.failed({ fault: "timeout", retryAfterMs: undefined });
  const at = new Date(clock.epochMs()).toISOString();
  const failing = { breaker: "closed", recentFailures: 1, lastFault: { fault: "timeout", at } };
  assert.deepEqual(await told(), failing);
  clock.advance(1_000);
  breaker.failed({ fault: "unauthorized", retryAfterMs: undefined });
  const { breaker: phase, lastFault } = await told();
  const later = new Date(clock.epochMs()).toISOString();
  assert.deepEqual([phase, lastFault], ["open", { fault: "unauthorized", at: later }]);
  const body = { credentials: { apiKey: "sk-another" } };
  const changed = await client.send("PATCH", `${PROVIDERS}/${id}`, {
    headers: tenancy.byKey,
    body,
  });
  assert.equal(changed.status, 200, changed.text);
  assert.deepEqual(await told(), sound, "there are no failures with the new key");
});

test("with the sandbox, the platform's providers are marked as simulated, and an organization's own never are", async () => {
  for (const usesSandbox of [true, false]) {
    const server = await LoopbackPlatform.start({ usesSandbox });
    const { byKey } = await server.newTenancy("enterprise");
    await server.client.post(PROVIDERS, DRAFT, byKey);
    const [marked, unmarked] = await server.database.providers.listVisible("");
    assert.ok(marked !== undefined && unmarked !== undefined);
    await server.database.providers.update(unmarked.id, null, { settings: {} }, 1);
    const { body } = await server.client.get(PROVIDERS, byKey);
    const all: { _id: string; orgId: string | null; simulated: boolean }[] = Object(body);
    const simulated = (id: string) => all.find(({ _id }) => _id === id)?.simulated;
    assert.deepEqual([simulated(marked.id), simulated(unmarked.id)], [true, usesSandbox]);
    assert.equal(all.find(({ orgId }) => orgId !== null)?.simulated, false);
    await server.close();
  }
});

test("a name can be used once, even by two requests at once", async () => {
  const twin = { ...DRAFT, name: "Twin" };
  const answers = await Promise.all([
    platform.client.post(PROVIDERS, twin, tenancy.byKey),
    platform.client.post(PROVIDERS, twin, tenancy.byKey),
  ]);
  assert.deepEqual(
    answers.map(({ status }) => status).sort((a, b) => a - b),
    [201, 409],
  );
});

test("a provider in use cannot be deleted, and the agents that use it are listed", async () => {
  const { client } = platform;
  const { byKey } = tenancy;
  const created = await client.post(PROVIDERS, { ...DRAFT, name: "Used" }, byKey);
  const id = idIn(created.body);
  const draft = {
    ...(await agentDraft(platform, tenancy)),
    llmProviderId: id,
    llmModelId: "gpt-5.6-sol",
  };
  const agent = await client.post("/api/dashboard/agents", draft, byKey);
  assert.equal(agent.status, 201, agent.text);
  const refused = await client.send("DELETE", `${PROVIDERS}/${id}`, { headers: byKey });
  assert.equal(refused.status, 409);
  assert.deepEqual(Object(refused.body).agents, [{ _id: idIn(agent.body), name: draft.name }]);
});

test("the platform's providers cannot be changed or deleted", async () => {
  const { llmProviderId } = await agentDraft(platform, tenancy);
  const path = `${PROVIDERS}/${llmProviderId}`;
  const headers = tenancy.byKey;
  const changed = await platform.client.send("PATCH", path, { headers, body: { active: false } });
  const deleted = await platform.client.send("DELETE", path, { headers });
  assert.deepEqual([changed.status, deleted.status], [403, 403]);
});

test("a plan without own providers refuses them", async () => {
  const free = await platform.newTenancy("free");
  assert.equal((await platform.client.post(PROVIDERS, DRAFT, free.byKey)).status, 403);
});

test("every field of a provider is checked and named", async () => {
  const wrong: readonly (readonly [string, object])[] = [
    ["category", { category: "vision" }],
    ["providerKey", { providerKey: "" }],
    ["name", { name: null }],
    ["credentials", { credentials: "sk" }],
    ["credentials", { credentials: ["sk"] }],
    ["models", { models: {} }],
    ["models.0.label", { models: [{ modelId: "a" }] }],
    ["models.1", { models: [{ modelId: "a", label: "A" }, 3] }],
    ["settings", { settings: 1 }],
  ];
  for (const [path, fault] of wrong) {
    const answer = await platform.client.post(PROVIDERS, { ...DRAFT, ...fault }, tenancy.byKey);
    assert.equal(answer.status, 400, path);
    assert.ok(answer.text.startsWith(`{"error":"${path}: expected `), answer.text);
  }
});

test("the registry lists the vendors", async () => {
  const answer = await platform.client.get(`${PROVIDERS}/registry`, tenancy.byKey);
  assert.equal(answer.status, 200);
  assert.ok(Array.isArray(answer.body));
  assert.deepEqual(
    answer.body.map(({ category, providerKey }) => `${category} ${providerKey}`),
    VENDOR_CATALOG.map(({ category, providerKey }) => `${category} ${providerKey}`),
  );
});

test("a provider is shown with corrections learned about its models, and with models that its vendor retires", async () => {
  const { client, services, clock } = platform;
  const models = [
    { modelId: "gpt-6-luna", label: "Luna" },
    { modelId: "gpt-4o-2024-08-06", label: "Old" },
    { modelId: "gpt-5-mini", label: "Older" },
  ];
  const body = { ...DRAFT, name: "Learning", models };
  const made = await client.post(PROVIDERS, body, tenancy.byKey);
  const id = idIn(made.body);
  const version = Date.parse(String(Object(made.body).updatedAt));
  const atMs = clock.epochMs();
  const of = (modelId: string) => ({ modelId, atMs });
  services.learned.add({ id, version }, { ...of("gpt-6-luna"), parameter: "temperature" });
  services.learned.add(
    { id, version },
    { ...of("gpt-5-mini"), parameter: "max_tokens", sentAs: "max_completion_tokens" },
  );
  const shown = Object((await client.get(`${PROVIDERS}/${id}`, tenancy.byKey)).body);
  const at = new Date(atMs).toISOString();
  const common = { value: null, sentAs: null, onlyWithTools: false, at };
  assert.deepEqual(shown.parameterCorrections, [
    { modelId: "gpt-6-luna", parameter: "temperature", ...common },
    {
      ...common,
      modelId: "gpt-5-mini",
      parameter: "max_tokens",
      sentAs: "max_completion_tokens",
    },
  ]);
  const stages = shown.modelNotices
    .map(Object)
    .map(({ modelId, stage, successor }: never) => [modelId, stage, successor]);
  assert.deepEqual(stages, [
    ["gpt-4o-2024-08-06", "retired", "gpt-6-luna"],
    ["gpt-5-mini", "retired", "gpt-6-luna"],
  ]);
  const settings = { baseUrl: "https://gateway.example.com/v1" };
  const headers = tenancy.byKey;
  const patch = { settings, credentials: { apiKey: "sk-other" } };
  const moved = await client.send("PATCH", `${PROVIDERS}/${id}`, { headers, body: patch });
  const { modelNotices, parameterCorrections } = Object(moved.body);
  assert.deepEqual(
    [modelNotices, parameterCorrections],
    [[], []],
    "another address resets what was learned",
  );
});
