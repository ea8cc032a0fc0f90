import assert from "node:assert/strict";
import { test } from "node:test";
import { PhoneNumbers } from "../../../../engine/tenancy/agents/phone-numbers.js";
import { SERVER_ACTOR } from "../../../../engine/tenancy/audit-entry.js";
import { platformOfFile, refusal, type SeededPlatform } from "../seeded-platform.js";

const sharedPlatform = platformOfFile();

let lastNumber = 15_550_200_000;

function newNumber(): string {
  lastNumber += 1;
  return `+${lastNumber}`;
}

function numbersOf({ database, clock }: SeededPlatform): PhoneNumbers {
  const newId = () => crypto.randomUUID();
  return new PhoneNumbers({ database, clock, newId, administratorId: "root" });
}

test("a number belongs to one organization until it is revoked", async () => {
  const platform = await sharedPlatform();
  const numbers = numbersOf(platform);
  const [one, other] = [await platform.tenantOn("free"), await platform.tenantOn("free")];
  const [orgId, otherId] = [one.organization.id, other.organization.id];
  const number = newNumber();
  assert.equal(await numbers.isAllowed(orgId, number), false);

  const email = ` ${one.organization.ownerEmail.toUpperCase()}`;
  assert.equal((await numbers.allow(email, number)).isNew, true);
  assert.equal((await numbers.allow(email, number)).isNew, false);
  assert.equal(await numbers.isAllowed(orgId, number), true);
  assert.equal(await numbers.isAllowed(otherId, number), false, "another organization's number");
  assert.equal(await numbers.isAllowed(orgId, newNumber()), false, "an unknown number");

  const theirs = other.organization.ownerEmail;
  await assert.rejects(numbers.allow(theirs, number), refusal("number_taken"));
  assert.equal((await numbers.revoke(number)).id, orgId);
  assert.equal(await numbers.isAllowed(orgId, number), false);
  assert.equal((await numbers.allow(theirs, number)).isNew, true);
  assert.equal(await numbers.isAllowed(otherId, number), true);
});

test("an allowed number keeps its vendor until it is revoked", async () => {
  const platform = await sharedPlatform();
  const numbers = numbersOf(platform);
  const { organization } = await platform.tenantOn("free");
  const { ownerEmail } = organization;
  const number = newNumber();
  await numbers.allow(ownerEmail, number);
  await assert.rejects(numbers.allow(ownerEmail, number, "telnyx"), refusal("conflict"));
  await numbers.revoke(number);
  await numbers.allow(ownerEmail, number, "telnyx");
  assert.equal((await numbers.allow(ownerEmail, number, "telnyx")).isNew, false);
  assert.equal((await numbers.findCalled(number, "telnyx"))?.orgId, organization.id);
  assert.equal(await numbers.findCalled(number, "jambonz"), undefined);
});

test("digits without a plus are a number in E.164 only for vendors that write it so", async () => {
  const platform = await sharedPlatform();
  const numbers = numbersOf(platform);
  const { organization } = await platform.tenantOn("free");
  const number = newNumber();
  await numbers.allow(organization.ownerEmail, number);
  const digits = number.slice(1);
  for (const vendor of ["plivo", "vonage"]) {
    assert.equal((await numbers.findCalled(digits, vendor))?.number, number, vendor);
  }
  assert.equal(
    await numbers.findCalled(digits, "jambonz"),
    undefined,
    "it may be a national number",
  );
  await numbers.revoke(number);
  await numbers.allow(organization.ownerEmail, number, "jambonz");
  assert.equal((await numbers.findCalled(digits, "jambonz"))?.number, number);
});

test("the list contains the owner of each number", async () => {
  const platform = await sharedPlatform();
  const numbers = numbersOf(platform);
  const { organization } = await platform.tenantOn("free");
  const [first, second] = [newNumber(), newNumber()];
  await numbers.allow(organization.ownerEmail, second);
  await numbers.allow(organization.ownerEmail, first);
  const listed = (await numbers.list()).filter(({ orgId }) => orgId === organization.id);
  assert.deepEqual(
    listed.map(({ number, organization: { ownerEmail } }) => [number, ownerEmail]),
    [
      [first, organization.ownerEmail],
      [second, organization.ownerEmail],
    ],
  );
});

