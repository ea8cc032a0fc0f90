import assert from "node:assert/strict";
import { type TestContext, test } from "node:test";
import { TelephonyAccounts } from "../../../engine/calls/telephony-accounts.js";
import { telephonySettings } from "../../../engine/telephony/telephony-settings.js";
import { PhoneNumbers } from "../../../engine/tenancy/agents/phone-numbers.js";
import { Connections } from "../../../engine/vendors/transport/connections.js";
import { RecordingLogger } from "../../doubles/recording-logger.js";
import { openPlatform } from "../tenancy/seeded-platform.js";

/** Nothing answers there. */
const NOWHERE = "http://127.0.0.1:9";

async function accountsFor(context: TestContext) {
  const platform = await openPlatform(context);
  const { database, cipher, clock, newId } = platform;
  const connections = new Connections({ clock, allowPrivateAddresses: false });
  context.after(() => connections.close());
  const accounts = new TelephonyAccounts({
    database,
    phoneNumbers: new PhoneNumbers({ database, clock, newId }),
    cipher,
    settings: telephonySettings({
      TWILIO_BASE_URL: NOWHERE,
      TELNYX_BASE_URL: NOWHERE,
      PLIVO_BASE_URL: NOWHERE,
      VONAGE_BASE_URL: NOWHERE,
      JAMBONZ_BASE_URL: NOWHERE,
      AUDIOSOCKET_PORT: 0,
      TELEPHONY_VENDORS: [],
    }),
    context: { clock, connections },
    baseUrl: () => undefined,
    allowPrivateAddresses: false,
    clock,
    newId,
    log: new RecordingLogger(),
  });
  return { platform, accounts, tenant: await platform.tenantOn("pro") };
}

const TWILIO = {
  vendor: "twilio",
  name: "Line",
  settings: { accountSid: "AC1" },
  credentials: { authToken: "secret" },
};

test("an organization's account leads to no private network, and SignalWire's to SignalWire alone", async (t) => {
  const { accounts, tenant } = await accountsFor(t);
  const jambonz = (baseUrl: string) => ({
    vendor: "jambonz",
    name: "PBX",
    settings: { accountSid: "a", baseUrl },
    credentials: { apiKey: "k" },
  });
  for (const address of ["http://127.0.0.1:3000", "https://10.0.0.1", "http://localhost/v1"]) {
    await assert.rejects(accounts.create(tenant, jambonz(address)), {
      code: "invalid_request",
      message: /^settings\.baseUrl: expected a public address/,
    });
  }
  await accounts.create(tenant, jambonz("https://jambonz.example.com"));
  const signalwire = (baseUrl: string) => ({
    vendor: "signalwire",
    name: "Space",
    settings: { projectId: "p", baseUrl },
    credentials: { apiToken: "t" },
  });
  for (const address of [
    "https://signalwire.com.example.com",
    "http://example.signalwire.com",
    "https://example.signalwire.com:8443",
  ]) {
    await assert.rejects(accounts.create(tenant, signalwire(address)), {
      message: /^settings\.baseUrl: expected https and the vendor's own host/,
    });
  }
  await accounts.create(tenant, signalwire("https://example.signalwire.com"));
});

test("a vendor that does not answer is a result of a test, and no number is imported without a public address", async (t) => {
  const { accounts, tenant } = await accountsFor(t);
  const { id } = await accounts.create(tenant, TWILIO);
  const tried = await accounts.test(tenant, id);
  assert.ok(!tried.ok);
  assert.match(tried.error, /^twilio is unavailable/);
  await assert.rejects(accounts.numbers(tenant, id), { code: "telephony_unavailable" });
  const wanted = { number: "+15550102000", agentId: null, setWebhook: true };
  await assert.rejects(accounts.importNumber(tenant, id, wanted), { code: "not_configured" });
});

test("what numbers of an account lack to be imported is named", async (t) => {
  const { accounts, tenant } = await accountsFor(t);
  const telnyx = { vendor: "telnyx", name: "Line", credentials: { apiKey: "k" } };
  const { id } = await accounts.create(tenant, telnyx);
  await assert.rejects(accounts.numbers(tenant, id), {
    code: "invalid_request",
    message: /^settings\.texmlAppId: expected the TeXML application/,
  });
});

test("an account of another organization is not found, and its keys check no other's webhooks", async (t) => {
  const { platform, accounts, tenant } = await accountsFor(t);
  const { id } = await accounts.create(tenant, TWILIO);
  const other = await platform.tenantOn("pro");
  for (const ask of [
    () => accounts.get(other, id),
    () => accounts.update(other, id, { name: "Mine" }),
    () => accounts.remove(other, id),
    () => accounts.test(other, id),
    () => accounts.numbers(other, id),
  ]) {
    await assert.rejects(ask, { code: "not_found" });
  }
  const keysOf = (orgId: string) => accounts.webhookKeysOf({ vendor: "twilio", orgId });
  assert.deepEqual(await keysOf(tenant.organization.id), { twilio: "secret" });
  assert.deepEqual(await keysOf(other.organization.id), {});
  assert.equal(await accounts.named(id, "plivo"), undefined);
  const own = { vendor: "twilio", orgId: tenant.organization.id };
  assert.equal(await accounts.of(own), undefined, "the installation has none");
  assert.ok(await accounts.of({ ...own, ownAccount: true }));
  const { sealedCredentials, settings } = await accounts.get(tenant, id);
  assert.doesNotMatch(`${sealedCredentials} ${JSON.stringify(settings)}`, /secret/);
});
