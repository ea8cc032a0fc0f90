import assert from "node:assert/strict";
import { test } from "node:test";
import { Providers } from "../../../../engine/tenancy/providers/providers.js";
import { ownLlm, platformOfFile, refusal } from "../seeded-platform.js";

const sharedPlatform = platformOfFile();

const PRIVATE_URLS = [
  "http://127.0.0.1:8080/v1",
  "http://127.1",
  "http://0x7f000001/",
  "http://2130706433/",
  "http://localhost:11434",
  "http://LOCALHOST.",
  "http://models.localhost",
  "http://10.1.2.3",
  "http://172.16.0.1",
  "http://192.168.1.1",
  "http://169.254.169.254/latest/meta-data",
  "http://0.0.0.0",
  "http://[::1]",
  "http://[::ffff:127.0.0.1]",
  "http://[fe80::1]",
  "http://[fd00::1]",
  "http://[64:ff9b::7f00:1]",
];

test("a base URL at a private, loopback or link-local address is refused when it is saved", async () => {
  const platform = await sharedPlatform();
  const tenant = await platform.tenantOn("enterprise");
  const named = await platform.providers.create(
    tenant,
    ownLlm({ settings: { baseUrl: "https://llm.example.com" } }),
  );
  for (const baseUrl of PRIVATE_URLS) {
    await assert.rejects(
      platform.providers.create(tenant, ownLlm({ name: baseUrl, settings: { baseUrl } })),
      refusal("invalid_request", "settings.baseUrl"),
      baseUrl,
    );
    await assert.rejects(
      platform.providers.update(tenant, named.id, { settings: { baseUrl } }),
      refusal("invalid_request", "settings.baseUrl"),
      baseUrl,
    );
  }
  const addresses = ["https://8.8.8.8/v1", "https://[2606:4700::1111]/v1", "https://localhost.org"];
  for (const baseUrl of addresses) {
    const credentials = { apiKey: "sk-ours" };
    await platform.providers.update(tenant, named.id, { settings: { baseUrl }, credentials });
  }
});

test("an operator may allow base URLs on private addresses", async () => {
  const platform = await sharedPlatform();
  const { database, cipher, clock, newId } = platform;
  const providers = new Providers({
    database,
    cipher,
    clock,
    newId,
    allowPrivateAddresses: true,
  });
  const settings = { baseUrl: "http://127.0.0.1:11434" };
  const created = await providers.create(await platform.tenantOn("pro"), ownLlm({ settings }));
  assert.deepEqual(created.settings, settings);
});

test("a new server needs the credentials again; stored ones are never sent to it", async () => {
  const platform = await sharedPlatform();
  const tenant = await platform.tenantOn("pro");
  const baseUrl = "https://llm.example.com/v1";
  const { id } = await platform.providers.create(tenant, ownLlm({ settings: { baseUrl } }));
  const change = (patch: Parameters<typeof platform.providers.update>[2]) =>
    platform.providers.update(tenant, id, patch);
  const elsewhere = { baseUrl: "https://thief.example.net/v1" };
  const cleartext = { baseUrl: "http://llm.example.com/v1" };
  for (const settings of [elsewhere, cleartext, { baseUrl: null }]) {
    await assert.rejects(change({ settings }), refusal("invalid_request", "credentials"));
  }
  const moved = await change({ settings: { baseUrl: "https://llm.example.com/v2" } });
  assert.deepEqual(moved.settings, { baseUrl: "https://llm.example.com/v2" });
  const given = await change({ settings: elsewhere, credentials: { apiKey: "sk-new" } });
  assert.deepEqual(given.settings, elsewhere);
  const keyless = await platform.providers.create(
    tenant,
    ownLlm({ providerKey: "ollama", name: "Box", credentials: {}, settings: { baseUrl } }),
  );
  const { settings } = await platform.providers.update(tenant, keyless.id, { settings: elsewhere });
  assert.deepEqual(settings, elsewhere);
});
