import assert from "node:assert/strict";
import { test } from "node:test";
import * as v from "valibot";
import { PostgresCluster } from "../../bench/stand/postgres-cluster.js";
import type { CallEnd } from "../../storage/calls/call-store.js";
import { openDatabase } from "../../storage/database.js";
import { checkPostgres } from "../../storage/postgres/postgres-check.js";
import { openSqliteFile } from "../../storage/sqlite/sqlite-file.js";
import type { AuditRecord } from "../../storage/tenancy/audit-record.js";
import { makeOldDatabase, rowsOf } from "../storage/postgres/old-database.js";
import {
  agentRecord,
  apiKeyRecord,
  callRecord,
  insertOrganizations,
  insertProviders,
  METRICS,
  NOON_MS,
  registryRecord,
  usageRecord,
  userRecord,
} from "../storage/sample-records.js";
import { releasedAgentToday, releasedDump } from "../storage/schema/releases.js";
import { postgresShape, sqliteShape } from "../storage/schema/schema-shape.js";
import { temporaryFile } from "../storage/temporary-file.js";

const cluster = await PostgresCluster.start();
/** Those of the first release with PostgreSQL. */
const FIRST_MIGRATIONS = 2;
const Origins = v.array(
  v.looseObject({ orgId: v.nullable(v.string()), origin: v.nullable(v.string()) }),
);
const NEW_TABLES = new Set(["nodes", "nodeRuns", "callSlots", "onceTokens", "commitMarks"]);

const CREATED: AuditRecord = {
  id: "entry",
  orgId: "org",
  atMs: NOON_MS,
  actor: { type: "administrator", id: "user" },
  action: "agent.create",
  targetType: "agent",
  targetId: "agent",
  targetName: "Front desk",
  changes: [],
};
const END: CallEnd = {
  status: "completed",
  endedAtMs: NOON_MS + 90_000,
  durationSec: 90.1,
  metrics: METRICS,
  metadata: { endReason: "callerLeft" },
  messages: [{ role: "user", text: "¿Sí?", timestamp: NOON_MS }],
  turn: { index: 0 },
  usage: usageRecord(),
};

async function shapeAt(url: string) {
  return postgresShape((sql) => cluster.query(sql, url));
}

/** What an upgrade has added is left out. */
function onlyOf(columns: readonly string[], rows: readonly unknown[] = []): readonly object[] {
  return v
    .parse(v.array(v.looseObject({})), rows)
    .map((row) => Object.fromEntries(columns.map((column) => [column, row[column]])));
}

/** The order of `rowsOf` follows the names of columns, which an upgrade may change. */
function byText(rows: readonly object[]): readonly object[] {
  return rows.toSorted((one, other) => JSON.stringify(one).localeCompare(JSON.stringify(other)));
}

async function newDatabase(): Promise<string> {
  const url = await cluster.makeDatabase();
  await (await openDatabase({ filePath: temporaryFile(), url })).close();
  return url;
}

test("both databases have the same tables: columns, nullability, defaults, indexes, unique rules, keys", async () => {
  const file = await openSqliteFile(temporaryFile());
  const here = sqliteShape(file);
  file.close();
  assert.ok(here.length > 200, `${here.length} lines`);
  assert.deepEqual(await shapeAt(await newDatabase()), here);
});

test("a database that main of f0d55b19 made is brought up to date, and has the same rows", async () => {
  const url = await cluster.makeDatabase();
  await cluster.query(releasedDump(), url);
  const { counts } = await checkPostgres(url);
  const tables = counts.map(({ table }) => table).filter((table) => !/^kysely|^schema/.test(table));
  const before = await rowsOf(url, tables);
  const database = await openDatabase({ filePath: temporaryFile(), url });
  const after = await rowsOf(url, tables);
  assert.equal(before["agents"]?.length, 2);
  const expected = { ...before, agents: before["agents"]?.map(releasedAgentToday) ?? [] };
  for (const [table, rows] of Object.entries(expected)) {
    const columns = Object.keys(v.parse(v.looseObject({}), rows[0] ?? {}));
    assert.deepEqual(byText(onlyOf(columns, after[table])), byText(onlyOf(columns, rows)), table);
  }
  const origins = v.parse(Origins, after["providers"]);
  assert.ok(origins.every(({ orgId, origin }) => (orgId === null) === (origin === "environment")));
  assert.deepEqual(await shapeAt(url), await shapeAt(await newDatabase()));
  assert.deepEqual((await checkPostgres(url)).findings, []);
  const call = await database.calls.findById("org", "one");
  assert.deepEqual(
    call?.transcript.map(({ text }) => text),
    ["¿Sí?"],
  );
  assert.equal((await database.agents.list("org")).length, 1);
  await database.close();
});

