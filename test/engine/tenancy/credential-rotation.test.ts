import assert from "node:assert/strict";
import { type TestContext, test } from "node:test";
import { CredentialCipher } from "../../../engine/security/credential-cipher.js";
import {
  CredentialRotation,
  checkEncryptionKey,
  HOLDERS_NAMED_MAX,
} from "../../../engine/tenancy/credential-rotation.js";
import { VENDOR_CATALOG } from "../../../engine/tenancy/providers/vendor-catalog.js";
import type { SealedCredential } from "../../../storage/tenancy/sealed-credential-store.js";
import { RecordingLogger } from "../../doubles/recording-logger.js";
import { openPlatform, ownLlm, type SeededPlatform } from "./seeded-platform.js";

/** The key that the platforms of the tests use. */
const OLD_KEY = "5a".repeat(32);
const NEW_KEY = "a5".repeat(32);
const OLDEST_KEY = "0f".repeat(32);
const ROOT = { type: "administrator", id: "root" } as const;
/** The sandbox's global providers that have a key. */
const GLOBAL_COUNT = VENDOR_CATALOG.filter(({ requiresKey }) => requiresKey).length;

function rotationOf(
  { database, clock, newId }: SeededPlatform,
  cipher: CredentialCipher,
  sealedCredentials: Partial<SeededPlatform["database"]["sealedCredentials"]> = {},
): CredentialRotation {
  const stored = database.sealedCredentials;
  const scripted = {
    page: stored.page.bind(stored),
    find: stored.find.bind(stored),
    replace: stored.replace.bind(stored),
    keyCheck: stored.keyCheck.bind(stored),
    replaceKeyCheck: stored.replaceKeyCheck.bind(stored),
    ...sealedCredentials,
  };
  // The double has every method that the rotation uses.
  const part = { sealedCredentials: scripted as unknown as typeof stored };
  return new CredentialRotation({ database: part, cipher, clock, newId });
}

async function withOwnProvider(context: TestContext) {
  const platform = await openPlatform(context);
  const tenant = await platform.tenantOn("enterprise");
  const provider = await platform.providers.create(tenant, ownLlm());
  const credentialsUnder = async (key: string) => {
    const stored = await platform.database.providers.findById(provider.id);
    return new CredentialCipher(key).open(stored?.sealedCredentials ?? "");
  };
  return { platform, tenant, provider, credentialsUnder };
}

test("the audit counts credentials under the current key, under each old key and under no key", async (t) => {
  const { platform, provider } = await withOwnProvider(t);
  const audit = (current: string, ...old: readonly string[]) =>
    rotationOf(platform, new CredentialCipher(current, old)).audit();
  assert.deepEqual(await audit(OLD_KEY), { current: GLOBAL_COUNT + 1, old: [], unopened: [] });
  const under = { current: 0, old: [0, GLOBAL_COUNT + 1], unopened: [] };
  assert.deepEqual(await audit(NEW_KEY, OLDEST_KEY, OLD_KEY), under);
  const { unopened, ...counts } = await audit(NEW_KEY, OLDEST_KEY);
  assert.deepEqual(counts, { current: 0, old: [0] });
  assert.equal(unopened.length, GLOBAL_COUNT + 1);
  assert.ok(unopened.some(({ owner, id }) => owner === "provider" && id === provider.id));
});

test("the key is tried on organizations' credentials if no key check is stored yet", async (t) => {
  const { platform } = await withOwnProvider(t);
  const verify = (key: string, ...old: readonly string[]) =>
    rotationOf(platform, new CredentialCipher(key, old)).verifyKey();
  assert.deepEqual(await verify(OLD_KEY), { key: "right", opened: 1, unopened: 0 });
  assert.deepEqual(await verify(NEW_KEY, OLD_KEY), { key: "right", opened: 1, unopened: 0 });
  assert.deepEqual(await verify(NEW_KEY), { key: "wrong", opened: 0, unopened: 1 });
});

test("without an organization's credentials the key check proves a key, and global credentials come last", async (t) => {
  const platform = await openPlatform(t);
  const rotation = (key: string, ...old: readonly string[]) =>
    rotationOf(platform, new CredentialCipher(key, old));
  const verdict = async (key: string, ...old: readonly string[]) =>
    (await rotation(key, ...old).verifyKey()).key;
  assert.equal(await verdict(NEW_KEY), "wrong");
  await rotation(OLD_KEY).storeKeyCheck();
  // A start in the sandbox encrypts global credentials again.
  await rotation(NEW_KEY, OLD_KEY).reseal(ROOT);
  assert.equal(await rotation(NEW_KEY).keyCheck(), "current");
  assert.equal(await verdict(OLD_KEY), "wrong");
  assert.equal(await verdict(NEW_KEY), "right");
  await rotation(OLDEST_KEY).acceptKey();
  assert.deepEqual([await verdict(OLDEST_KEY), await verdict(NEW_KEY)], ["right", "wrong"]);
});

