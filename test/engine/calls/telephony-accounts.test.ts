import assert from "node:assert/strict";
import { generateKeyPairSync } from "node:crypto";
import { type TestContext, test } from "node:test";
import { TelephonyAccounts } from "../../../engine/calls/telephony-accounts.js";
import { CredentialCipher } from "../../../engine/security/credential-cipher.js";
import { phoneVendor } from "../../../engine/telephony/phone-vendors.js";
import { telephonySettings } from "../../../engine/telephony/telephony-settings.js";
import { PhoneNumbers } from "../../../engine/tenancy/agents/phone-numbers.js";
import { auditEntry } from "../../../engine/tenancy/audit-entry.js";
import { Connections } from "../../../engine/vendors/transport/connections.js";
import { RecordingLogger } from "../../doubles/recording-logger.js";
import { openPlatform } from "../tenancy/seeded-platform.js";

/** Nothing answers there. */
const NOWHERE = "http://127.0.0.1:9";

const { privateKey: pem } = generateKeyPairSync("rsa", {
  modulusLength: 2_048,
  publicKeyEncoding: { type: "spki", format: "pem" },
  privateKeyEncoding: { type: "pkcs8", format: "pem" },
});

const NOWHERES = {
  TWILIO_BASE_URL: NOWHERE,
  TELNYX_BASE_URL: NOWHERE,
  SIGNALWIRE_BASE_URL: NOWHERE,
  PLIVO_BASE_URL: NOWHERE,
  VONAGE_BASE_URL: NOWHERE,
  JAMBONZ_BASE_URL: NOWHERE,
  AUDIOSOCKET_PORT: 0,
  TELEPHONY_VENDORS: [],
};

async function accountsFor(context: TestContext, { allowPrivateAddresses = false } = {}) {
  const platform = await openPlatform(context);
  const { database, cipher, clock, newId } = platform;
  const connections = new Connections({ clock, allowPrivateAddresses: false });
  context.after(() => connections.close());
  const accounts = new TelephonyAccounts({
    database,
    phoneNumbers: new PhoneNumbers({ database, clock, newId }),
    cipher,
    settings: telephonySettings(NOWHERES),
    context: { clock, connections },
    baseUrl: () => undefined,
    allowPrivateAddresses,
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

test("private addresses are a setting, and SignalWire's address is SignalWire's in either case", async (t) => {
  const { accounts, tenant } = await accountsFor(t, { allowPrivateAddresses: true });
  const pbx = { vendor: "asterisk", name: "PBX", credentials: { password: "p" } };
  const at = (baseUrl: string) => ({ ...pbx, settings: { user: "ari", baseUrl } });
  await assert.rejects(accounts.create(tenant, at("http://10.0.0.1:99999")), {
    message: /^settings\.baseUrl: expected an http or https address/,
  });
  await accounts.create(tenant, at("http://10.0.0.1:8088/ari"));
  const signalwire = (baseUrl: string) => ({
    vendor: "signalwire",
    name: "Space",
    settings: { projectId: "p", baseUrl },
    credentials: { apiToken: "t" },
  });
  for (const address of ["https://signalwire.example.com", "http://10.0.0.1"]) {
    await assert.rejects(accounts.create(tenant, signalwire(address)), {
      message: /^settings\.baseUrl: expected https and the vendor's own host/,
    });
  }
  await accounts.create(tenant, signalwire("http://127.0.0.1:9"));
});

test("an account whose credentials do not open is listed, and works when they are entered again", async (t) => {
  const { platform, accounts, tenant } = await accountsFor(t);
  const account = await accounts.create(tenant, TWILIO);
  const sealedCredentials = new CredentialCipher("7b".repeat(32)).seal({ authToken: "lost" });
  const { id: targetId, orgId } = account;
  const entry = auditEntry({
    id: "sealed elsewhere",
    atMs: account.createdAtMs,
    actor: { type: "administrator", id: "server" },
    action: "telephonyAccount.update",
    target: { type: "telephonyAccount", id: targetId, orgId, name: account.name },
  });
  assert.ok(
    await platform.database.telephonyAccounts.update(
      { ...account, sealedCredentials },
      account.updatedAtMs,
      entry,
    ),
  );
  const [listed] = await accounts.list(tenant);
  assert.ok(listed);
  assert.deepEqual(accounts.credentialNames(listed), []);
  assert.deepEqual(await accounts.test(tenant, account.id), {
    ok: false,
    latencyMs: 0,
    error: "the stored credentials cannot be read any more: enter them again",
  });
  await assert.rejects(accounts.numbers(tenant, account.id), {
    code: "invalid_request",
    message: /^credentials: the stored credentials cannot be read/,
  });
  await assert.rejects(accounts.update(tenant, account.id, { name: "New" }), {
    code: "invalid_request",
    message: /^credentials\.authToken: expected/,
  });
  const { credentials } = TWILIO;
  const mended = await accounts.update(tenant, account.id, { credentials });
  assert.deepEqual(accounts.credentialNames(mended), ["authToken"]);
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

test("a private key may be entered in one line, as in an environment variable", () => {
  const { account } = phoneVendor("vonage") ?? {};
  const privateKey = pem.replaceAll("\n", "\\n");
  const field = account?.fields.find(({ name }) => name === "privateKey");
  assert.ok(field?.format.test(privateKey) && field.format.test(pem));
  const values = { applicationId: "a", privateKey };
  assert.equal(account?.settings(values, telephonySettings(NOWHERES)).vonage?.privateKey, pem);
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

test("an account can import once it has what its vendor's numbers want", async (t) => {
  const { accounts, tenant } = await accountsFor(t);
  const vonage = { vendor: "vonage", name: "Line", settings: { applicationId: "a" } };
  const { id } = await accounts.create(tenant, { ...vonage, credentials: { privateKey: pem } });
  const canImport = async () => accounts.canImport(await accounts.get(tenant, id));
  assert.equal(await canImport(), false);
  await accounts.update(tenant, id, { settings: { apiKey: "k" } });
  assert.equal(await canImport(), false);
  await accounts.update(tenant, id, { credentials: { apiSecret: "s" } });
  assert.equal(await canImport(), true);
  const asterisk = { settings: { user: "ari", baseUrl: "https://pbx.example.com/ari" } };
  const pbx = { vendor: "asterisk", name: "Exchange", ...asterisk, credentials: { password: "p" } };
  assert.equal(accounts.canImport(await accounts.create(tenant, pbx)), false);
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