test("a database of an earlier schema gets today's", async () => {
  const expected = await shapeAt(await newDatabase());
  for (const count of [2, 5, 8]) {
    const url = await cluster.makeDatabase();
    await makeOldDatabase(url, url, count);
    await (await openDatabase({ filePath: temporaryFile(), url })).close();
    assert.deepEqual(await shapeAt(url), expected, `${count} migrations`);
  }
});

test("a filled database of an older release is brought up to date with all that is in it", async () => {
  const [todaysUrl, oldUrl] = [await cluster.makeDatabase(), await cluster.makeDatabase()];
  const today = await openDatabase({ filePath: temporaryFile(), url: todaysUrl });
  await insertProviders(today);
  await today.registry.put(registryRecord());
  await today.agents.insert(agentRecord(), 5, CREATED);
  await today.apiKeys.insert(apiKeyRecord());
  for (const id of ["one", "two"]) await today.calls.start(callRecord({ id }), "run");
  await today.calls.finish("one", END);
  await today.recordings.start({ callId: "one", orgId: "org" }, NOON_MS);
  const said = [{ role: "user", content: "¿Sí?" }] as const;
  await today.history.replace({ orgId: "org", key: "key" }, [], said, NOON_MS);
  await today.calls.heartbeat("run", NOON_MS);
  await makeOldDatabase(todaysUrl, oldUrl, FIRST_MIGRATIONS);

  const upgraded = await openDatabase({ filePath: temporaryFile(), url: oldUrl });
  const { counts, findings } = await checkPostgres(oldUrl);
  assert.deepEqual(findings, []);
  const tables = counts
    .map(({ table }) => table)
    .filter((table) => !table.startsWith("kysely_") && !NEW_TABLES.has(table));
  // What has a default since then may be written otherwise, and is read as the same.
  const asTheyAre = tables.filter((table) => table !== "agents");
  assert.deepEqual(await rowsOf(oldUrl, asTheyAre), await rowsOf(todaysUrl, asTheyAre));
  assert.deepEqual(await upgraded.agents.list("org"), await today.agents.list("org"));
  assert.deepEqual(
    await upgraded.calls.findById("org", "one"),
    await today.calls.findById("org", "one"),
  );
  // It is written like any other.
  await upgraded.calls.finish("two", END);
  await upgraded.agents.insert(agentRecord({ id: "second" }), 5, { ...CREATED, id: "entry 2" });
  await upgraded.users.insert(
    userRecord({ id: "member", email: "member@bakery.test", role: "member" }),
    { ...CREATED, id: "entry 3", action: "member.create", targetType: "member" },
  );
  assert.deepEqual((await checkPostgres(oldUrl)).findings, []);
  await Promise.all([today.close(), upgraded.close()]);
});

test("a unix socket is an address like any other", async (context) => {
  const url = new URL(await cluster.makeDatabase());
  const { rows } = await cluster.query("show unix_socket_directories");
  const folder = String(rows[0]?.unix_socket_directories);
  const socketUrl = `postgres://${url.pathname}?host=${encodeURIComponent(folder)}&port=${url.port}&user=${url.username}`;
  const database = await openDatabase({ filePath: temporaryFile(), url: socketUrl });
  context.after(() => database.close());
  await insertOrganizations(database);
});

test("a user who may not create tables in the schema public learns what its owner has to do", async (context) => {
  const url = new URL(await cluster.makeDatabase());
  await cluster.query("create role guest login", url.href);
  context.after(() => cluster.query("drop role guest"));
  url.username = "guest";
  await assert.rejects(
    openDatabase({ filePath: temporaryFile(), url: url.href }),
    /permission denied for schema public.*GRANT USAGE, CREATE ON SCHEMA public/,
  );
});