test("invalid numbers, unknown numbers and unknown e-mails are refused", async () => {
  const platform = await sharedPlatform();
  const numbers = numbersOf(platform);
  const { organization } = await platform.tenantOn("free");
  for (const wrong of ["15550100", "+0155501000", "+1555", "+1555010000000000", "sip:a", ""]) {
    await assert.rejects(numbers.allow(organization.ownerEmail, wrong), refusal("invalid_request"));
    await assert.rejects(numbers.revoke(wrong), refusal("invalid_request"));
  }
  await assert.rejects(numbers.revoke(newNumber()), refusal("not_found"));
  await assert.rejects(numbers.allow("nobody@example.com", newNumber()), refusal("not_found"));
});

test("allowing and revoking a number are audited without the number; a change of nothing is not audited", async () => {
  const platform = await sharedPlatform();
  const numbers = numbersOf(platform);
  const { organization } = await platform.tenantOn("free");
  const number = newNumber();
  await numbers.allow(organization.ownerEmail, number);
  await numbers.allow(organization.ownerEmail, number);
  await numbers.revoke(number);
  const { items } = await platform.database.audit.list(organization.id, { skip: 0, limit: 10 });
  const changes = items.filter(({ action }) => action.endsWith("Number")).reverse();
  assert.deepEqual(
    changes.map(({ action, actor }) => [action, actor.id]),
    [
      ["organization.allowNumber", "root"],
      ["organization.revokeNumber", "root"],
    ],
  );
  assert.ok(!JSON.stringify(items).includes(number));
});

test("the audit trail names the administrator who allowed a number, or the server if there is none", async () => {
  const platform = await sharedPlatform();
  const { organization } = await platform.tenantOn("free");
  const newId = () => crypto.randomUUID();
  const { database, clock } = platform;
  const ofServer = new PhoneNumbers({ database, clock, newId });
  await numbersOf(platform).allow(organization.ownerEmail, newNumber());
  await ofServer.allow(organization.ownerEmail, newNumber());
  const { items } = await platform.database.audit.list(organization.id, { skip: 0, limit: 10 });
  const actorIds = items
    .filter(({ action }) => action === "organization.allowNumber")
    .map(({ actor }) => actor.id);
  assert.deepEqual(actorIds.toSorted(), ["root", SERVER_ACTOR.id].toSorted());
});

test("an organization chooses which of its agents answers its number", async () => {
  const platform = await sharedPlatform();
  const numbers = numbersOf(platform);
  const [one, other] = [await platform.tenantOn("pro"), await platform.tenantOn("pro")];
  const number = newNumber();
  await numbers.allow(one.organization.ownerEmail, number, "telnyx");
  const agent = await platform.agents.create(one, await platform.agentInput());
  const foreign = await platform.agents.create(other, await platform.agentInput());
  const { agentId } = await numbers.assign(one, number, { agentId: agent.id });
  assert.equal(agentId, agent.id);
  const found = await numbers.findCalled(number.slice(1), "telnyx");
  assert.deepEqual([found?.orgId, found?.agentId], [one.organization.id, agent.id]);
  assert.equal(await numbers.findCalled(number, "twilio"), undefined, "another vendor's webhook");
  const [record] = await numbers.recordsOf(one.organization.id);
  assert.deepEqual([record?.vendor, record?.agentId], ["telnyx", agent.id]);
  await assert.rejects(
    numbers.assign(one, number, { agentId: foreign.id }),
    refusal("agent_not_found"),
  );
  await assert.rejects(
    numbers.assign(other, number, { agentId: foreign.id }),
    refusal("not_found"),
  );
  await assert.rejects(
    numbers.assign(one, newNumber(), { agentId: agent.id }),
    refusal("not_found"),
  );
  assert.equal((await numbers.assign(one, number, { agentId: null })).agentId, null);
});

test("a SIP address belongs to an organization, and no agent calls from it", async () => {
  const platform = await sharedPlatform();
  const numbers = numbersOf(platform);
  const { organization } = await platform.tenantOn("free");
  await numbers.allow(organization.ownerEmail, "sip:desk@Voice.example.com;transport=tls");
  const found = await numbers.findCalled("sip:desk@voice.example.com", "twilio");
  assert.equal(found?.orgId, organization.id);
  assert.deepEqual(await numbers.listOf(organization.id), []);
  await assert.rejects(
    numbers.allow(organization.ownerEmail, "15550002222"),
    refusal("invalid_request"),
  );
});
