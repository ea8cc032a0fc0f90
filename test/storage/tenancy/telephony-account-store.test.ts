import assert from "node:assert/strict";
import { test } from "node:test";
import type { TelephonyAccountRecord } from "../../../storage/records.js";
import { UniqueViolationError } from "../../../storage/statements/unique-violation.js";
import type { AuditRecord } from "../../../storage/tenancy/audit-record.js";
import { insertOrganizations, NOON_MS } from "../sample-records.js";
import { temporaryDatabase } from "../temporary-file.js";

let entries = 0;

function entry(): AuditRecord {
  entries += 1;
  return {
    id: `account entry ${entries}`,
    orgId: "org",
    atMs: NOON_MS,
    actor: { type: "administrator", id: "server" },
    action: "telephonyAccount.create",
    targetType: "telephonyAccount",
    targetId: "account",
    targetName: "Our line",
    changes: [],
  };
}

function accountRecord(fields: Partial<TelephonyAccountRecord> = {}): TelephonyAccountRecord {
  return {
    id: "account",
    orgId: "org",
    vendor: "twilio",
    name: "Our line",
    settings: { accountSid: "AC1" },
    sealedCredentials: "sealed",
    createdAtMs: NOON_MS,
    updatedAtMs: NOON_MS,
    ...fields,
  };
}

test("an organization has one account at each vendor", async (context) => {
  const database = await temporaryDatabase(context);
  const { telephonyAccounts } = database;
  await insertOrganizations(database);
  const first = accountRecord();
  const second = accountRecord({ id: "second", vendor: "plivo", sealedCredentials: null });
  const theirs = accountRecord({ id: "theirs", orgId: "other" });
  for (const account of [first, second, theirs]) await telephonyAccounts.insert(account, entry());
  const again = telephonyAccounts.insert(accountRecord({ id: "again" }), entry());
  await assert.rejects(again, UniqueViolationError);
  assert.deepEqual(await telephonyAccounts.list("org"), [first, second]);
  assert.deepEqual(await telephonyAccounts.findById("theirs"), theirs);
  assert.deepEqual(await telephonyAccounts.findByVendor("other", "twilio"), theirs);
  assert.equal(await telephonyAccounts.findByVendor("other", "plivo"), undefined);
});

test("an account is changed only if it was not updated since it was read, and only by its organization", async (context) => {
  const database = await temporaryDatabase(context);
  const { telephonyAccounts } = database;
  await insertOrganizations(database);
  await telephonyAccounts.insert(accountRecord(), entry());
  const after = accountRecord({ name: "New", settings: {}, updatedAtMs: NOON_MS + 1 });
  const theirs = { ...after, orgId: "other" };
  assert.equal(await telephonyAccounts.update(theirs, NOON_MS, entry()), false);
  assert.equal(await telephonyAccounts.update(after, NOON_MS - 1, entry()), false);
  assert.equal(await telephonyAccounts.update(after, NOON_MS, entry()), true);
  assert.deepEqual(await telephonyAccounts.findById("account"), after);
});

test("removing an account removes the numbers imported from it, and no others", async (context) => {
  const database = await temporaryDatabase(context);
  const { telephonyAccounts, phoneNumbers } = database;
  await insertOrganizations(database);
  await telephonyAccounts.insert(accountRecord(), entry());
  const number = { orgId: "org", createdAtMs: NOON_MS, vendor: "twilio", agentId: null };
  const ours = { ...number, accountId: "account" };
  await phoneNumbers.insert({ ...ours, number: "+4930111", importedAtMs: NOON_MS });
  await phoneNumbers.insert({ ...ours, number: "+4930222", importedAtMs: null });
  assert.equal(await phoneNumbers.ownVendorOf("org", "+4930111"), "twilio");
  assert.equal(await phoneNumbers.ownVendorOf("other", "+4930111"), undefined);
  await telephonyAccounts.remove("other", "account", entry());
  assert.equal((await phoneNumbers.list()).length, 2);
  await telephonyAccounts.remove("org", "account", entry());
  assert.deepEqual(await phoneNumbers.list(), [
    { ...number, number: "+4930222", accountId: null, importedAtMs: null },
  ]);
  assert.equal(await phoneNumbers.ownVendorOf("org", "+4930222"), undefined);
  assert.equal(await telephonyAccounts.findById("account"), undefined);
});

test("a number cannot get an account that was removed, or is another organization's", async (context) => {
  const database = await temporaryDatabase(context);
  const { telephonyAccounts, phoneNumbers } = database;
  await insertOrganizations(database);
  await telephonyAccounts.insert(accountRecord({ orgId: "other" }), entry());
  const [number, orgId, agentId] = ["+4930111", "org", null];
  const ours = { number, orgId, createdAtMs: NOON_MS, vendor: "twilio", agentId };
  const imported = { ...ours, importedAtMs: NOON_MS };
  for (const accountId of ["gone", "account"]) {
    assert.equal(await phoneNumbers.insert({ ...imported, accountId }), false);
  }
  assert.deepEqual(await phoneNumbers.list(), []);
  const operators = { ...ours, accountId: null, importedAtMs: null };
  assert.equal(await phoneNumbers.insert(operators), true);
  for (const accountId of ["gone", "account"]) {
    assert.equal(await phoneNumbers.update({ number, orgId, agentId, accountId }), false);
  }
  assert.deepEqual(await phoneNumbers.list(), [operators]);
});
