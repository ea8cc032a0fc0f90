import assert from "node:assert/strict";
import { mkdtemp, rm, stat } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import { newApiKey } from "../../../../engine/security/api-key.js";
import { SETUP_KEY_NAME } from "../../../../engine/tenancy/organizations.js";
import { type Demo, readDemo, writeDemo } from "../../../../engine/tenancy/seeding/demo-file.js";
import { ensureDemo } from "../../../../engine/tenancy/seeding/demo-organization.js";
import { SilentLogger } from "../../../doubles/silent-logger.js";
import { userRecord } from "../../../storage/sample-records.js";
import { openPlatform, type SeededPlatform } from "../seeded-platform.js";

async function dataFolder(context: TestContext): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), "parley-demo-"));
  context.after(() => rm(folder, { recursive: true, force: true }));
  return folder;
}

function demoOn(platform: SeededPlatform, dataDir: string): Promise<Demo | undefined> {
  const { database, organizations, agents, apiKeys, modelSearch, clock } = platform;
  const log = new SilentLogger();
  const services = { organizations, agents, apiKeys, modelSearch };
  return ensureDemo({ database, ...services, dataDir, clock, log });
}

test("an empty platform gets a demo organization whose key can call its agent immediately", async (t) => {
  const platform = await openPlatform(t);
  const dataDir = await dataFolder(t);
  const demo = await demoOn(platform, dataDir);
  assert.ok(demo);
  const tenant = await platform.apiKeys.authenticate(demo.apiKey);
  assert.equal(tenant?.organization.status, "active");
  const { agent } = await platform.agents.forCall(tenant, undefined);
  assert.equal(agent.id, demo.agentId);
  const { email, password } = demo;
  assert.ok(await platform.accounts.signIn({ email, password }));
});

test("only the owner can read the demo file, and the next start finds it", async (t) => {
  const platform = await openPlatform(t);
  const dataDir = await dataFolder(t);
  const demo = await demoOn(platform, dataDir);
  assert.equal((await stat(join(dataDir, "demo.json"))).mode & 0o777, 0o600);
  assert.deepEqual(await demoOn(platform, dataDir), demo);
  assert.deepEqual(await readDemo(dataDir), demo);
  assert.equal((await platform.organizations.list()).length, 1);
});

test("a platform with an organization gets no demo organization", async (t) => {
  const platform = await openPlatform(t);
  await platform.tenantOn("free");
  assert.equal(await demoOn(platform, await dataFolder(t)), undefined);
});

test("without an STT vendor there is a demo organization without an agent", async (t) => {
  const platform = await openPlatform(t, { vendorKeys: {}, sandbox: false });
  const demo = await demoOn(platform, await dataFolder(t));
  assert.ok(demo);
  assert.equal(demo.agentId, undefined);
});

const DEEPGRAM = { deepgram: "dg-real" };

/** Returns the vendors that a call with the demo agent would use. */
async function vendorsOf(platform: SeededPlatform, demo: Demo | undefined) {
  const tenant = await platform.apiKeys.authenticate(demo?.apiKey ?? "");
  assert.ok(tenant);
  const { agent, llm, tts, stt } = await platform.agents.forCall(tenant, undefined);
  assert.equal(agent.id, demo?.agentId);
  return [llm.providerKey, agent.llmModelId, tts.providerKey, agent.ttsModelId, stt.providerKey];
}

test("the demo agent prefers vendors with a key", async (t) => {
  const vendorKeys = { ...DEEPGRAM, openai: "sk-real" };
  const platform = await openPlatform(t, { vendorKeys, sandbox: false });
  const demo = await demoOn(platform, await dataFolder(t));
  assert.deepEqual(await vendorsOf(platform, demo), [
    "openai",
    "gpt-6-luna",
    // The clock is later than the end of OpenAI's TTS models.
    "deepgram",
    "aura-2-thalia-en",
    "deepgram",
  ]);
});

test("a sandbox agent changes to real vendors when their keys are added", async (t) => {
  const platform = await openPlatform(t);
  const dataDir = await dataFolder(t);
  await demoOn(platform, dataDir);
  const vendorKeys = { ...DEEPGRAM, groq: "gsk-real", elevenlabs: "el-real" };
  await platform.seed({ vendorKeys, sandbox: false });
  platform.clock.advance(1_000);
  const demo = await demoOn(platform, dataDir);
  const moved = ["groq", "openai/gpt-oss-20b", "elevenlabs", "eleven_flash_v2_5", "deepgram"];
  assert.deepEqual(await vendorsOf(platform, demo), moved);
  await platform.seed({ vendorKeys: {}, sandbox: true });
  assert.deepEqual(await vendorsOf(platform, await demoOn(platform, dataDir)), moved);
});

