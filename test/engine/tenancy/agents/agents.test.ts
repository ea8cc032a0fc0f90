import assert from "node:assert/strict";
import { test } from "node:test";
import { ownLlm, platformOfFile, refusal } from "../seeded-platform.js";

const sharedPlatform = platformOfFile();

test("fields that a new agent leaves out get the contract's defaults", async () => {
  const platform = await sharedPlatform();
  const tenant = await platform.tenantOn("free");
  const input = await platform.agentInput();
  const agent = await platform.agents.create(tenant, input);
  const { persona, ...rest } = agent;
  assert.deepEqual(rest, {
    ...input,
    id: agent.id,
    orgId: tenant.organization.id,
    llmConfig: { temperature: 0.4, maxTokens: 200 },
    ttsConfig: { speed: 1, voice: null, languageVoices: [] },
    sttModelId: null,
    fallbacks: { llm: [], tts: [], stt: [], hedging: false },
    thresholds: {
      silenceTimeoutMs: 700,
      maxCallDurationSec: 1800,
      interruptionSensitivity: "medium",
      backchannels: "ignore",
      backchannelPhrases: [],
      interruptionPhrases: [],
      preemptiveGeneration: false,
      onProviderFailure: "end",
      onUnrecognizedSpeech: null,
      endpointingMs: 200,
      maxEndpointingDelayMs: 1_500,
      dtmfDigits: 0,
      fillerAfterMs: 1_500,
      idleTimeoutMs: null,
    },
    tools: [],
    sealedToolHeaders: null,
    recording: { enabled: false, retentionDays: 30 },
    allowedOrigins: [],
    analysis: null,
    preCall: null,
    sealedPreCall: null,
    mcpServers: [],
    sealedMcpSecrets: null,
    knowledge: { documentIds: [] },
    active: true,
    createdAtMs: platform.clock.epochMs(),
    updatedAtMs: platform.clock.epochMs(),
    status: "active",
    pauseReason: null,
    modelNotices: [],
  });
  assert.equal(persona.greeting, "Hello! How can I help you today?");
  assert.equal(persona.personality, "friendly and professional");
  assert.equal(persona.language, "en-US");
  assert.match(persona.systemPrompt, /^You are a helpful assistant/);
  assert.match(persona.guardrails, /1-3 .*sentences/);
});

test("the given fields of a new agent are stored; the others get defaults", async () => {
  const platform = await sharedPlatform();
  const agent = await platform.agents.create(
    await platform.tenantOn("free"),
    await platform.agentInput({
      persona: { greeting: "", language: "de-DE", personality: undefined },
      llmConfig: { temperature: 0 },
      thresholds: { endpointingMs: 300 },
    }),
  );
  assert.equal(agent.persona.greeting, "");
  assert.equal(agent.persona.language, "de-DE");
  assert.equal(agent.persona.personality, "friendly and professional");
  assert.deepEqual(agent.llmConfig, { temperature: 0, maxTokens: 200 });
  assert.equal(agent.thresholds.endpointingMs, 300);
  assert.equal(agent.thresholds.silenceTimeoutMs, 700);
});

test("a created agent is returned unchanged by get and list", async () => {
  const platform = await sharedPlatform();
  const tenant = await platform.tenantOn("starter");
  const first = await platform.agents.create(tenant, await platform.agentInput());
  platform.clock.advance(1);
  const second = await platform.agents.create(tenant, await platform.agentInput({ name: "Sales" }));
  assert.deepEqual(await platform.agents.get(tenant, first.id), first);
  assert.deepEqual(await platform.agents.list(tenant), [first, second]);
});

test("one error names every wrong reference of a new agent", async () => {
  const platform = await sharedPlatform();
  const tenant = await platform.tenantOn("free");
  const deepgramId = await platform.globalId("stt", "deepgram");
  const input = await platform.agentInput({
    llmProviderId: "unknown",
    ttsModelId: "en-US-Nobody",
  });
  await assert.rejects(
    platform.agents.create(tenant, input),
    refusal("invalid_request", "llmProviderId", "ttsModelId"),
  );
  await assert.rejects(
    platform.agents.create(tenant, { ...input, llmProviderId: deepgramId }),
    refusal("invalid_request", "llmProviderId", "ttsModelId"),
  );
});

