import assert from "node:assert/strict";
import { test } from "node:test";
import { OrganizationOverviews } from "../../../engine/tenancy/organization-overviews.js";
import { type OrganizationChange, Organizations } from "../../../engine/tenancy/organizations.js";
import type { Category } from "../../../storage/records.js";
import { openPlatform, platformOfFile, refusal } from "./seeded-platform.js";

const sharedPlatform = platformOfFile();

test("an organization is described with its plan", async () => {
  const platform = await sharedPlatform();
  const tenant = await platform.tenantOn("starter");
  const { organization, plan } = platform.organizations.describe(tenant);
  assert.equal(organization.id, tenant.organization.id);
  assert.equal(plan.slug, "starter");
});

test("renaming an organization changes only its name and the time of its change", async () => {
  const platform = await sharedPlatform();
  const tenant = await platform.tenantOn("free");
  platform.clock.advance(5_000);
  const { organization } = await platform.organizations.rename(tenant, "Engines");
  assert.deepEqual(organization, {
    ...tenant.organization,
    name: "Engines",
    updatedAtMs: platform.clock.epochMs(),
  });
  assert.deepEqual((await platform.refreshed(tenant)).organization, organization);
});

test("the administrator activates and suspends an organization by its owner's e-mail", async () => {
  const platform = await sharedPlatform();
  const tenant = await platform.tenantOn("free");
  const statusNow = async () => (await platform.refreshed(tenant)).organization.status;
  const email = ` ${tenant.organization.ownerEmail.toUpperCase()} `;

  const suspended = await platform.organizations.suspend(email);
  assert.deepEqual([suspended.status, await statusNow()], ["pending", "pending"]);
  platform.clock.advance(1_000);
  const activated = await platform.organizations.activate(email);
  assert.deepEqual([activated.status, await statusNow()], ["active", "active"]);
  assert.equal(activated.updatedAtMs, platform.clock.epochMs());
});

test("the administrator changes an organization's plan", async () => {
  const platform = await sharedPlatform();
  const tenant = await platform.tenantOn("free");
  await platform.organizations.changePlan(tenant.organization.ownerEmail, "pro");
  assert.equal((await platform.refreshed(tenant)).plan.slug, "pro");
});

test("the audit trail names the user of the command line, or the server if there is none", async () => {
  const platform = await sharedPlatform();
  const { organization } = await platform.tenantOn("free");
  const { database, accounts, apiKeys, clock, newId } = platform;
  const parts = { database, accounts, apiKeys, clock, newId };
  await new Organizations({ ...parts, administratorId: "root" }).suspend(organization.ownerEmail);
  await platform.organizations.activate(organization.ownerEmail);
  const { items } = await database.audit.list(organization.id, { skip: 0, limit: 10 });
  assert.deepEqual(
    items.map(({ action, actor }) => [action, actor]),
    [
      ["organization.activate", { type: "administrator", id: "server" }],
      ["organization.suspend", { type: "administrator", id: "root" }],
    ],
  );
});

test("an e-mail that owns no organization and an unknown plan are not found", async () => {
  const platform = await sharedPlatform();
  const { organization } = await platform.tenantOn("free");
  const { organizations } = platform;
  await assert.rejects(organizations.activate("nobody@example.com"), refusal("not_found"));
  await assert.rejects(organizations.suspend("nobody@example.com"), refusal("not_found"));
  await assert.rejects(organizations.changePlan("nobody@example.com", "pro"), refusal("not_found"));
  await assert.rejects(
    organizations.changePlan(organization.ownerEmail, "gold"),
    /free, starter, pro, enterprise/,
  );
});

test("the list shows every organization with its plan", async (t) => {
  const platform = await openPlatform(t);
  await platform.tenantOn("free");
  await platform.tenantOn("pro");
  const listed = await platform.organizations.list();
  assert.deepEqual(
    listed.map(({ planSlug }) => planSlug),
    ["free", "pro"],
  );
});