test("a key check under an old key stays until everything is resealed", async (t) => {
  const { platform } = await withOwnProvider(t);
  await rotationOf(platform, new CredentialCipher(OLD_KEY)).storeKeyCheck();
  const both = rotationOf(platform, new CredentialCipher(NEW_KEY, [OLD_KEY]));
  await both.storeKeyCheck();
  assert.equal(await both.keyCheck(), "old");
  await both.reseal(ROOT);
  assert.equal(await both.keyCheck(), "current");
});

test("with credentials under two keys a start reports how many it cannot decrypt", async (t) => {
  const { platform, tenant } = await withOwnProvider(t);
  const { database } = platform;
  const other = await platform.providers.create(tenant, ownLlm({ name: "Other" }));
  const sealedCredentials = new CredentialCipher(OLDEST_KEY).seal({ apiKey: "x" });
  await database.providers.update(other.id, tenant.organization.id, { sealedCredentials }, 1);
  const log = new RecordingLogger();
  const rotation = rotationOf(platform, new CredentialCipher(OLD_KEY));
  assert.equal(await checkEncryptionKey(rotation, log), undefined);
  const [entry] = log.lines;
  const unopenedHolders = [`provider ${other.id}`];
  assert.deepEqual(
    [entry?.level, entry?.fields],
    ["warn", { opened: 1, unopened: 1, unopenedHolders }],
  );
  assert.equal(HOLDERS_NAMED_MAX, 20);
});

test("resealing moves every provider to the current key, writes an audit entry for each, and changes nothing else", async (t) => {
  const { platform, tenant, provider, credentialsUnder } = await withOwnProvider(t);
  platform.clock.advance(1_000);
  const rotation = rotationOf(platform, new CredentialCipher(NEW_KEY, [OLD_KEY]));
  assert.deepEqual(await rotation.reseal(ROOT), {
    resealed: GLOBAL_COUNT + 1,
    alreadyCurrent: 0,
    unopened: [],
    contested: [],
  });
  assert.deepEqual({ ...(await credentialsUnder(NEW_KEY)) }, { apiKey: "sk-ours" });
  await assert.rejects(credentialsUnder(OLD_KEY));
  const { sealedCredentials: _before, ...before } = provider;
  const { sealedCredentials: _after, ...after } = await platform.providers.get(tenant, provider.id);
  assert.deepEqual(after, before);
  const current = { current: GLOBAL_COUNT + 1, old: [0], unopened: [] };
  assert.deepEqual(await rotation.audit(), current);
  const [entry] = (
    await platform.database.audit.list(tenant.organization.id, { limit: 1, skip: 0 })
  ).items;
  assert.deepEqual([entry?.action, entry?.actor], ["provider.reseal", ROOT]);
  const again = await rotation.reseal(ROOT);
  assert.deepEqual([again.resealed, again.alreadyCurrent], [0, GLOBAL_COUNT + 1]);
});

test("credentials that were tampered with are named and left as they are", async (t) => {
  const { platform, provider } = await withOwnProvider(t);
  const { providers } = platform.database;
  const sealed = provider.sealedCredentials ?? "";
  const broken = sealed.slice(0, -1) + (sealed.endsWith("0") ? "1" : "0");
  await providers.update(provider.id, provider.orgId, { sealedCredentials: broken }, 0);
  const rotation = rotationOf(platform, new CredentialCipher(NEW_KEY, [OLD_KEY]));
  const report = await rotation.reseal(ROOT);
  const holder = { owner: "provider", id: provider.id };
  assert.deepEqual([report.resealed, report.unopened], [GLOBAL_COUNT, [holder]]);
  assert.equal((await providers.findById(provider.id))?.sealedCredentials, broken);
  assert.deepEqual((await rotation.audit()).unopened, [holder]);
});

test("credentials that a user changes during resealing are not lost", async (t) => {
  const { platform, tenant, provider, credentialsUnder } = await withOwnProvider(t);
  const { sealedCredentials: stored } = platform.database;
  let changeCount = 0;
  const replace: typeof stored.replace = async (credential, replacement, entry) => {
    if (credential.id === provider.id && changeCount === 0) {
      changeCount += 1;
      const credentials = { apiKey: "sk-newer" };
      await platform.providers.update(tenant, provider.id, { credentials });
    }
    return stored.replace(credential, replacement, entry);
  };
  const cipher = new CredentialCipher(NEW_KEY, [OLD_KEY]);
  const report = await rotationOf(platform, cipher, { replace }).reseal(ROOT);
  assert.equal(changeCount, 1);
  assert.deepEqual([report.resealed, report.contested], [GLOBAL_COUNT + 1, []]);
  assert.deepEqual({ ...(await credentialsUnder(NEW_KEY)) }, { apiKey: "sk-newer" });
});

