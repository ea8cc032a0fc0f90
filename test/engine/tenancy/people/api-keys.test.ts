import assert from "node:assert/strict";
import { test } from "node:test";
import { ApiKeys } from "../../../../engine/tenancy/people/api-keys.js";
import { platformOfFile, refusal } from "../seeded-platform.js";

const sharedPlatform = platformOfFile();

test("a new key authenticates its organization, with both scopes", async () => {
  const platform = await sharedPlatform();
  const { organization, plan } = await platform.tenantOn("pro");
  const { record, rawKey } = await platform.apiKeys.create(organization.id, { name: "Website" });
  assert.equal(record.keyPrefix, rawKey.slice(0, 10));
  assert.deepEqual(await platform.apiKeys.authenticate(rawKey), {
    organization,
    plan,
    userId: undefined,
    apiKeyId: record.id,
    scopes: ["voice", "dashboard"],
  });
});

test("a key can be limited to one scope", async () => {
  const platform = await sharedPlatform();
  const { organization } = await platform.tenantOn("free");
  const { rawKey } = await platform.apiKeys.create(organization.id, {
    name: "Website",
    scopes: ["voice"],
  });
  assert.deepEqual((await platform.apiKeys.authenticate(rawKey))?.scopes, ["voice"]);
});

test("a key cannot create a key with more scopes than its own", async () => {
  const platform = await sharedPlatform();
  const { organization } = await platform.tenantOn("free");
  const make = (scopes?: readonly ["dashboard"]) =>
    platform.apiKeys.create(organization.id, { name: "Own", scopes }, undefined, ["voice"]);
  await assert.rejects(make(["dashboard"]), refusal("scope_missing", "scopes"));
  assert.deepEqual((await make()).record.scopes, ["voice"]);
});

test("a key of a pending organization is recognized, so that the API can say why it is refused", async () => {
  const platform = await sharedPlatform();
  const { organization } = await platform.tenantOn("free");
  const { rawKey } = await platform.apiKeys.create(organization.id, { name: "Website" });
  await platform.organizations.suspend(organization.ownerEmail);
  const tenant = await platform.apiKeys.authenticate(rawKey);
  assert.equal(tenant?.organization.status, "pending");
});

test("a revoked key is refused from then on and stays in the list", async () => {
  const platform = await sharedPlatform();
  const { organization } = await platform.tenantOn("free");
  const { record, rawKey } = await platform.apiKeys.create(organization.id, { name: "Website" });
  await platform.apiKeys.revoke(organization.id, record.id);
  assert.equal(await platform.apiKeys.authenticate(rawKey), undefined);
  const revokedAtMs = platform.clock.epochMs();
  assert.deepEqual(await platform.apiKeys.list(organization.id), [{ ...record, revokedAtMs }]);
});

test("revoking a key again is not an error and keeps the first time", async () => {
  const platform = await sharedPlatform();
  const { organization } = await platform.tenantOn("free");
  const { record } = await platform.apiKeys.create(organization.id, { name: "Website" });
  const revokedAtMs = platform.clock.epochMs();
  await platform.apiKeys.revoke(organization.id, record.id);
  platform.clock.advance(1_000);
  await platform.apiKeys.revoke(organization.id, record.id);
  assert.equal((await platform.apiKeys.list(organization.id))[0]?.revokedAtMs, revokedAtMs);
});

test("another organization's key can be neither listed nor revoked", async () => {
  const platform = await sharedPlatform();
  const { organization } = await platform.tenantOn("free");
  const stranger = (await platform.tenantOn("free")).organization;
  const { record, rawKey } = await platform.apiKeys.create(organization.id, { name: "Website" });
  assert.deepEqual(await platform.apiKeys.list(stranger.id), []);
  await assert.rejects(platform.apiKeys.revoke(stranger.id, record.id), refusal("not_found"));
  await assert.rejects(platform.apiKeys.revoke(organization.id, "unknown"), refusal("not_found"));
  assert.ok(await platform.apiKeys.authenticate(rawKey));
});

