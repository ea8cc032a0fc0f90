import assert from "node:assert/strict";
import { test } from "node:test";
import { accessRefusal, findOrganizationWithPlan } from "../../../engine/tenancy/tenant.js";
import { organizationRecord } from "../../storage/sample-records.js";
import { TENANT } from "./sample-tenant.js";
import { openPlatform } from "./seeded-platform.js";

test("an organization is found with its plan, and an unknown one is undefined", async (t) => {
  const platform = await openPlatform(t);
  const { database } = platform;
  const { organization } = await platform.tenantOn("pro");
  const found = await findOrganizationWithPlan(database, organization.id);
  assert.deepEqual([found?.organization, found?.plan.slug], [organization, "pro"]);
  assert.equal(await findOrganizationWithPlan(database, "nobody"), undefined);
});

test("a tenant may do what the scopes of its key allow, once its organization is active", () => {
  const voice = { ...TENANT, scopes: ["voice"] } as const;
  assert.equal(accessRefusal(TENANT, "dashboard"), undefined);
  assert.equal(accessRefusal(voice, "voice"), undefined);
  const lacking = accessRefusal(voice, "dashboard");
  assert.deepEqual(
    [lacking?.code, lacking?.message],
    ["scope_missing", 'the API key lacks the scope "dashboard"'],
  );
  const pending = { ...voice, organization: organizationRecord({ status: "pending" }) };
  for (const scope of ["voice", "dashboard"] as const) {
    const refused = accessRefusal(pending, scope);
    assert.deepEqual(
      [refused?.code, refused?.message],
      ["organization_pending", "the organization is pending: it has not been activated yet"],
    );
  }
});