test("the report names credentials that change at every attempt, but not those of a deleted provider", async (t) => {
  const { platform, tenant, provider, credentialsUnder } = await withOwnProvider(t);
  const doomed = await platform.providers.create(tenant, ownLlm({ name: "Doomed" }));
  const { sealedCredentials: stored } = platform.database;
  let changeCount = 0;
  const replace: typeof stored.replace = async (credential, replacement, entry) => {
    if (credential.id === provider.id) {
      changeCount += 1;
      const credentials = { apiKey: `sk-${changeCount}` };
      await platform.providers.update(tenant, provider.id, { credentials });
    } else if (credential.id === doomed.id) {
      await platform.providers.remove(tenant, doomed.id);
    }
    return stored.replace(credential, replacement, entry);
  };
  const cipher = new CredentialCipher(NEW_KEY, [OLD_KEY]);
  const report = await rotationOf(platform, cipher, { replace }).reseal(ROOT);
  const contested = [{ owner: "provider", id: provider.id }];
  assert.deepEqual([report.resealed, report.contested], [GLOBAL_COUNT, contested]);
  assert.equal(changeCount, 5, "it is tried five times");
  assert.deepEqual({ ...(await credentialsUnder(OLD_KEY)) }, { apiKey: `sk-${changeCount}` });
});

test("the audit reads credentials on several pages once each", async (t) => {
  const { platform } = await withOwnProvider(t);
  const sealed = platform.cipher.seal({ apiKey: "a" });
  const all = Array.from({ length: 230 }, (_, index): SealedCredential => {
    const sequence = index + 1;
    return { owner: "agent", id: String(index), orgId: "org", name: "", sealed, sequence };
  });
  const page: SeededPlatform["database"]["sealedCredentials"]["page"] = async (
    owner,
    after,
    limit,
  ) => (owner === "agent" ? all.slice(after, after + limit) : []);
  const rotation = rotationOf(platform, platform.cipher, { page });
  assert.deepEqual(await rotation.audit(), { current: 230, old: [], unopened: [] });
});

test("resealing also moves the headers of agents' tools", async (t) => {
  const { platform, tenant } = await withOwnProvider(t);
  const { agents, audit } = platform.database;
  const { id } = await platform.agents.create(tenant, await platform.agentInput());
  const orgId = tenant.organization.id;
  const agent = await agents.findById(orgId, id);
  assert.ok(agent);
  const headers = { orders: { authorization: "Bearer hidden" } };
  await agents.update(orgId, id, { ...agent, sealedToolHeaders: platform.cipher.seal(headers) });
  const cipher = new CredentialCipher(NEW_KEY, [OLD_KEY]);
  assert.equal((await rotationOf(platform, cipher).reseal(ROOT)).resealed, GLOBAL_COUNT + 2);
  const moved = await agents.findById(orgId, id);
  const opened = new CredentialCipher(NEW_KEY).open(moved?.sealedToolHeaders ?? "");
  assert.deepEqual({ ...opened }, headers);
  const { items } = await audit.list(orgId, { limit: 2, skip: 0 });
  assert.deepEqual(
    items.map(({ action, targetName }) => [action, targetName]),
    [
      ["agent.reseal", "Reception"],
      ["provider.reseal", "Our models"],
    ],
  );
});

test("resealing also moves the credentials of telephony accounts", async (t) => {
  const { platform, tenant } = await withOwnProvider(t);
  const { telephonyAccounts, audit } = platform.database;
  const orgId = tenant.organization.id;
  const credentials = { authToken: "hidden" };
  const account = {
    id: "account",
    orgId,
    vendor: "twilio",
    name: "Our line",
    settings: { accountSid: "AC1" },
    sealedCredentials: platform.cipher.seal(credentials),
    createdAtMs: 1,
    updatedAtMs: 1,
  };
  const target = {
    targetType: "telephonyAccount",
    targetId: "account",
    targetName: "Our line",
  } as const;
  const entry = { id: "entry", orgId, atMs: 1, actor: ROOT, ...target, changes: [] };
  await telephonyAccounts.insert(account, { ...entry, action: "telephonyAccount.create" });
  const cipher = new CredentialCipher(NEW_KEY, [OLD_KEY]);
  assert.equal((await rotationOf(platform, cipher).reseal(ROOT)).resealed, GLOBAL_COUNT + 2);
  const { sealedCredentials, ...moved } = (await telephonyAccounts.findById("account")) ?? account;
  const opened = new CredentialCipher(NEW_KEY).open(sealedCredentials ?? "");
  assert.deepEqual({ ...opened }, credentials);
  const { sealedCredentials: _, ...before } = account;
  assert.deepEqual(moved, before);
  const { items } = await audit.list(orgId, { limit: 1, skip: 0 });
  assert.deepEqual(
    items.map(({ action, targetName }) => [action, targetName]),
    [["telephonyAccount.reseal", "Our line"]],
  );
});