test("a provider of another organization is reported like one that does not exist", async () => {
  const platform = await sharedPlatform();
  const { id } = await platform.providers.create(await platform.tenantOn("pro"), ownLlm());
  const reference = { llmProviderId: id, llmModelId: "house-model" };
  await assert.rejects(
    platform.agents.create(await platform.tenantOn("pro"), await platform.agentInput(reference)),
    (error) => {
      assert.match(String(error), /llmProviderId: there is no provider with this id/);
      return refusal("invalid_request", "llmProviderId")(error);
    },
  );
});

test("models outside the plan are refused, and the error names them", async () => {
  const platform = await sharedPlatform();
  const input = await platform.agentInput({
    llmProviderId: await platform.globalId("llm", "openai"),
    llmModelId: "gpt-6-sol",
    ttsProviderId: await platform.globalId("tts", "elevenlabs"),
    ttsModelId: "eleven_flash_v2_5",
  });
  await assert.rejects(
    platform.agents.create(await platform.tenantOn("starter"), input),
    refusal("model_not_allowed", "llmModelId"),
  );
  await assert.rejects(
    platform.agents.create(await platform.tenantOn("free"), input),
    refusal("model_not_allowed", "llmModelId", "ttsModelId"),
  );
  assert.ok(await platform.agents.create(await platform.tenantOn("pro"), input));
});

test("an organization's own provider is not subject to the plan's models", async () => {
  const platform = await sharedPlatform();
  const tenant = await platform.tenantOn("starter");
  const { id } = await platform.providers.create(tenant, ownLlm());
  const agent = await platform.agents.create(
    tenant,
    await platform.agentInput({ llmProviderId: id, llmModelId: "house-model" }),
  );
  assert.equal(agent.status, "active");
});

test("an agent beyond the plan's limit is refused", async () => {
  const platform = await sharedPlatform();
  const tenant = await platform.tenantOn("free");
  const input = await platform.agentInput();
  const { id } = await platform.agents.create(tenant, input);
  await assert.rejects(platform.agents.create(tenant, input), refusal("plan_limit_reached"));
  await platform.agents.remove(tenant, id);
  assert.ok(await platform.agents.create(tenant, input));
});

test("concurrent requests create no more agents than the plan allows", async () => {
  const platform = await sharedPlatform();
  const tenant = await platform.tenantOn("starter");
  const input = await platform.agentInput();
  for (let count = 0; count < 4; count++) await platform.agents.create(tenant, input);
  const outcomes = await Promise.allSettled([
    platform.agents.create(tenant, input),
    platform.agents.create(tenant, input),
  ]);
  const refused = outcomes.filter((outcome) => outcome.status === "rejected");
  assert.equal(refused.length, 1);
  refusal("plan_limit_reached")(refused[0]?.reason);
  assert.equal((await platform.agents.list(tenant)).length, 5);
});

test("a change merges field by field, also inside nested objects", async () => {
  const platform = await sharedPlatform();
  const tenant = await platform.tenantOn("free");
  const created = await platform.agents.create(tenant, await platform.agentInput());
  platform.clock.advance(1_000);
  const updated = await platform.agents.update(tenant, created.id, {
    name: "Night desk",
    persona: { greeting: "Good evening!" },
    llmConfig: { maxTokens: 90 },
    ttsConfig: { speed: undefined },
    thresholds: { interruptionSensitivity: "high" },
  });
  assert.deepEqual(updated, {
    ...created,
    name: "Night desk",
    persona: { ...created.persona, greeting: "Good evening!" },
    llmConfig: { temperature: 0.4, maxTokens: 90 },
    thresholds: { ...created.thresholds, interruptionSensitivity: "high" },
    updatedAtMs: created.updatedAtMs + 1_000,
  });
  assert.deepEqual(await platform.agents.get(tenant, created.id), updated);
});

test("a change checks providers and models again", async () => {
  const platform = await sharedPlatform();
  const tenant = await platform.tenantOn("free");
  const { id } = await platform.agents.create(tenant, await platform.agentInput());
  const openAiId = await platform.globalId("llm", "openai");
  const { agents } = platform;
  await assert.rejects(
    agents.update(tenant, id, { llmProviderId: openAiId }),
    refusal("invalid_request", "llmModelId"),
  );
  await assert.rejects(
    agents.update(tenant, id, { llmProviderId: openAiId, llmModelId: "gpt-6-sol" }),
    refusal("model_not_allowed", "llmModelId"),
  );
  const changed = await agents.update(tenant, id, {
    llmProviderId: openAiId,
    llmModelId: "gpt-6-luna",
  });
  assert.equal(changed.llmModelId, "gpt-6-luna");
});

