import assert from "node:assert/strict";
import { test } from "node:test";
import { DO_NOT_CALL_MAX, DoNotCall } from "../../../../engine/tenancy/agents/do-not-call.js";
import { platformOfFile } from "../seeded-platform.js";

const sharedPlatform = platformOfFile();

async function organizationWithList() {
  const platform = await sharedPlatform();
  const list = new DoNotCall(platform);
  return { list, tenant: await platform.tenantOn("pro") };
}

test("a number is on the list of the organization that added it, until that removes it", async () => {
  const { list, tenant } = await organizationWithList();
  const stranger = await organizationWithList();
  const number = "+15550101000";
  const has = () => list.has(tenant.organization.id, number);
  assert.equal(await list.add(tenant, [number, number], "asked by mail"), 1);
  assert.deepEqual(
    [await has(), await list.has(stranger.tenant.organization.id, number)],
    [true, false],
  );
  await assert.rejects(list.remove(stranger.tenant, number), { code: "not_found" });
  await list.remove(tenant, number);
  assert.equal(await has(), false);
  await assert.rejects(list.remove(tenant, number), { code: "not_found" });
});

test("the list is read in pages, and a number that is added again keeps its note", async () => {
  const { list, tenant } = await organizationWithList();
  const numbers = ["+15550101003", "+15550101001", "+15550101002"];
  assert.equal(await list.add(tenant, numbers, "bought list"), 3);
  assert.equal(await list.add(tenant, ["+15550101001", "+15550101004"], null), 4);
  const first = await list.list(tenant, "", 3);
  assert.deepEqual(
    first.numbers.map(({ number, note }) => [number, note]),
    [
      ["+15550101001", "bought list"],
      ["+15550101002", "bought list"],
      ["+15550101003", "bought list"],
    ],
  );
  const rest = await list.list(tenant, first.next ?? "", 3);
  assert.deepEqual(
    [rest.numbers.map(({ number }) => number), rest.next],
    [["+15550101004"], undefined],
  );
});

test("a full list takes no new numbers, and those that it has again", async (context) => {
  const { list, tenant } = await organizationWithList();
  await list.add(tenant, ["+15550101009"], null);
  const platform = await sharedPlatform();
  context.mock.method(platform.database.doNotCallNumbers, "count", async () => DO_NOT_CALL_MAX);
  const refused = { code: "limit_reached", message: /200000 numbers at most/ };
  await assert.rejects(list.add(tenant, ["+15550101000"], null), refused);
  assert.equal(await list.has(tenant.organization.id, "+15550101000"), false);
  assert.equal(await list.add(tenant, ["+15550101009"], null), DO_NOT_CALL_MAX);
});
