import assert from "node:assert/strict";
import { type TestContext, test } from "node:test";
import { CredentialCipher } from "../../../../engine/security/credential-cipher.js";
import { AgentUnavailableError } from "../../../../engine/tenancy/agents/agent-for-call.js";
import { CredentialRotation } from "../../../../engine/tenancy/credential-rotation.js";
import { openPlatform, ownLlm, platformOfFile } from "../seeded-platform.js";

const AGENTS_KEPT_TOGETHER_MAX = 25;
const sharedPlatform = platformOfFile();

/** An agent with its organization's own LLM, after a first call. Reads of the database are counted from then on. */
async function calledAgent(context: TestContext) {
  const platform = await sharedPlatform();
  const tenant = await platform.tenantOn("enterprise");
  const own = await platform.providers.create(tenant, ownLlm());
  const input = await platform.agentInput({ llmProviderId: own.id, llmModelId: "house-model" });
  const agent = await platform.agents.create(tenant, input);
  await platform.agents.forCall(tenant, agent.id);
  const lists = context.mock.method(platform.database.agents, "list");
  const finds = context.mock.method(platform.database.providers, "findMany");
  const readCount = () => lists.mock.callCount() + finds.mock.callCount();
  return { platform, tenant, own, input, agent, readCount };
}

const isUnavailable = (error: unknown) => error instanceof AgentUnavailableError;

test("the next call of an agent reads neither the agent nor its providers", async (context) => {
  const { platform, tenant, agent, own, readCount } = await calledAgent(context);
  const forCall = await platform.agents.forCall(tenant, agent.id);
  assert.deepEqual([forCall.agent.id, forCall.llm.id], [agent.id, own.id]);
  assert.equal(readCount(), 0);
});

test("a call after a change of the agent gets the changed agent", async (context) => {
  const { platform, tenant, agent } = await calledAgent(context);
  const { persona } = agent;
  await platform.agents.update(tenant, agent.id, { persona: { ...persona, greeting: "Welcome." } });
  const forCall = await platform.agents.forCall(tenant, agent.id);
  assert.equal(forCall.agent.persona.greeting, "Welcome.");
});

test("an agent that is removed or switched off takes no further calls", async (context) => {
  const { platform, tenant, agent } = await calledAgent(context);
  await platform.agents.update(tenant, agent.id, { active: false });
  await assert.rejects(platform.agents.forCall(tenant, agent.id), isUnavailable);
  await platform.agents.update(tenant, agent.id, { active: true });
  assert.ok(await platform.agents.forCall(tenant, agent.id));
  await platform.agents.remove(tenant, agent.id);
  await assert.rejects(platform.agents.forCall(tenant, agent.id), isUnavailable);
});

test("a new agent serves the next call", async (context) => {
  const { platform, tenant, agent, input } = await calledAgent(context);
  await platform.agents.forCall(tenant, undefined);
  const next = await platform.agents.create(tenant, input);
  await platform.agents.update(tenant, agent.id, { active: false });
  assert.equal((await platform.agents.forCall(tenant, undefined)).agent.id, next.id);
});

test("a call after a change of a provider uses its new credentials, or fails if it was switched off", async (context) => {
  const { platform, tenant, agent, own } = await calledAgent(context);
  await platform.providers.update(tenant, own.id, { credentials: { apiKey: "sk-new" } });
  const { llm } = await platform.agents.forCall(tenant, agent.id);
  assert.deepEqual(platform.cipher.open(llm.sealedCredentials ?? ""), { apiKey: "sk-new" });
  await platform.providers.update(tenant, own.id, { active: false });
  await assert.rejects(platform.agents.forCall(tenant, agent.id), isUnavailable);
});

test("a call after a key rotation uses the re-encrypted secrets", async (context) => {
  const platform = await openPlatform(context);
  const { database, clock, newId } = platform;
  const tenant = await platform.tenantOn("enterprise");
  const own = await platform.providers.create(tenant, ownLlm());
  const model = { llmProviderId: own.id, llmModelId: "house-model" };
  const agent = await platform.agents.create(tenant, await platform.agentInput(model));
  await platform.agents.forCall(tenant, agent.id);
  const cipher = new CredentialCipher("a5".repeat(32), ["5a".repeat(32)]);
  const rotation = new CredentialRotation({ database, cipher, clock, newId });
  await rotation.reseal({ type: "administrator", id: "root" });
  const { llm } = await platform.agents.forCall(tenant, agent.id);
  assert.equal(cipher.keyPosition(llm.sealedCredentials ?? ""), 0);
});

test("the limits of the caller's current plan apply", async (context) => {
  const { platform, tenant, agent } = await calledAgent(context);
  const { limits } = tenant.plan;
  const smaller = { ...tenant, plan: { ...tenant.plan, limits: { ...limits, maxAgents: 0 } } };
  await assert.rejects(platform.agents.forCall(smaller, agent.id), isUnavailable);
  assert.ok(await platform.agents.forCall(tenant, agent.id));
  const statuses = [];
  for (const asker of [tenant, smaller, tenant]) {
    const [listed] = await platform.agents.list(asker);
    const read = await platform.agents.get(asker, agent.id);
    statuses.push([listed?.status, read.status]);
  }
  assert.deepEqual(statuses, [
    ["active", "active"],
    ["paused_plan", "paused_plan"],
    ["active", "active"],
  ]);
});

test("another organization's agent stays inaccessible", async (context) => {
  const { platform, agent } = await calledAgent(context);
  const stranger = await platform.tenantOn("enterprise");
  await assert.rejects(platform.agents.forCall(stranger, agent.id), isUnavailable);
});

test("the agents of an organization with many of them are not cached", async (context) => {
  const { platform, tenant, input, readCount } = await calledAgent(context);
  for (let count = 1; count < AGENTS_KEPT_TOGETHER_MAX; count += 1) {
    await platform.agents.create(tenant, input);
  }
  const readsOf = async () => {
    const before = readCount();
    await platform.agents.forCall(tenant, undefined);
    return readCount() - before;
  };
  assert.deepEqual([await readsOf(), await readsOf()], [2, 0]);
  const before = readCount();
  assert.equal((await platform.agents.list(tenant)).length, AGENTS_KEPT_TOGETHER_MAX);
  assert.equal(readCount(), before, "the list is cached by the call that names no agent");
  await platform.agents.create(tenant, input);
  assert.equal((await platform.agents.list(tenant)).length, AGENTS_KEPT_TOGETHER_MAX + 1);
  assert.deepEqual([await readsOf(), await readsOf()], [2, 2]);
});

test("a list is checked once per plan, and a missing agent is read again", async (context) => {
  const { platform, tenant, readCount } = await calledAgent(context);
  assert.equal(await platform.agents.list(tenant), await platform.agents.list(tenant));
  const before = readCount();
  for (let time = 0; time < 2; time += 1) {
    await assert.rejects(platform.agents.get(tenant, "unknown"));
  }
  assert.equal(readCount() - before, 4);
});