test("setting up creates an active organization, an owner who can sign in, and an API key", async () => {
  const platform = await sharedPlatform();
  const { organization, password, apiKey } = await platform.organizations.setUp({
    orgName: "Engines",
    email: "ada@example.com",
    planSlug: "pro",
  });
  assert.equal(organization.status, "active");
  assert.equal(Buffer.from(password, "base64url").length, 15);
  const signedIn = await platform.accounts.signIn({ email: "ada@example.com", password });
  assert.equal(signedIn.organization.id, organization.id);
  const tenant = await platform.apiKeys.authenticate(apiKey.rawKey);
  assert.equal(tenant?.plan.slug, "pro");
});

test("setting up with a used e-mail fails", async () => {
  const platform = await sharedPlatform();
  const { organization } = await platform.tenantOn("free");
  await assert.rejects(
    platform.organizations.setUp({ orgName: "Engines", email: organization.ownerEmail }),
    refusal("email_taken", "email"),
  );
});

test("the initial setup is complete once there is an active organization and a provider of each category", async (t) => {
  const platform = await openPlatform(t, { vendorKeys: {}, sandbox: false });
  assert.deepEqual(await platform.organizations.setupStatus(), {
    setupComplete: false,
    hasOrganization: false,
    providers: { llm: 1, tts: 1, stt: 0 },
  });

  const { organization } = await platform.tenantOn("free");
  await platform.seed({ vendorKeys: { deepgram: "dg-real" }, sandbox: false });
  assert.deepEqual(await platform.organizations.setupStatus(), {
    setupComplete: true,
    hasOrganization: true,
    providers: { llm: 1, tts: 2, stt: 1 },
  });

  const { providers } = platform.database;
  const all = await providers.listVisible("");
  const setActive = async (category: Category, active: boolean) => {
    for (const { id } of all.filter((each) => each.category === category)) {
      await providers.update(id, null, { active }, platform.clock.epochMs());
    }
  };
  for (const category of ["llm", "tts", "stt"] as const) {
    await setActive(category, false);
    const without = await platform.organizations.setupStatus();
    assert.deepEqual([without.setupComplete, without.providers[category]], [false, 0]);
    await setActive(category, true);
  }

  const counted = t.mock.method(providers, "countActiveByCategory", () =>
    Promise.resolve({ llm: 1, tts: 1, stt: 1 }),
  );
  assert.equal((await platform.organizations.setupStatus()).setupComplete, true, "one is enough");
  counted.mock.restore();

  await platform.organizations.suspend(organization.ownerEmail);
  const { setupComplete, hasOrganization } = await platform.organizations.setupStatus();
  assert.deepEqual(
    { setupComplete, hasOrganization },
    { setupComplete: false, hasOrganization: true },
  );
});

test("an operator changes status and plan in one request, and an unchanged field leaves no entry", async () => {
  const platform = await sharedPlatform();
  const tenant = await platform.tenantOn("free");
  const { id } = tenant.organization;
  const operator = { type: "administrator", id: "operator" } as const;
  const change = (changes: OrganizationChange) =>
    platform.organizations.change(id, changes, operator);
  await change({ status: "pending", planSlug: "pro" });
  const changed = await platform.refreshed(tenant);
  assert.deepEqual([changed.organization.status, changed.plan.slug], ["pending", "pro"]);
  await change({ status: "pending", planSlug: "pro" });
  await change({});
  const { items } = await platform.database.audit.list(id, { skip: 0, limit: 10 });
  assert.deepEqual(items.map(({ action, actor }) => `${action} by ${actor.id}`).toSorted(), [
    "organization.changePlan by operator",
    "organization.suspend by operator",
  ]);
  const unknown = platform.organizations.change("nobody", { status: "active" }, operator);
  await assert.rejects(unknown, refusal("not_found"));
  await assert.rejects(change({ planSlug: "gold" }), refusal("plan_not_found"));
});

test("an operator sees an organization with its usage, and an unknown one is not found", async () => {
  const platform = await sharedPlatform();
  const { organization, plan } = await platform.tenantOn("free");
  const overviews = new OrganizationOverviews(platform);
  const shown = await overviews.get(organization.id);
  assert.deepEqual(shown, { organization, plan, calls: 0, minutes: 0 });
  await assert.rejects(overviews.get("nobody"), refusal("not_found"));
});