test("an agent outside a smaller plan can be switched off, but can be neither changed while active nor activated", async () => {
  const platform = await sharedPlatform();
  const tenant = await platform.tenantOn("pro");
  const agent = await platform.agents.create(
    tenant,
    await platform.agentInput({
      llmProviderId: await platform.globalId("llm", "openai"),
      llmModelId: "gpt-6-sol",
    }),
  );
  await platform.organizations.changePlan(tenant.organization.ownerEmail, "free");
  const poorer = await platform.refreshed(tenant);
  const change = (patch: object) => platform.agents.update(poorer, agent.id, patch);
  await assert.rejects(change({ name: "Other" }), refusal("model_not_allowed", "llmModelId"));
  assert.equal((await change({ active: false })).status, "inactive");
  assert.equal((await change({ name: "Other" })).name, "Other");
  const { persona } = await change({ persona: { language: "de-DE" } });
  assert.equal(persona.language, "de-DE");
  for (const category of ["llm", "tts", "stt"]) {
    for (const field of [`${category}ProviderId`, `${category}ModelId`]) {
      await assert.rejects(change({ [field]: "unknown" }), { code: "invalid_request" });
    }
  }
  await assert.rejects(change({ active: true }), refusal("model_not_allowed", "llmModelId"));
});

test("a provider that is removed between the check and the write is named, and nothing is stored", async (t) => {
  const platform = await sharedPlatform();
  const tenant = await platform.tenantOn("pro");
  const { id } = await platform.providers.create(tenant, ownLlm());
  const input = await platform.agentInput({ llmProviderId: id, llmModelId: "house-model" });
  const { agents } = platform.database;
  const insert = agents.insert.bind(agents);
  t.mock.method(agents, "insert", async (...given: Parameters<typeof insert>) => {
    await platform.providers.remove(tenant, id);
    return insert(...given);
  });
  await assert.rejects(
    platform.agents.create(tenant, input),
    refusal("invalid_request", "llmProviderId"),
  );
  assert.deepEqual(await platform.agents.list(tenant), []);
});

test("another organization's agent can be neither read, changed nor removed", async () => {
  const platform = await sharedPlatform();
  const tenant = await platform.tenantOn("free");
  const stranger = await platform.tenantOn("free");
  const { id } = await platform.agents.create(tenant, await platform.agentInput());
  const { agents } = platform;
  assert.deepEqual(await agents.list(stranger), []);
  await assert.rejects(agents.get(stranger, id), refusal("not_found"));
  await assert.rejects(agents.update(stranger, id, { name: "Mine" }), refusal("not_found"));
  await assert.rejects(agents.remove(stranger, id), refusal("not_found"));
  assert.equal((await agents.get(tenant, id)).name, "Reception");
});

test("changing or removing an agent that another request removes meanwhile fails with not_found", async (context) => {
  const platform = await sharedPlatform();
  const tenant = await platform.tenantOn("free");
  const agent = await platform.agents.create(tenant, await platform.agentInput());
  const { agents } = platform.database;
  context.mock.method(agents, "update", () => Promise.resolve(undefined));
  context.mock.method(agents, "remove", () => Promise.resolve(false));
  const renamed = platform.agents.update(tenant, agent.id, { name: "Mine" });
  await assert.rejects(renamed, refusal("not_found"));
  await assert.rejects(platform.agents.remove(tenant, agent.id), refusal("not_found"));
});

test("if there are more agents than the plan allows, the first ones stay active, whichever is read", async () => {
  const platform = await sharedPlatform();
  const tenant = await platform.tenantOn("pro");
  const input = await platform.agentInput();
  const ids: string[] = [];
  for (const name of ["one", "two"]) {
    ids.push((await platform.agents.create(tenant, { ...input, name })).id);
  }
  const limits = { ...tenant.plan.limits, maxAgents: 1 };
  const reduced = { ...tenant, plan: { ...tenant.plan, limits } };
  const statuses = ids.map(async (id) => (await platform.agents.get(reduced, id)).status);
  assert.deepEqual(await Promise.all(statuses), ["active", "paused_plan"]);
  const renamed = ids.map(async (id) => platform.agents.update(reduced, id, { name: id }));
  assert.deepEqual(
    (await Promise.all(renamed)).map(({ status }) => status),
    ["active", "paused_plan"],
  );
});
