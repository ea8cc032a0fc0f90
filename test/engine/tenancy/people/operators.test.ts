import assert from "node:assert/strict";
import { test } from "node:test";
import { Operators } from "../../../../engine/tenancy/people/operators.js";
import { openPlatform, refusal } from "../seeded-platform.js";

test("any user can become an operator, once, and the organization's audit trail records it", async (t) => {
  const platform = await openPlatform(t);
  const { database, clock, newId } = platform;
  const { organization, userId } = await platform.tenantOn("free");
  const administrator = { type: "administrator", id: "root" } as const;
  const operators = new Operators({ database, clock, newId, administrator });
  const email = organization.ownerEmail.toUpperCase();
  const listed = async () => (await operators.list()).map(({ id }) => id);
  assert.deepEqual([await operators.revoke(email), await listed()], [false, []]);
  assert.deepEqual([await operators.grant(email), await listed()], [true, [userId]]);
  assert.equal(await operators.grant(email), false, "the user is an operator already");
  clock.advance(1_000);
  assert.deepEqual([await operators.revoke(email), await listed()], [true, []]);
  await assert.rejects(operators.grant("nobody@example.com"), refusal("not_found"));
  const { items } = await database.audit.list(organization.id, { skip: 0, limit: 10 });
  assert.deepEqual(
    items.map(({ actor, action, targetId }) => [actor, action, targetId]),
    ["organization.revokeOperator", "organization.grantOperator"].map((action) => [
      administrator,
      action,
      organization.id,
    ]),
  );
});
