import assert from "node:assert/strict";
import { test } from "node:test";
import { Sqlite } from "../../../storage/sqlite/sqlite-library.js";
import { OwnerReader } from "../../../storage/tenancy/owner-columns.js";
import {
  apiKeyRecord,
  insertOrganizations,
  NOON_MS,
  organizationRecord,
  planRecord,
  userRecord,
} from "../sample-records.js";
import { temporaryDatabase, temporaryFile } from "../temporary-file.js";

test("a key is found with its organization and the organization's plan", async (context) => {
  const database = await temporaryDatabase(context);
  await insertOrganizations(database);
  await database.apiKeys.insert(apiKeyRecord());
  assert.deepEqual(await database.apiKeys.findWithOwner("abcd"), {
    key: apiKeyRecord(),
    organization: organizationRecord(),
    plan: planRecord(),
  });
  assert.equal(await database.apiKeys.findWithOwner("efgh"), undefined);
});

test("a revoked key is found, too", async (context) => {
  const database = await temporaryDatabase(context);
  await insertOrganizations(database);
  await database.apiKeys.insert(apiKeyRecord());
  await database.apiKeys.revoke("org", "key", NOON_MS + 1);
  assert.equal((await database.apiKeys.findWithOwner("abcd"))?.key.revokedAtMs, NOON_MS + 1);
});

test("a user is found with the organization and its plan", async (context) => {
  const database = await temporaryDatabase(context);
  await insertOrganizations(database);
  assert.deepEqual(await database.users.findWithOwner("user"), {
    user: userRecord(),
    organization: organizationRecord(),
    plan: planRecord(),
  });
  assert.equal(await database.users.findWithOwner("nobody"), undefined);
});

test("a change of an organization or its plan is visible immediately", async (context) => {
  const filePath = temporaryFile();
  const database = await temporaryDatabase(context, filePath);
  await insertOrganizations(database);
  const other = planRecord({ id: "pro", slug: "pro", name: "Pro" });
  await database.plans.insertIfAbsent(other);
  const seen = async () => {
    const found = await database.users.findWithOwner("user");
    assert.ok(found);
    return found;
  };
  const first = await seen();
  assert.equal((await seen()).plan, first.plan, "an unchanged plan is parsed once");

  await database.organizations.setStatus("org", "active", NOON_MS + 1);
  await database.organizations.setPlan("org", "pro", NOON_MS + 2);
  const moved = await seen();
  assert.equal(moved.organization.status, "active");
  assert.deepEqual(moved.plan, other);

  const file = new Sqlite(filePath);
  file.exec(`update plans set limits = json_set(limits, '$.maxAgents', 7) where id = 'pro'`);
  file.close();
  assert.equal((await seen()).plan.limits.maxAgents, 7);
});

test("a manual change of any column of a plan is noticed, even if its update time stays", async (context) => {
  const filePath = temporaryFile();
  const database = await temporaryDatabase(context, filePath);
  await insertOrganizations(database);
  const file = new Sqlite(filePath);
  context.after(() => file.close());
  const changes = {
    name: "'Freely'",
    slug: "'freely'",
    description: "'For nothing'",
    custom: "1",
    public: "0",
    pricing: "json_set(pricing, '$.monthly', 1)",
    limits: "json_set(limits, '$.maxAgents', 7)",
    models: "json_set(models, '$.stt', json('[\"a\"]'))",
    features: "json_set(features, '$.maxCustomProviders', 9)",
    updatedAtMs: "updatedAtMs + 1",
  };
  for (const [column, value] of Object.entries(changes)) {
    const before = (await database.users.findWithOwner("user"))?.plan;
    file.exec(`update plans set ${column} = ${value}`);
    const after = (await database.users.findWithOwner("user"))?.plan;
    assert.notDeepEqual(after, before, column);
    assert.deepEqual(after, await database.plans.findById("plan"), column);
  }
});

test("a thousand plans are cached, and of more the latest", () => {
  const {
    pricing,
    limits,
    models,
    features,
    custom: _custom,
    public: _public,
    ...plan
  } = planRecord();
  const { planId: _planId, ...organization } = organizationRecord();
  const reader = new OwnerReader();
  const planOf = (id: string) =>
    reader.ownerOf({
      orgId: organization.id,
      orgName: organization.name,
      orgStatus: organization.status,
      orgOwnerEmail: organization.ownerEmail,
      orgCreatedAtMs: organization.createdAtMs,
      orgUpdatedAtMs: organization.updatedAtMs,
      planId: id,
      planSlug: plan.slug,
      planName: plan.name,
      planDescription: plan.description,
      planCustom: 0,
      planPublic: 1,
      planPricing: JSON.stringify(pricing),
      planLimits: JSON.stringify(limits),
      planModels: JSON.stringify(models),
      planFeatures: JSON.stringify(features),
      planCreatedAtMs: plan.createdAtMs,
      planUpdatedAtMs: plan.updatedAtMs,
    }).plan;
  const [first, second] = [planOf("0"), planOf("1")];
  for (let id = 2; id < 1_000; id += 1) planOf(`${id}`);
  assert.equal(planOf("0"), first);
  planOf("one more");
  assert.notEqual(planOf("1"), second);
  assert.deepEqual(planOf("1"), second);
});
