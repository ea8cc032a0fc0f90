import assert from "node:assert/strict";
import { test } from "node:test";
import { UniqueViolationError } from "../../../storage/statements/unique-violation.js";
import { apiKeyRecord, insertOrganizations, NOON_MS } from "../sample-records.js";
import { temporaryDatabase } from "../temporary-file.js";

test("a key is found by its hash, which no other key may have", async (context) => {
  const database = await temporaryDatabase(context);
  await insertOrganizations(database);
  await database.apiKeys.insert(apiKeyRecord());
  assert.deepEqual(await database.apiKeys.findByHash("abcd"), apiKeyRecord());
  assert.equal(await database.apiKeys.findByHash("ABCD"), undefined);
  await assert.rejects(
    database.apiKeys.insert(apiKeyRecord({ id: "b", orgId: "other" })),
    (error: unknown) => error instanceof UniqueViolationError && error.columns === "keyHash",
  );
});

test("the keys of an organization are listed newest first, including revoked ones", async (context) => {
  const database = await temporaryDatabase(context);
  const { apiKeys } = database;
  await insertOrganizations(database);
  await apiKeys.insert(apiKeyRecord({ id: "a", keyHash: "a", createdAtMs: NOON_MS + 1 }));
  await apiKeys.insert(apiKeyRecord({ id: "b", keyHash: "b" }));
  await apiKeys.insert(apiKeyRecord({ id: "c", keyHash: "c" }));
  await apiKeys.insert(apiKeyRecord({ id: "d", keyHash: "d", orgId: "other" }));
  await apiKeys.revoke("org", "b", NOON_MS + 9);
  assert.deepEqual(
    (await apiKeys.list("org")).map(({ id, revokedAtMs }) => [id, revokedAtMs]),
    [
      ["a", null],
      ["c", null],
      ["b", NOON_MS + 9],
    ],
  );
});

test("a key is revoked by its own organization, and the first time counts", async (context) => {
  const database = await temporaryDatabase(context);
  const { apiKeys } = database;
  await insertOrganizations(database);
  await apiKeys.insert(apiKeyRecord());
  assert.equal(await apiKeys.revoke("other", "key", NOON_MS + 1), false);
  assert.equal(await apiKeys.revoke("org", "key", NOON_MS + 2), true);
  assert.equal(await apiKeys.revoke("org", "key", NOON_MS + 3), true);
  assert.equal((await apiKeys.findByHash("abcd"))?.revokedAtMs, NOON_MS + 2);
});

test("the last use of a key is stored", async (context) => {
  const database = await temporaryDatabase(context);
  await insertOrganizations(database);
  await database.apiKeys.insert(apiKeyRecord());
  await database.apiKeys.touch("key", NOON_MS + 7);
  assert.equal((await database.apiKeys.findByHash("abcd"))?.lastUsedAtMs, NOON_MS + 7);
});

test("a key is found by its id only in its own organization", async (context) => {
  const database = await temporaryDatabase(context);
  await insertOrganizations(database);
  await database.apiKeys.insert(apiKeyRecord());
  assert.deepEqual(await database.apiKeys.findById("org", "key"), apiKeyRecord());
  assert.equal(await database.apiKeys.findById("other", "key"), undefined);
});