test("malformed and unknown keys are refused, and only unknown ones are looked up", async (t) => {
  const platform = await sharedPlatform();
  const lookUp = t.mock.method(platform.database.apiKeys, "findWithOwner");
  for (const wrong of ["", "vk_", `vk_${"0".repeat(48)}`, "' or 1=1 --"]) {
    assert.equal(await platform.apiKeys.authenticate(wrong), undefined);
  }
  assert.equal(lookUp.mock.callCount(), 1);
});

test("the last use is written at most once a minute", async () => {
  const platform = await sharedPlatform();
  const { organization } = await platform.tenantOn("free");
  const { rawKey } = await platform.apiKeys.create(organization.id, { name: "Website" });
  const createdAtMs = platform.clock.epochMs();
  const lastUsedAfter = async (elapsedMs: number) => {
    platform.clock.advance(elapsedMs);
    await platform.apiKeys.authenticate(rawKey);
    const [key] = await platform.apiKeys.list(organization.id);
    return (key?.lastUsedAtMs ?? Number.NaN) - createdAtMs;
  };
  assert.equal(await lastUsedAfter(0), 0);
  assert.equal(await lastUsedAfter(59_999), 0);
  assert.equal(await lastUsedAfter(1), 60_000);
  assert.equal(await lastUsedAfter(30_000), 60_000);
});

test("many simultaneous requests write the last use once", async (t) => {
  const platform = await sharedPlatform();
  const { organization } = await platform.tenantOn("free");
  const { rawKey } = await platform.apiKeys.create(organization.id, { name: "Website" });
  const touch = t.mock.method(platform.database.apiKeys, "touch");
  await Promise.all(Array.from({ length: 10 }, () => platform.apiKeys.authenticate(rawKey)));
  assert.equal(touch.mock.callCount(), 1);
});

test("a last use that cannot be written is logged and the request continues", async (t) => {
  const platform = await sharedPlatform();
  const { organization } = await platform.tenantOn("free");
  const { rawKey } = await platform.apiKeys.create(organization.id, { name: "Website" });
  const outage = new Error("disk full");
  t.mock.method(platform.database.apiKeys, "touch", () => Promise.reject(outage));
  assert.ok(await platform.apiKeys.authenticate(rawKey));
  await new Promise((resolve) => setImmediate(resolve));
  assert.deepEqual(platform.backgroundErrors, [outage]);
});

test("an organization has at most 100 keys that are not revoked", async () => {
  const platform = await sharedPlatform();
  const { organization } = await platform.tenantOn("free");
  const created = await Promise.all(
    Array.from({ length: 100 }, () => platform.apiKeys.create(organization.id, { name: "Key" })),
  );
  const oneMore = () => platform.apiKeys.create(organization.id, { name: "One more" });
  await assert.rejects(oneMore(), refusal("limit_reached"));
  await platform.apiKeys.revoke(organization.id, created[0]?.record.id ?? "");
  assert.ok(await oneMore());
});

test("a key works on another process as soon as it is stored", async (t) => {
  const platform = await sharedPlatform();
  const { organization } = await platform.tenantOn("free");
  const { record, rawKey } = await platform.apiKeys.create(organization.id, { name: "Website" });
  const elsewhere = new ApiKeys({
    database: platform.database,
    clock: platform.clock,
    newId: platform.newId,
    onBackgroundError: (error) => platform.backgroundErrors.push(error),
  });
  await platform.apiKeys.authenticate(rawKey);
  const touch = t.mock.method(platform.database.apiKeys, "touch");
  assert.ok(await elsewhere.authenticate(rawKey));
  assert.equal(touch.mock.callCount(), 0, "its use was written within the minute");
  await elsewhere.revoke(organization.id, record.id);
  assert.equal(await platform.apiKeys.authenticate(rawKey), undefined);
});
