import assert from "node:assert/strict";
import { test } from "node:test";
import { AgentUnavailableError } from "../../../../engine/tenancy/agents/agent-for-call.js";
import { ownLlm, platformOfFile } from "../seeded-platform.js";

const sharedPlatform = platformOfFile();

function unavailable(
  status: AgentUnavailableError["status"],
  reason: RegExp,
): (error: unknown) => true {
  return (error) => {
    assert.ok(error instanceof AgentUnavailableError, String(error));
    assert.equal(error.status, status);
    assert.match(error.message, reason);
    return true;
  };
}

test("a call gets its agent with the three providers and the STT model", async () => {
  const platform = await sharedPlatform();
  const tenant = await platform.tenantOn("free");
  const { id } = await platform.agents.create(tenant, await platform.agentInput());
  const found = await platform.agents.forCall(tenant, id);
  assert.equal(found.agent.id, id);
  assert.deepEqual(
    [found.llm.providerKey, found.tts.providerKey, found.stt.providerKey, found.sttModelId],
    ["ollama", "edge", "deepgram", "nova-3"],
  );
});

test("a call that names no agent gets the first active agent in creation order", async () => {
  const platform = await sharedPlatform();
  const tenant = await platform.tenantOn("starter");
  const created = [];
  for (const name of ["First", "Second", "Third"]) {
    created.push(await platform.agents.create(tenant, await platform.agentInput({ name })));
  }
  await platform.agents.update(tenant, created[0]?.id ?? "", { active: false });
  assert.equal((await platform.agents.forCall(tenant, undefined)).agent.name, "Second");
});

test("a call that names no agent fails if no agent is active", async () => {
  const platform = await sharedPlatform();
  const tenant = await platform.tenantOn("free");
  const none = unavailable("notFound", /no active agent/);
  await assert.rejects(platform.agents.forCall(tenant, undefined), none);
  const { id } = await platform.agents.create(tenant, await platform.agentInput());
  await platform.agents.update(tenant, id, { active: false });
  await assert.rejects(platform.agents.forCall(tenant, undefined), none);
});

test("an unknown agent and another organization's agent are not found", async () => {
  const platform = await sharedPlatform();
  const tenant = await platform.tenantOn("free");
  const { id } = await platform.agents.create(tenant, await platform.agentInput());
  const stranger = await platform.tenantOn("free");
  await assert.rejects(
    platform.agents.forCall(tenant, "unknown"),
    unavailable("notFound", /no such/),
  );
  await assert.rejects(platform.agents.forCall(stranger, id), unavailable("notFound", /no such/));
});

test("an inactive agent takes no call", async () => {
  const platform = await sharedPlatform();
  const tenant = await platform.tenantOn("free");
  const { id } = await platform.agents.create(tenant, await platform.agentInput());
  await platform.agents.update(tenant, id, { active: false });
  await assert.rejects(
    platform.agents.forCall(tenant, id),
    unavailable("inactive", /switched off/),
  );
});

test("an agent is paused while its provider is inactive, names it, and resumes when it is active again", async () => {
  const platform = await sharedPlatform();
  const tenant = await platform.tenantOn("starter");
  const own = await platform.providers.create(tenant, ownLlm());
  const reference = { llmProviderId: own.id, llmModelId: "house-model" };
  const { id } = await platform.agents.create(tenant, await platform.agentInput(reference));

  await platform.providers.update(tenant, own.id, { active: false });
  const paused = await platform.agents.get(tenant, id);
  assert.equal(paused.status, "paused_provider");
  assert.match(paused.pauseReason ?? "", /"Our models" is not active/);
  await assert.rejects(
    platform.agents.forCall(tenant, id),
    unavailable("paused_provider", /"Our models"/),
  );
  await assert.rejects(
    platform.agents.forCall(tenant, undefined),
    unavailable("notFound", /no active agent/),
  );

  await platform.providers.update(tenant, own.id, { active: true });
  assert.equal((await platform.agents.get(tenant, id)).status, "active");
});

test("after a change to a smaller plan, agents pause if their model or their place in creation order is outside it", async () => {
  const platform = await sharedPlatform();
  const tenant = await platform.tenantOn("pro");
  const costly = await platform.agentInput({
    llmProviderId: await platform.globalId("llm", "openai"),
    llmModelId: "gpt-6-sol",
  });
  await platform.agents.create(tenant, costly);
  await platform.agents.create(tenant, await platform.agentInput());
  await platform.organizations.changePlan(tenant.organization.ownerEmail, "free");
  const poorer = await platform.refreshed(tenant);

  const listed = await platform.agents.list(poorer);
  assert.deepEqual(
    listed.map(({ status, pauseReason }) => [status, pauseReason]),
    [
      ["paused_plan", 'the model openai/gpt-6-sol is not in the plan "free"'],
      ["paused_plan", 'the plan "free" allows 1 agent'],
    ],
  );
  for (const { id, status, pauseReason } of listed) {
    const alone = await platform.agents.get(poorer, id);
    assert.deepEqual([alone.status, alone.pauseReason], [status, pauseReason]);
    await assert.rejects(platform.agents.forCall(poorer, id), unavailable("paused_plan", /"free"/));
  }
});
