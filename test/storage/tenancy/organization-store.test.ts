import assert from "node:assert/strict";
import { test } from "node:test";
import { ForeignKeyViolationError } from "../../../storage/statements/foreign-key-violation.js";
import { UniqueViolationError } from "../../../storage/statements/unique-violation.js";
import {
  insertOrganizations,
  NOON_MS,
  organizationRecord,
  planRecord,
  userRecord,
} from "../sample-records.js";
import { temporaryDatabase } from "../temporary-file.js";

test("an organization and its owner are read back as they were written", async (context) => {
  const database = await temporaryDatabase(context);
  await insertOrganizations(database);
  assert.deepEqual(await database.organizations.findById("org"), organizationRecord());
  assert.deepEqual(
    await database.organizations.findByOwnerEmail("owner@bakery.test"),
    organizationRecord(),
  );
  assert.deepEqual(await database.users.findById("user"), userRecord());
  assert.deepEqual(await database.users.findByEmail("owner@bakery.test"), userRecord());
});

test("an unknown organization or user is undefined", async (context) => {
  const { organizations, users } = await temporaryDatabase(context);
  assert.equal(await organizations.findById("org"), undefined);
  assert.equal(await organizations.findByOwnerEmail("owner@bakery.test"), undefined);
  assert.equal(await organizations.rename("org", "Bakers", NOON_MS), undefined);
  assert.equal(await organizations.setStatus("org", "active", NOON_MS), false);
  assert.equal(await organizations.setPlan("org", "plan", NOON_MS), false);
  assert.equal(await users.findById("user"), undefined);
  assert.equal(await users.findByEmail("owner@bakery.test"), undefined);
});

test("an e-mail address belongs to one user of all organizations, and a second organization is not stored either", async (context) => {
  const database = await temporaryDatabase(context);
  await insertOrganizations(database);
  await assert.rejects(
    database.organizations.insertWithOwner(
      organizationRecord({ id: "third" }),
      userRecord({ id: "third user", orgId: "third" }),
    ),
    (error: unknown) => {
      assert.ok(error instanceof UniqueViolationError);
      assert.equal(error.table, "users");
      assert.equal(error.columns, "email");
      assert.ok(!error.message.includes("bakery.test"), "no addresses in messages");
      return true;
    },
  );
  assert.equal(await database.organizations.findById("third"), undefined);
});

test("an organization needs a plan that exists", async (context) => {
  const database = await temporaryDatabase(context);
  await assert.rejects(
    database.organizations.insertWithOwner(organizationRecord(), userRecord()),
    ForeignKeyViolationError,
  );
  await insertOrganizations(database);
  await assert.rejects(
    database.organizations.setPlan("org", "no plan", NOON_MS),
    ForeignKeyViolationError,
  );
});

test("name, status and plan of an organization can be changed, each with the time", async (context) => {
  const database = await temporaryDatabase(context);
  const { organizations, plans } = database;
  await insertOrganizations(database);
  await plans.insertIfAbsent(planRecord({ id: "plan 2", slug: "pro" }));
  const renamed = organizationRecord({ name: "Bakers", updatedAtMs: NOON_MS + 1 });
  assert.deepEqual(await organizations.rename("org", "Bakers", NOON_MS + 1), renamed);
  assert.equal(await organizations.setStatus("org", "active", NOON_MS + 2), true);
  assert.equal(await organizations.setPlan("org", "plan 2", NOON_MS + 3), true);
  assert.deepEqual(await organizations.findById("org"), {
    ...renamed,
    status: "active",
    planId: "plan 2",
    updatedAtMs: NOON_MS + 3,
  });
});

test("organizations are listed in the order of their creation, with the slug of their plan", async (context) => {
  const database = await temporaryDatabase(context);
  await insertOrganizations(database);
  const listed = await database.organizations.list();
  assert.deepEqual(listed[0], { organization: organizationRecord(), planSlug: "free" });
  assert.deepEqual(
    listed.map(({ organization }) => organization.id),
    ["org", "other"],
  );
});

test("the organizations that may not call are listed", async (context) => {
  const database = await temporaryDatabase(context);
  await insertOrganizations(database);
  await database.organizations.setStatus("other", "active", NOON_MS);
  const pending = await database.organizations.listPending(["org", "other", "unknown"]);
  assert.deepEqual(pending, ["org"]);
});

test("only active organizations are counted", async (context) => {
  const database = await temporaryDatabase(context);
  await insertOrganizations(database);
  assert.equal(await database.organizations.countActive(), 0);
  await database.organizations.setStatus("other", "active", NOON_MS);
  assert.equal(await database.organizations.countActive(), 1);
});
