import assert from "node:assert/strict";
import { type TestContext, test } from "node:test";
import { RequestError } from "../../../../engine/request-error.js";
import { ClientTokens } from "../../../../engine/security/client-token.js";
import { ClientAccess } from "../../../../engine/tenancy/people/client-access.js";
import type { Tenant } from "../../../../engine/tenancy/tenant.js";
import { platformOfFile, type SeededPlatform } from "../seeded-platform.js";

const NEW_MODEL = "edge/new-voice";

const sharedPlatform = platformOfFile();

/** A user after an authentication by key and by token. Reads of the database are counted from then on. */
async function knownUser(context: TestContext) {
  const platform = await sharedPlatform();
  const tenant = await platform.tenantOn("free");
  const { organization } = tenant;
  const { record, rawKey } = await platform.apiKeys.create(organization.id, { name: "Website" });
  const { ownerEmail: email } = organization;
  const claims = { userId: tenant.userId ?? "", orgId: organization.id, email };
  const token = await platform.tokens.issue(claims);
  const byKey = () => platform.apiKeys.authenticate(rawKey);
  const byToken = async () => (await platform.accounts.authenticateUser(token))?.tenant;
  const isOperator = async () => {
    return (await platform.accounts.authenticateUser(token))?.user.isOperator;
  };
  assert.ok((await byKey()) && (await byToken()));
  const keyReads = context.mock.method(platform.database.apiKeys, "findWithOwner");
  const userReads = context.mock.method(platform.database.users, "findWithOwner");
  const readCount = () => keyReads.mock.callCount() + userReads.mock.callCount();
  return { platform, tenant, email, keyId: record.id, byKey, byToken, isOperator, readCount };
}

test("a recently authenticated identity needs no read", async (context) => {
  const { byKey, byToken, readCount } = await knownUser(context);
  for (let time = 0; time < 3; time += 1) assert.ok((await byKey()) && (await byToken()));
  assert.equal(readCount(), 0);
});

test("a revoked key is refused at once", async (context) => {
  const { platform, tenant, keyId, byKey } = await knownUser(context);
  await platform.apiKeys.revoke(tenant.organization.id, keyId);
  assert.equal(await byKey(), undefined);
});

type Known = { readonly platform: SeededPlatform; readonly tenant: Tenant; readonly email: string };
type Seen = (tenant: Tenant | undefined) => unknown;

const status: Seen = (tenant) => tenant?.organization.status;
const plan: Seen = (tenant) => tenant?.plan.slug;
const name: Seen = (tenant) => tenant?.organization.name;

const CHANGES: readonly [string, (known: Known) => Promise<unknown>, Seen, unknown][] = [
  ["suspension", ({ platform, email }) => platform.organizations.suspend(email), status, "pending"],
  [
    "change of plan",
    ({ platform, email }) => platform.organizations.changePlan(email, "pro"),
    plan,
    "pro",
  ],
  [
    "new name",
    ({ platform, tenant }) => platform.organizations.rename(tenant, "Bakers"),
    name,
    "Bakers",
  ],
  [
    "change of the plan itself",
    ({
      platform,
      tenant: {
        plan: { id, models },
      },
    }) => platform.database.plans.setModels(id, { ...models, tts: [...models.tts, NEW_MODEL] }, 1),
    (tenant) => tenant?.plan.models.tts.includes(NEW_MODEL),
    true,
  ],
];

for (const [what, change, seen, expected] of CHANGES) {
  test(`an identity authenticated after a ${what} reflects it`, async (context) => {
    const known = await knownUser(context);
    await change(known);
    assert.deepEqual(seen(await known.byKey()), expected);
    assert.deepEqual(seen(await known.byToken()), expected);
  });
}

test("a former operator loses the role immediately", async (context) => {
  const { platform, tenant, isOperator } = await knownUser(context);
  const { users } = platform.database;
  for (const expected of [true, false]) {
    await users.setOperator(tenant.userId ?? "", expected);
    assert.equal(await isOperator(), expected);
  }
});

test("an activated organization gets access at once", async (context) => {
  const { platform, email, byKey } = await knownUser(context);
  await platform.organizations.suspend(email);
  assert.equal(status(await byKey()), "pending");
  await platform.organizations.activate(email);
  assert.equal(status(await byKey()), "active");
});

test("a change that another program makes in the database file is seen within a second", async (context) => {
  const { platform, email, byKey } = await knownUser(context);
  const { recordChanges } = platform.database;
  const after = context.mock.method(
    recordChanges,
    "after",
    <Result>(write: Promise<Result>) => write,
  );
  await platform.organizations.suspend(email);
  assert.equal(after.mock.callCount(), 1);
  assert.equal(status(await byKey()), "active");
  platform.clock.advance(1_000);
  assert.equal(status(await byKey()), "pending");
});

test("the use of a key does not cause other keys to be read again", async (context) => {
  const { platform, byKey, byToken, readCount } = await knownUser(context);
  const other = await platform.tenantOn("free");
  const { rawKey } = await platform.apiKeys.create(other.organization.id, { name: "Website" });
  assert.ok((await byKey()) && (await byToken()));
  const before = readCount();
  await platform.apiKeys.authenticate(rawKey);
  assert.ok((await byKey()) && (await byToken()));
  assert.equal(readCount(), before + 1, "only the key that was used is read");
});

test("an organization that is called without a key is read once, and again when it changes", async (context) => {
  const { platform, tenant, email } = await knownUser(context);
  const { id } = tenant.organization;
  const reads = context.mock.method(platform.database.organizations, "findById");
  await platform.organizations.find(id);
  assert.equal((await platform.organizations.find(id))?.organization.status, "active");
  assert.equal(reads.mock.callCount(), 1);
  await platform.organizations.suspend(email);
  assert.equal((await platform.organizations.find(id))?.organization.status, "pending");
});

test("pages cannot reach an agent as soon as it is no longer public", async (context) => {
  const { platform, tenant } = await knownUser(context);
  const { clock, database, organizations } = platform;
  const clientTokens = new ClientTokens({ secret: "s".repeat(32), clock });
  const access = new ClientAccess({ database, organizations, clientTokens, clock });
  const origin = "https://shop.example";
  const input = await platform.agentInput({ allowedOrigins: [origin] });
  const { id } = await platform.agents.create(tenant, input);
  const reads = context.mock.method(database.agents, "findPublic");
  assert.equal((await access.byOrigin(id, origin))?.agentId, id);
  assert.equal((await access.byOrigin(id, origin))?.agentId, id);
  assert.equal(await access.byOrigin(id, ""), undefined, "a program has no origin");
  assert.equal(reads.mock.callCount(), 1);
  await platform.agents.update(tenant, id, { allowedOrigins: [] });
  assert.equal(await access.byOrigin(id, origin), undefined);
});

test("the error for a token that would be too long names the field that makes it too long", async (context) => {
  const { platform, tenant } = await knownUser(context);
  const { clock, database, organizations } = platform;
  const clientTokens = new ClientTokens({ secret: "s".repeat(32), clock });
  const access = new ClientAccess({ database, organizations, clientTokens, clock });
  const { id: agentId } = await platform.agents.create(tenant, await platform.agentInput());
  const ask = (notes: string) =>
    access.issue(tenant, { agentId, ttlSec: 60, variables: { notes } });
  assert.ok((await ask("short")).token);
  await assert.rejects(ask("n".repeat(2_048)), (error) => {
    assert.ok(error instanceof RequestError);
    assert.deepEqual(error.details, [
      { path: "variables", message: "expected less: a token has at most 2048 characters" },
    ]);
    return true;
  });
});
