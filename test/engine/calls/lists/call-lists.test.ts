import assert from "node:assert/strict";
import { test } from "node:test";
import {
  CALL_LISTS_MAX,
  CallLists,
  type NewCallList,
} from "../../../../engine/calls/lists/call-lists.js";
import { platformOfFile } from "../../tenancy/seeded-platform.js";

const sharedPlatform = platformOfFile();

async function organizationWithLists() {
  const platform = await sharedPlatform();
  const tenant = await platform.tenantOn("pro");
  const agent = await platform.agents.create(tenant, await platform.agentInput());
  const lists = new CallLists(platform);
  const input: NewCallList = {
    name: "Reminders",
    agentId: agent.id,
    from: "+15550109999",
    detectMachine: true,
    callsMax: 2,
    windows: [{ days: ["mon"], from: "09:00", to: "20:00" }],
    retries: {},
    people: { csv: "to,firstName\n+4930123456,Ada\n+4930123457,Ben\n" },
  };
  return { platform, tenant, lists, input, orgId: tenant.organization.id };
}

test("a list is uploaded, started, paused, resumed and cancelled, and each change is in the audit trail", async () => {
  const { platform, tenant, lists, input, orgId } = await organizationWithLists();
  const { id, state, counts } = await lists.create(tenant, input);
  assert.deepEqual([state, counts.waiting], ["ready", 2]);
  await assert.rejects(lists.change(tenant, id, "resume"), {
    code: "conflict",
    message: "the list is ready; to resume it, it has to be paused",
  });
  for (const [action, next] of [
    ["start", "running"],
    ["pause", "paused"],
    ["resume", "running"],
    ["cancel", "cancelled"],
  ] as const) {
    assert.equal((await lists.change(tenant, id, action)).state, next);
  }
  await lists.remove(tenant, id);
  assert.deepEqual(await lists.list(orgId), []);
  const { items } = await platform.database.audit.list(orgId, { skip: 0, limit: 6 });
  assert.deepEqual(
    items.map(({ action, targetName }) => [action, targetName]),
    ["delete", "cancel", "resume", "pause", "start", "create"].map((action) => [
      `callList.${action}`,
      "Reminders",
    ]),
  );
});

test("a list with a wrong row, or of an agent that does not exist, is not stored at all", async () => {
  const { tenant, lists, input, orgId } = await organizationWithLists();
  const people = { csv: "to\n+4930123456\nnobody\n" };
  await assert.rejects(lists.create(tenant, { ...input, people }), { code: "invalid_request" });
  const other = { ...input, agentId: "another organization's" };
  await assert.rejects(lists.create(tenant, other), { code: "agent_not_found" });
  assert.deepEqual(await lists.list(orgId), []);
});

test("an organization can have a limited number of lists", async () => {
  const { tenant, lists, input, orgId } = await organizationWithLists();
  for (let count = 0; count < CALL_LISTS_MAX; count += 1) await lists.create(tenant, input);
  await assert.rejects(lists.create(tenant, input), {
    code: "limit_reached",
    message: `an organization can have ${CALL_LISTS_MAX} call lists: delete one that is over`,
  });
  assert.equal((await lists.list(orgId)).length, CALL_LISTS_MAX);
});

test("another organization finds neither a list nor its people", async () => {
  const { tenant, lists, input } = await organizationWithLists();
  const { id } = await lists.create(tenant, input);
  const stranger = await organizationWithLists();
  const { orgId } = stranger;
  const missing = { code: "not_found" };
  await assert.rejects(lists.get(orgId, id), missing);
  await assert.rejects(lists.change(stranger.tenant, id, "start"), missing);
  await assert.rejects(lists.remove(stranger.tenant, id), missing);
  await assert.rejects(lists.rows(orgId, id, { after: 0, limit: 9 }), missing);
  await assert.rejects(lists.results(orgId, id), missing);
});

test("people are read in pages, and the results are a file with a line for each", async () => {
  const { tenant, lists, input, orgId } = await organizationWithLists();
  const numbers = Array.from({ length: 501 }, (_, index) => `+4930${1_000_000 + index}`);
  const people = { csv: `to\n${numbers.join("\n")}\n` };
  const { id } = await lists.create(tenant, { ...input, people });
  const first = await lists.rows(orgId, id, { after: 0, limit: 500 });
  assert.deepEqual([first.rows.length, first.next], [500, 500]);
  const rest = await lists.rows(orgId, id, { after: 500, limit: 500 });
  assert.deepEqual(
    [rest.rows.map(({ number }) => number), rest.next],
    [numbers.slice(500), undefined],
  );
  const none = await lists.rows(orgId, id, { after: 0, limit: 9, state: "failed" });
  assert.deepEqual(none, { rows: [], next: undefined });
  const lines = (await lists.results(orgId, id)).toString().split("\r\n");
  assert.equal(lines.length, 503);
  assert.deepEqual(lines.slice(0, 2), [
    "position,to,state,reason,attempts,lastCallId,lastCalledAt",
    `1,'${numbers[0]},waiting,"",0,,`,
  ]);
});

test("results have the variables of the people, and nothing that a spreadsheet takes for a formula", async () => {
  const { tenant, lists, input, orgId } = await organizationWithLists();
  const csv = 'to,firstName,note\n+4930123456,Ada,"=1+1"\n+4930123457,,"say ""hi"", twice"\n';
  const { id } = await lists.create(tenant, { ...input, people: { csv } });
  assert.deepEqual((await lists.results(orgId, id)).toString().split("\r\n"), [
    "position,to,state,reason,attempts,lastCallId,lastCalledAt,firstName,note",
    `1,'+4930123456,waiting,"",0,,,"Ada","'=1+1"`,
    `2,'+4930123457,waiting,"",0,,,"","say ""hi"", twice"`,
    "",
  ]);
});
