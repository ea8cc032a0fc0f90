import assert from "node:assert/strict";
import { mkdtemp, rm, stat } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import { type Demo, ensureDemo, readDemo } from "../../../engine/tenancy/demo-organization.js";
import { openPlatform, type SeededPlatform } from "./seeded-platform.js";

async function dataFolder(context: TestContext): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), "parley-demo-"));
  context.after(() => rm(folder, { recursive: true, force: true }));
  return folder;
}

function demoOn(platform: SeededPlatform, dataDir: string): Promise<Demo | undefined> {
  const { database, organizations, agents, apiKeys } = platform;
  return ensureDemo({ database, organizations, agents, apiKeys, dataDir });
}

test("an empty platform gets a demo organization whose key can call its agent at once", async (t) => {
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

test("the demo is kept for its owner's eyes and found again at the next start", async (t) => {
  const platform = await openPlatform(t);
  const dataDir = await dataFolder(t);
  const demo = await demoOn(platform, dataDir);
  assert.equal((await stat(join(dataDir, "demo.json"))).mode & 0o777, 0o600);
  assert.deepEqual(await demoOn(platform, dataDir), demo);
  assert.deepEqual(await readDemo(dataDir), demo);
  assert.equal((await platform.organizations.list()).length, 1);
});

test("a platform that has an organization gets no demo", async (t) => {
  const platform = await openPlatform(t);
  await platform.tenantOn("free");
  assert.equal(await demoOn(platform, await dataFolder(t)), undefined);
});

test("without a vendor that listens there is a demo organization, but no agent", async (t) => {
  const platform = await openPlatform(t, { vendorKeys: {}, sandbox: false });
  const demo = await demoOn(platform, await dataFolder(t));
  assert.ok(demo);
  assert.equal(demo.agentId, undefined);
});
