import assert from "node:assert/strict";
import { test } from "node:test";
import { StorageStoppedError } from "../../../storage/statements/storage-error.js";
import { UniqueViolationError } from "../../../storage/statements/unique-violation.js";
import { askedDatabase } from "../nodes/asked-database.js";
import {
  agentRecord,
  insertOrganizations,
  insertProviders,
  NOON_MS,
  providerRecord,
} from "../sample-records.js";
import { temporaryDatabase } from "../temporary-file.js";

const ROOM = 10;

test("a provider is read back as it was written", async (context) => {
  const database = await temporaryDatabase(context);
  await insertOrganizations(database);
  const provider = providerRecord();
  assert.equal(await database.providers.insertOwned(provider, ROOM), true);
  assert.deepEqual(await database.providers.findById("provider"), provider);
  assert.equal(await database.providers.findById("nobody"), undefined);
});

test("a provider's latest test is kept until its credentials change, and not stored if they changed meanwhile", async (context) => {
  const database = await temporaryDatabase(context);
  const { providers } = database;
  await insertOrganizations(database);
  const { id, orgId, updatedAtMs } = providerRecord();
  await providers.insertOwned(providerRecord(), ROOM);
  const lastTest = { ok: false, latencyMs: 120, error: "it refused the key", atMs: NOON_MS };
  await providers.noteTest(id, lastTest, updatedAtMs - 1);
  assert.equal((await providers.findById(id))?.lastTest, undefined);
  await providers.noteTest(id, lastTest, updatedAtMs);
  assert.deepEqual(await providers.findById(id), { ...providerRecord(), lastTest });
  const renamed = await providers.update(id, orgId, { name: "Renamed" }, updatedAtMs + 1);
  assert.deepEqual(renamed?.lastTest, lastTest);
  const resealed = await providers.update(id, orgId, { sealedCredentials: "b" }, updatedAtMs + 2);
  assert.equal(resealed?.lastTest, undefined);
});

test("an existing global provider is not changed", async (context) => {
  const { providers } = await temporaryDatabase(context);
  const provider = providerRecord({ orgId: null, sealedCredentials: null });
  assert.equal(await providers.insertGlobalIfAbsent(provider), true);
  const again = { ...provider, id: "again", active: false };
  assert.equal(await providers.insertGlobalIfAbsent(again), false);
  assert.deepEqual(await providers.findMany(["again", "provider"]), [provider]);
});

test("the name of a provider is unique in its organization, category and vendor", async (context) => {
  const database = await temporaryDatabase(context);
  const { providers } = database;
  await insertOrganizations(database);
  await providers.insertOwned(providerRecord(), ROOM);
  await assert.rejects(
    providers.insertOwned(providerRecord({ id: "b" }), ROOM),
    (error: unknown) =>
      error instanceof UniqueViolationError &&
      error.table === "providers" &&
      error.columns === "orgId,category,providerKey,name",
  );
  for (const other of [
    { id: "c", orgId: "other" },
    { id: "d", category: "tts" },
    { id: "e", providerKey: "groq" },
    { id: "f", name: "More models" },
  ] as const) {
    assert.equal(await providers.insertOwned(providerRecord(other), ROOM), true, other.id);
  }
  assert.equal(await providers.insertGlobalIfAbsent(providerRecord({ id: "g" })), true);
});

test("if two providers are inserted concurrently with room for one, one is stored", async (context) => {
  const database = await temporaryDatabase(context);
  await insertOrganizations(database);
  const [first, second, elsewhere] = await Promise.all([
    database.providers.insertOwned(providerRecord({ id: "a", name: "A" }), 1),
    database.providers.insertOwned(providerRecord({ id: "b", name: "B" }), 1),
    database.providers.insertOwned(providerRecord({ id: "c", orgId: "other" }), 1),
  ]);
  // The database decides which of the two comes first.
  assert.notEqual(first, second);
  assert.equal(elsewhere, true);
});

test("an organization sees the global providers first, then its own, in the order of creation", async (context) => {
  const database = await temporaryDatabase(context);
  const { providers } = database;
  await insertOrganizations(database);
  await providers.insertOwned(providerRecord({ id: "own 2", createdAtMs: NOON_MS + 1 }), ROOM);
  await providers.insertOwned(providerRecord({ id: "own 1", name: "First" }), ROOM);
  await providers.insertOwned(providerRecord({ id: "theirs", orgId: "other" }), ROOM);
  await providers.insertGlobalIfAbsent(providerRecord({ id: "global" }));
  const visible = await providers.listVisible("org");
  assert.deepEqual(
    visible.map(({ id }) => id),
    ["global", "own 1", "own 2"],
  );
  assert.deepEqual(await providers.listOwned("org"), visible.slice(1));
});

test("many providers can be read at once; missing ids are left out", async (context) => {
  const database = await temporaryDatabase(context);
  await insertProviders(database);
  const found = await database.providers.findMany(["stt", "nobody", "llm"]);
  assert.deepEqual(
    found.map(({ id }) => id),
    ["llm", "stt"],
  );
  assert.deepEqual(await database.providers.findMany([]), []);
});

