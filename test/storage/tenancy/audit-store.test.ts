import assert from "node:assert/strict";
import { test } from "node:test";
import { Kysely } from "kysely";
import { Sqlite } from "../../../storage/sqlite/sqlite-library.js";
import { sqliteDialect } from "../../../storage/statements/statement-dialect.js";
import { UniqueViolationError } from "../../../storage/statements/unique-violation.js";
import type { Tables } from "../../../storage/tables.js";
import type { AuditRecord } from "../../../storage/tenancy/audit-record.js";
import { auditPage, auditPurge, auditTotal } from "../../../storage/tenancy/audit-store.js";
import {
  agentRecord,
  apiKeyRecord,
  insertOrganizations,
  insertProviders,
  NOON_MS,
  organizationRecord,
  providerRecord,
  userRecord,
} from "../sample-records.js";
import { temporaryThread } from "../sqlite/temporary-thread.js";
import { temporaryDatabase, temporaryFile } from "../temporary-file.js";

const ROOM = 10;

function auditRecord(fields: Partial<AuditRecord> = {}): AuditRecord {
  return {
    id: "entry",
    orgId: "org",
    atMs: NOON_MS,
    actor: { type: "user", id: "user" },
    action: "organization.rename",
    targetType: "organization",
    targetId: "org",
    targetName: "Bakery",
    changes: ["name", "persona.greeting"],
    ...fields,
  };
}

test("an entry is stored with its change and read back as it was written", async (context) => {
  const database = await temporaryDatabase(context);
  await insertOrganizations(database);
  await database.organizations.rename("org", "Bakers", NOON_MS, auditRecord());
  assert.deepEqual(await database.audit.list("org", { limit: 20, skip: 0 }), {
    items: [auditRecord()],
    total: 1,
  });
});

test("every change of a record can add an entry, and one that touches no row adds none", async (context) => {
  const database = await temporaryDatabase(context);
  const { agents, apiKeys, audit, organizations, providers } = database;
  await insertProviders(database);
  let count = 0;
  const entry = () => auditRecord({ id: `entry ${++count}` });
  const total = async () => (await audit.list("org", { limit: 1, skip: 0 })).total;
  const agent = agentRecord();
  const changes: readonly (() => Promise<unknown>)[] = [
    () => agents.insert(agent, 1, entry()),
    () => agents.update("org", "agent", agent, entry()),
    () => providers.insertOwned(providerRecord(), 1, entry()),
    () => providers.update("provider", "org", { name: "New" }, NOON_MS, entry()),
    () => apiKeys.insert(apiKeyRecord(), entry()),
    () => apiKeys.revoke("org", "key", NOON_MS, entry()),
    () => organizations.setStatus("org", "active", NOON_MS, entry()),
    () => organizations.setPlan("org", "plan", NOON_MS, entry()),
    () => agents.remove("org", "agent", entry()),
    () => providers.removeUnused("provider", "org", entry()),
  ];
  for (const [index, change] of changes.entries()) {
    await change();
    assert.equal(await total(), index + 1, String(change));
  }
  const nothing: readonly (() => Promise<unknown>)[] = [
    () => agents.insert(agent, 0, entry()),
    () => agents.update("other", "agent", agent, entry()),
    () => agents.remove("org", "agent", entry()),
    () => providers.insertOwned(providerRecord(), 0, entry()),
    () => providers.update("unknown", "org", { name: "New" }, NOON_MS, entry()),
    () => providers.removeUnused("provider", "org", entry()),
    () => apiKeys.revoke("org", "key", NOON_MS, entry()),
    () => apiKeys.revoke("org", "unknown", NOON_MS, entry()),
    () => organizations.rename("unknown", "Bakers", NOON_MS, entry()),
    () => organizations.setStatus("unknown", "active", NOON_MS, entry()),
  ];
  for (const change of nothing) {
    await change();
    assert.equal(await total(), changes.length, String(change));
  }
});

test("a refused change adds no entry, and a refused entry undoes its change", async (context) => {
  const database = await temporaryDatabase(context);
  const { audit, organizations } = database;
  await insertOrganizations(database);
  await organizations.rename("org", "Bakers", NOON_MS, auditRecord());
  await assert.rejects(
    organizations.insertWithOwner(
      organizationRecord({ id: "third" }),
      userRecord({ id: "third user", orgId: "third" }),
      auditRecord({ id: "of the third", orgId: "third" }),
    ),
    UniqueViolationError,
  );
  assert.deepEqual(await audit.listNewest(ROOM), [auditRecord()]);
  await assert.rejects(
    organizations.rename("org", "Lost", NOON_MS, auditRecord()),
    UniqueViolationError,
  );
  assert.equal((await organizations.findById("org"))?.name, "Bakers");
});

