import assert from "node:assert/strict";
import { test } from "node:test";
import { findOrganizationWithPlan } from "../../../engine/tenancy/tenant.js";
import { openPlatform } from "./seeded-platform.js";

test("an organization comes with its plan, and an unknown one is not there", async (t) => {
  const platform = await openPlatform(t);
  const { database } = platform;
  const { organization } = await platform.tenantOn("pro");
  const found = await findOrganizationWithPlan(database, organization.id);
  assert.deepEqual([found?.organization, found?.plan.slug], [organization, "pro"]);
  assert.equal(await findOrganizationWithPlan(database, "nobody"), undefined);
});
