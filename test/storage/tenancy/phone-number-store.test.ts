import assert from "node:assert/strict";
import { test } from "node:test";
import { UniqueViolationError } from "../../../storage/statements/unique-violation.js";
import { insertOrganizations, NOON_MS } from "../sample-records.js";
import { temporaryDatabase } from "../temporary-file.js";

const UNASSIGNED = { vendor: null, agentId: null, accountId: null, importedAtMs: null };
const FIRST = { number: "+4930111", orgId: "org", createdAtMs: NOON_MS + 1, ...UNASSIGNED };
const SECOND = { number: "+4930222", orgId: "other", createdAtMs: NOON_MS, ...UNASSIGNED };

test("a number belongs to one organization, and is listed with those of the others", async (context) => {
  const database = await temporaryDatabase(context);
  const { phoneNumbers } = database;
  await insertOrganizations(database);
  await phoneNumbers.insert(SECOND);
  await phoneNumbers.insert(FIRST);
  await assert.rejects(phoneNumbers.insert({ ...FIRST, orgId: "other" }), UniqueViolationError);
  assert.deepEqual(await phoneNumbers.list(), [FIRST, SECOND]);
  assert.deepEqual(await phoneNumbers.find("+4930111"), FIRST);
  assert.equal(await phoneNumbers.find("+4930333"), undefined);
  const owners = ["org", "other"].map((orgId) => phoneNumbers.belongsTo(orgId, "+4930111"));
  assert.deepEqual(await Promise.all(owners), [true, false]);
});

test("a number is removed from the organization that has it, and from no other", async (context) => {
  const database = await temporaryDatabase(context);
  const { phoneNumbers } = database;
  await insertOrganizations(database);
  await phoneNumbers.insert(FIRST);
  await phoneNumbers.remove("other", "+4930111");
  assert.deepEqual(await phoneNumbers.list(), [FIRST]);
  await phoneNumbers.remove("org", "+4930111");
  assert.deepEqual(await phoneNumbers.list(), []);
});

test("a number has the agent that its organization has chosen, as long as that agent exists", async (context) => {
  const database = await temporaryDatabase(context);
  const { phoneNumbers, agents } = database;
  await insertOrganizations(database);
  await phoneNumbers.insert(FIRST);
  const { number } = FIRST;
  const chosen = { number, agentId: "agent", accountId: null };
  assert.equal(await phoneNumbers.update({ ...chosen, orgId: "other" }), false);
  assert.equal(await phoneNumbers.update({ ...chosen, orgId: "org" }), true);
  assert.equal((await phoneNumbers.find(number))?.agentId, "agent");
  await agents.remove("other", "agent");
  assert.equal((await phoneNumbers.find(number))?.agentId, "agent");
  await agents.remove("org", "agent");
  assert.equal((await phoneNumbers.find(number))?.agentId, null);
});