test("an organization's entries are listed newest first, page by page", async (context) => {
  const database = await temporaryDatabase(context);
  const { audit, organizations } = database;
  await insertOrganizations(database);
  for (const [id, orgId, atMs] of [
    ["a", "org", NOON_MS],
    ["b", "org", NOON_MS + 2],
    ["c", "other", NOON_MS + 3],
    ["d", "org", NOON_MS + 1],
    ["e", "org", NOON_MS + 2],
    ["f", null, NOON_MS],
  ] as const) {
    await organizations.rename("org", id, NOON_MS, auditRecord({ id, orgId, atMs }));
  }
  const idsOf = async (skip: number, limit: number) => {
    const { items, total } = await audit.list("org", { limit, skip });
    return [items.map(({ id }) => id).join(""), total];
  };
  assert.deepEqual(await idsOf(0, 20), ["ebda", 4]);
  assert.deepEqual(await idsOf(1, 2), ["bd", 4]);
  assert.deepEqual(await idsOf(4, 20), ["", 4]);
  assert.deepEqual(await audit.list("nobody", { limit: 20, skip: 0 }), { items: [], total: 0 });
  const newest = await audit.listNewest(4);
  assert.deepEqual(
    newest.map(({ id, orgId }) => [id, orgId]),
    [
      ["f", null],
      ["e", "org"],
      ["d", "org"],
      ["c", "other"],
    ],
  );
});

test("any number of old entries can be removed, and they are no longer counted", async (context) => {
  const filePath = temporaryFile();
  const database = await temporaryDatabase(context, filePath);
  await insertOrganizations(database);
  const file = new Sqlite(filePath);
  const entry = `insert into auditEntries (id, orgId, atMs, actorType, actorId, action, targetType, targetId, targetName, changes)
    values (?, 'org', ?, 'user', 'user', 'agent.create', 'agent', 'agent', 'Desk', '[]')`;
  const insert = file.prepare(entry);
  file.transaction(() => {
    for (let index = 0; index < 1_201; index += 1) insert.run(String(index), NOON_MS + index);
  })();
  file.close();
  assert.equal(await database.audit.purge(NOON_MS + 1_200), 1_200);
  const { items, total } = await database.audit.list("org", { limit: 20, skip: 0 });
  assert.deepEqual([items.map(({ id }) => id), total], [["1200"], 1]);
  assert.equal(await database.audit.purge(NOON_MS + 1_200), 0);
});

test("no entry can be rewritten, not even in the file", async (context) => {
  const filePath = temporaryFile();
  const database = await temporaryDatabase(context, filePath);
  await insertOrganizations(database);
  await database.organizations.rename("org", "Bakers", NOON_MS, auditRecord());
  const file = new Sqlite(filePath);
  assert.throws(
    () => file.exec("update auditEntries set actorId = 'somebody else'"),
    /an audit entry is never changed/,
  );
  file.close();
});

test("pages and the removal of old entries use an index, and no total counts rows", async (context) => {
  const client = await temporaryThread(context);
  const db = new Kysely<Tables>({ dialect: sqliteDialect(client) });
  const planOf = async (query: { compile(): { sql: string; parameters: readonly unknown[] } }) => {
    const { sql, parameters } = query.compile();
    const statement = { sql: `explain query plan ${sql}`, parameters };
    const [plan] = (await client.send([statement], false)) ?? [];
    return JSON.stringify(plan?.rows);
  };
  const page = await planOf(auditPage(db, "org", { limit: 20, skip: 1_000 }));
  assert.match(page, /SEARCH auditEntries USING INDEX auditEntriesInOrder \(orgId=\?\)/);
  assert.doesNotMatch(page, /TEMP B-TREE|SCAN/);
  assert.match(await planOf(auditTotal(db, "org")), /SEARCH auditTotals USING PRIMARY KEY/);
  const purge = await planOf(auditPurge(db, NOON_MS));
  assert.match(purge, /SEARCH auditEntries USING COVERING INDEX auditEntriesByAge \(atMs<\?\)/);
  assert.doesNotMatch(purge, /SCAN/);
});