test("an unchanged agent changes from vendors without a key to one with a key", async (t) => {
  const platform = await openPlatform(t, { vendorKeys: DEEPGRAM, sandbox: false });
  const dataDir = await dataFolder(t);
  const first = await demoOn(platform, dataDir);
  assert.deepEqual((await vendorsOf(platform, first))[0], "ollama");
  const vendorKeys = { ...DEEPGRAM, openai: "sk-real" };
  await platform.seed({ vendorKeys, sandbox: false });
  const demo = await demoOn(platform, dataDir);
  // With Deepgram's key, the agent had a Deepgram voice already.
  assert.deepEqual((await vendorsOf(platform, demo)).slice(0, 3), [
    "openai",
    "gpt-6-luna",
    "deepgram",
  ]);
});

test("an agent that a user changed keeps its vendors, and a deleted one is not created again", async (t) => {
  const platform = await openPlatform(t, { vendorKeys: DEEPGRAM, sandbox: false });
  const dataDir = await dataFolder(t);
  const demo = await demoOn(platform, dataDir);
  const tenant = await platform.apiKeys.authenticate(demo?.apiKey ?? "");
  assert.ok(tenant && demo?.agentId);
  platform.clock.advance(1_000);
  await platform.agents.update(tenant, demo.agentId, { name: "Mine" });
  await platform.seed({ vendorKeys: { ...DEEPGRAM, openai: "sk-real" }, sandbox: false });
  assert.equal((await vendorsOf(platform, await demoOn(platform, dataDir)))[0], "ollama");
  await platform.agents.remove(tenant, demo.agentId);
  await demoOn(platform, dataDir);
  assert.deepEqual(await platform.agents.list(tenant), []);
});

test("a demo organization without an agent gets one as soon as all vendors are configured", async (t) => {
  const platform = await openPlatform(t, { vendorKeys: {}, sandbox: false });
  const dataDir = await dataFolder(t);
  await demoOn(platform, dataDir);
  await platform.seed({ vendorKeys: DEEPGRAM, sandbox: false });
  const demo = await demoOn(platform, dataDir);
  assert.deepEqual((await vendorsOf(platform, demo))[4], "deepgram");
  assert.deepEqual(await readDemo(dataDir), demo);
});

test("a start that crashed before it recorded the key or the agent is resumed", async (t) => {
  const platform = await openPlatform(t);
  const dataDir = await dataFolder(t);
  const { organization } = await platform.tenantOn("pro");
  const { rawKey: apiKey } = newApiKey();
  const written = { email: "demo@localhost", password: "as written", apiKey };
  await writeDemo(dataDir, written);
  assert.deepEqual(await demoOn(platform, dataDir), written, "the organization does not exist yet");
  await platform.database.organizations.insertWithOwner(
    { ...organization, id: "demo", ownerEmail: "demo@localhost" },
    userRecord({ id: "demo user", orgId: "demo", email: "demo@localhost" }),
  );
  const demo = await demoOn(platform, dataDir);
  const tenant = await platform.apiKeys.authenticate(apiKey);
  assert.ok(demo && tenant);
  assert.equal(tenant.organization.id, "demo");
  assert.deepEqual(
    (await platform.apiKeys.list("demo")).map(({ name }) => name),
    [SETUP_KEY_NAME],
  );
  const { agentId, ...owner } = demo;
  assert.deepEqual([owner, typeof agentId], [written, "string"]);
  await writeDemo(dataDir, owner);
  assert.deepEqual(await demoOn(platform, dataDir), demo, "the agent is found by its name");
  assert.deepEqual(await readDemo(dataDir), demo);
  assert.equal((await platform.agents.list(tenant)).length, 1);
  await platform.agents.update(tenant, agentId ?? "", { name: "Mine" });
  await writeDemo(dataDir, owner);
  assert.deepEqual(await demoOn(platform, dataDir), owner, "a renamed agent is not adopted");
});

test("a demo organization whose key was revoked gets no new key", async (t) => {
  const platform = await openPlatform(t);
  const dataDir = await dataFolder(t);
  const demo = await demoOn(platform, dataDir);
  const tenant = await platform.apiKeys.authenticate(demo?.apiKey ?? "");
  assert.ok(demo && tenant);
  const { id } = tenant.organization;
  await platform.apiKeys.revoke(id, tenant.apiKeyId ?? "");
  assert.deepEqual(await demoOn(platform, dataDir), demo);
  assert.equal(await platform.apiKeys.authenticate(demo.apiKey), undefined);
  assert.equal((await platform.apiKeys.list(id)).length, 1);
});