test("without ids there is no query", async () => {
  const { database, asked } = askedDatabase();
  assert.deepEqual(await database.providers.findMany([]), []);
  assert.deepEqual(await database.organizations.listPending([]), []);
  assert.deepEqual(asked, []);
});

test("active providers are counted by category", async (context) => {
  const database = await temporaryDatabase(context);
  assert.deepEqual(await database.providers.countActiveByCategory(), { llm: 0, tts: 0, stt: 0 });
  await insertProviders(database);
  await database.providers.insertOwned(providerRecord({ category: "tts" }), ROOM);
  await database.providers.update("stt", null, { active: false }, NOON_MS);
  assert.deepEqual(await database.providers.countActiveByCategory(), { llm: 1, tts: 2, stt: 0 });
});

test("an update changes the given fields, and returns the whole provider", async (context) => {
  const database = await temporaryDatabase(context);
  const { providers } = database;
  await insertOrganizations(database);
  await providers.insertOwned(providerRecord(), ROOM);
  const renamed = await providers.update("provider", "org", { name: "New" }, NOON_MS + 1);
  assert.deepEqual(renamed, providerRecord({ name: "New", updatedAtMs: NOON_MS + 1 }));
  const patch = {
    active: false,
    sealedCredentials: null,
    models: [{ modelId: "large", label: "Large", description: "Slow" }],
    settings: {},
  };
  const changed = await providers.update("provider", "org", patch, NOON_MS + 2);
  assert.deepEqual(changed, { ...renamed, ...patch, updatedAtMs: NOON_MS + 2 });
  assert.deepEqual(await providers.findById("provider"), changed);
});

test("a provider is updated only under its owner, and not to a name in use", async (context) => {
  const database = await temporaryDatabase(context);
  const { providers } = database;
  await insertProviders(database);
  await providers.insertOwned(providerRecord(), ROOM);
  await providers.insertOwned(providerRecord({ id: "b", name: "B" }), ROOM);
  assert.equal(await providers.update("provider", "other", { name: "X" }, NOON_MS), undefined);
  assert.equal(await providers.update("provider", null, { name: "X" }, NOON_MS), undefined);
  assert.equal(await providers.update("llm", "org", { name: "X" }, NOON_MS), undefined);
  assert.equal((await providers.update("llm", null, { name: "X" }, NOON_MS))?.name, "X");
  await assert.rejects(
    providers.update("b", "org", { name: "Our models" }, NOON_MS),
    UniqueViolationError,
  );
});

test("an owner is compared in a way that both databases support: null by another operator", async () => {
  const { database, asked } = askedDatabase();
  for (const orgId of ["org", null]) {
    await database.providers.update("provider", orgId, { name: "X" }, NOON_MS);
  }
  const [owned, global] = asked.map(([statement]) => statement?.sql ?? "");
  assert.match(owned ?? "", /"orgId" = \$\d/);
  assert.match(global ?? "", /"orgId" is null/);
});

test("a provider is removed only when no agent uses it", async (context) => {
  const database = await temporaryDatabase(context);
  const { providers, agents } = database;
  await insertProviders(database);
  await providers.insertOwned(providerRecord(), ROOM);
  await agents.insert(agentRecord({ llmProviderId: "provider" }), ROOM);
  assert.equal(await providers.removeUnused("provider", "org"), "inUse");
  await agents.remove("org", "agent");
  assert.equal(await providers.removeUnused("provider", "other"), "notFound");
  assert.equal(await providers.removeUnused("provider", "org"), "removed");
  assert.equal(await providers.removeUnused("provider", "org"), "notFound");
});

test("a removal that fails in storage is not reported as a provider in use", async (context) => {
  const database = await temporaryDatabase(context);
  await database.close();
  await assert.rejects(database.providers.removeUnused("provider", "org"), StorageStoppedError);
});

test("an agent that is created while its provider is removed keeps it, or is refused", async (context) => {
  const database = await temporaryDatabase(context);
  const { providers, agents } = database;
  await insertProviders(database);
  await providers.insertOwned(providerRecord(), ROOM);
  const agent = agentRecord({ llmProviderId: "provider" });
  // The database decides which of the two comes first.
  for (const isInsertedFirst of [true, false]) {
    const insert = () => agents.insert(agent, ROOM);
    const remove = () => providers.removeUnused("provider", "org");
    const outcomes = await Promise.allSettled(
      isInsertedFirst ? [insert(), remove()] : [remove(), insert()],
    );
    const [inserted, removed] = isInsertedFirst ? outcomes : outcomes.toReversed();
    const isKept = inserted?.status === "fulfilled";
    const value = isKept ? "inUse" : "removed";
    assert.deepEqual(removed, { status: "fulfilled", value });
    if (isKept) await agents.remove("org", "agent");
    else await providers.insertOwned(providerRecord(), ROOM);
  }
});
