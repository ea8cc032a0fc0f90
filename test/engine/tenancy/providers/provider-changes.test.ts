import assert from "node:assert/strict";
import { test } from "node:test";
import {
  changedProviderFields,
  isSandboxed,
  keptCredentialFaults,
} from "../../../../engine/tenancy/providers/provider-input.js";
import type { JsonObject } from "../../../../storage/records.js";
import { providerRecord } from "../../../storage/sample-records.js";
import { ownLlm, platformOfFile, refusal } from "../seeded-platform.js";

const sharedPlatform = platformOfFile();

test("a change of one field leaves the other fields of a provider as they are", async () => {
  const platform = await sharedPlatform();
  const tenant = await platform.tenantOn("starter");
  const settings = { baseUrl: "https://llm.example.com/v1", region: "eu" };
  let before = await platform.providers.create(tenant, ownLlm({ settings }));
  for (const patch of [
    { name: "Other models" },
    { active: false },
    { models: [{ modelId: "new", label: "New" }] },
    { settings: { ...settings, region: "us" } },
  ]) {
    platform.clock.advance(1);
    const after = await platform.providers.update(tenant, before.id, patch);
    assert.deepEqual(after, { ...before, ...patch, updatedAtMs: platform.clock.epochMs() });
    before = after;
  }
});

test("changing a provider that another request removes meanwhile fails with not_found", async (t) => {
  const platform = await sharedPlatform();
  const tenant = await platform.tenantOn("starter");
  const { id } = await platform.providers.create(tenant, ownLlm());
  const { providers } = platform.database;
  t.mock.method(providers, "update", () => Promise.resolve(undefined));
  t.mock.method(providers, "removeUnused", () => Promise.resolve("notFound"));
  const renamed = platform.providers.update(tenant, id, { name: "Mine" });
  await assert.rejects(renamed, refusal("not_found"));
  await assert.rejects(platform.providers.remove(tenant, id), refusal("not_found"));
});

test("a provider that cannot be stored does not occupy its name", async (t) => {
  const platform = await sharedPlatform();
  const tenant = await platform.tenantOn("starter");
  const full = new Error("the disk is full");
  t.mock.method(platform.database.providers, "insertOwned", () => Promise.reject(full));
  await assert.rejects(platform.providers.create(tenant, ownLlm()), full);
});

test("the audit trail names the changed fields, and credentials whenever they are set", () => {
  const before = providerRecord();
  const { name, active, models, settings } = before;
  const changed = (patch: object, after: JsonObject = settings) =>
    changedProviderFields(before, patch, after);
  assert.deepEqual(changed({}), []);
  assert.deepEqual(changed({ name, active, models }), []);
  assert.deepEqual(changed({ name: "New" }), ["name"]);
  assert.deepEqual(changed({ active: !active }), ["active"]);
  assert.deepEqual(changed({ models: [] }), ["models"]);
  assert.deepEqual(changed({}, {}), ["settings"]);
  assert.deepEqual(changed({ credentials: {} }), ["credentials"]);
  assert.deepEqual(changed({ name: "New", credentials: {} }, {}), [
    "name",
    "settings",
    "credentials",
  ]);
});

test("credentials have to be given again if the address leads to another server", () => {
  const faultsOf = (before: JsonObject, after: JsonObject, patch = {}) =>
    keptCredentialFaults(providerRecord({ settings: before }), patch, after).map(
      ({ path }) => path,
    );
  const here = { baseUrl: "https://a.example/v1" };
  assert.deepEqual(faultsOf(here, { baseUrl: "https://a.example/v2" }), []);
  for (const other of [{ baseUrl: "https://b.example/v1" }, { baseUrl: "no address" }, {}]) {
    assert.deepEqual(faultsOf(here, other), ["credentials"]);
    assert.deepEqual(faultsOf(here, other, { credentials: { apiKey: "sk" } }), []);
  }
  assert.deepEqual(
    faultsOf({ baseUrl: "no address" }, { baseUrl: 7 }),
    [],
    "neither leads anywhere",
  );
});

test("a provider uses the sandbox only if its settings say so", () => {
  const settingsOf = (settings: JsonObject) => isSandboxed({ settings });
  assert.deepEqual(
    [{ sandbox: true }, { sandbox: false }, { sandbox: "true" }, {}].map(settingsOf),
    [true, false, false, false],
  );
});

test("two concurrent changes both apply, and a new key is never combined with the old address", async () => {
  const platform = await sharedPlatform();
  const tenant = await platform.tenantOn("pro");
  for (let round = 0; round < 10; round += 1) {
    const settings = { baseUrl: "https://old.example.com/v1" };
    const own = ownLlm({ name: `Ours ${round}`, settings });
    const { id } = await platform.providers.create(tenant, own);
    await Promise.all([
      platform.providers.update(tenant, id, {
        settings: { baseUrl: "https://new.example.com/v1" },
        credentials: { apiKey: "sk-new" },
      }),
      platform.providers.update(tenant, id, { settings: { region: "eu" } }),
    ]);
    const changed = await platform.providers.get(tenant, id);
    assert.deepEqual(changed.settings, { baseUrl: "https://new.example.com/v1", region: "eu" });
    const credentials = platform.cipher.open(changed.sealedCredentials ?? "");
    assert.deepEqual({ ...credentials }, { apiKey: "sk-new" });
    await platform.providers.remove(tenant, id);
  }
});
