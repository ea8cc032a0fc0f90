import assert from "node:assert/strict";
import { test } from "node:test";
import type { AuditRecord } from "../../../storage/tenancy/audit-record.js";
import {
  agentRecord,
  insertOrganizations,
  insertProviders,
  NOON_MS,
  providerRecord,
} from "../sample-records.js";
import { temporaryDatabase } from "../temporary-file.js";

const ROOM = 10;
const ENTRY: AuditRecord = {
  id: "entry",
  orgId: "org",
  atMs: NOON_MS,
  actor: { type: "administrator", id: "root" },
  action: "provider.reseal",
  targetType: "provider",
  targetId: "provider",
  targetName: "Our models",
  changes: [],
};

test("the credentials of all providers are read page by page, without providers that have none", async (context) => {
  const database = await temporaryDatabase(context);
  const { providers, sealedCredentials } = database;
  await insertOrganizations(database);
  await providers.insertGlobalIfAbsent(providerRecord({ id: "global", name: "Global" }));
  await providers.insertOwned(
    providerRecord({ id: "none", name: "None", sealedCredentials: null }),
    ROOM,
  );
  await providers.insertOwned(providerRecord({ id: "own" }), ROOM);
  const [first, ...rest] = await sealedCredentials.page("provider", 0, 1);
  assert.ok(first);
  assert.deepEqual(rest, []);
  const { sequence, ...global } = first;
  assert.deepEqual(global, {
    owner: "provider",
    id: "global",
    orgId: null,
    name: "Global",
    sealed: "00:11:22",
  });
  const second = await sealedCredentials.page("provider", sequence, ROOM);
  assert.deepEqual(
    second.map(({ id }) => id),
    ["own"],
  );
  const sealedOf = async (id: string) =>
    (await sealedCredentials.find({ owner: "provider", id }))?.sealed;
  assert.equal(await sealedOf("own"), "00:11:22");
  assert.equal(await sealedOf("none"), undefined);
  assert.equal(await sealedOf("unknown"), undefined);
});

test("credentials are replaced only while they are the expected ones, and nothing else of the provider changes", async (context) => {
  const database = await temporaryDatabase(context);
  const { audit, providers, sealedCredentials } = database;
  await insertOrganizations(database);
  await providers.insertOwned(providerRecord(), ROOM);
  const stale = { owner: "provider", id: "provider", sealed: "stale" } as const;
  assert.equal(await sealedCredentials.replace(stale, "new", ENTRY), false);
  assert.deepEqual(await providers.findById("provider"), providerRecord());
  assert.deepEqual(await audit.listNewest(ROOM), []);
  const expected = { owner: "provider", id: "provider", sealed: "00:11:22" } as const;
  assert.equal(await sealedCredentials.replace(expected, "new", ENTRY), true);
  assert.deepEqual(
    await providers.findById("provider"),
    providerRecord({ sealedCredentials: "new" }),
  );
  assert.deepEqual(await audit.listNewest(ROOM), [ENTRY]);
});

test("the headers of agents' tools are credentials, too", async (context) => {
  const database = await temporaryDatabase(context);
  const { agents, sealedCredentials } = database;
  await insertProviders(database);
  const agent = agentRecord({ sealedToolHeaders: "33:44:55" });
  await agents.insert(agentRecord({ id: "none", sealedToolHeaders: null }), ROOM);
  await agents.insert(agent, ROOM);
  const [found, ...rest] = await sealedCredentials.page("agent", 0, ROOM);
  assert.deepEqual(rest, []);
  assert.ok(found);
  assert.deepEqual(
    [found.owner, found.id, found.orgId, found.name, found.sealed],
    ["agent", "agent", "org", "Front desk", "33:44:55"],
  );
  assert.equal(await sealedCredentials.replace({ ...found, sealed: "stale" }, "new", ENTRY), false);
  assert.equal(await sealedCredentials.replace(found, "new", ENTRY), true);
  assert.deepEqual(await agents.findById("org", "agent"), { ...agent, sealedToolHeaders: "new" });
  assert.deepEqual(await sealedCredentials.find(found), { ...found, sealed: "new" });
});

test("there is one key check, which is replaced only if it is the expected one", async (context) => {
  const { sealedCredentials } = await temporaryDatabase(context);
  assert.equal(await sealedCredentials.keyCheck(), undefined);
  assert.equal(await sealedCredentials.replaceKeyCheck("another", "first"), false);
  assert.equal(await sealedCredentials.replaceKeyCheck(undefined, "first"), true);
  assert.equal(await sealedCredentials.replaceKeyCheck(undefined, "late"), false);
  assert.equal(await sealedCredentials.keyCheck(), "first");
  assert.equal(await sealedCredentials.replaceKeyCheck("first", "second"), true);
  assert.equal(await sealedCredentials.replaceKeyCheck("first", "third"), false);
  assert.equal(await sealedCredentials.keyCheck(), "second");
});
