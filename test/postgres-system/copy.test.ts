import assert from "node:assert/strict";
import { dirname } from "node:path";
import { type TestContext, test } from "node:test";
import { adminCommand } from "../../api/commands/admin-command.js";
import { backupCommand } from "../../api/commands/backup-command.js";
import { PostgresCluster } from "../../bench/stand/postgres-cluster.js";
import { openDatabase } from "../../storage/database.js";
import { ran } from "../api/commands/recording-terminal.js";
import {
  agentRecord,
  apiKeyRecord,
  callRecord,
  insertProviders,
  METRICS,
  NOON_MS,
  organizationRecord,
  planRecord,
  registryRecord,
  usageRecord,
  userRecord,
} from "../storage/sample-records.js";
import { createDatabaseFile, temporaryFile } from "../storage/temporary-file.js";

const cluster = await PostgresCluster.start();
const CALLS = 2_500;

/** A file with a little of everything, and more calls than go at once. */
async function filledFile(): Promise<string> {
  const filePath = temporaryFile();
  await createDatabaseFile(filePath);
  const database = await openDatabase({ filePath });
  await insertProviders(database);
  await database.registry.put(registryRecord());
  await database.agents.insert(agentRecord(), 5);
  await database.apiKeys.insert(apiKeyRecord());
  await database.phoneNumbers.insert({
    number: "+15550100",
    orgId: "org",
    createdAtMs: NOON_MS,
    vendor: null,
    agentId: null,
    accountId: null,
    importedAtMs: null,
  });
  const calls = Array.from({ length: CALLS }, (_, index) => callRecord({ id: `call ${index}` }));
  await Promise.all(calls.map((call) => database.calls.start(call, "run")));
  await database.calls.finish("call 1", {
    status: "completed",
    endedAtMs: NOON_MS + 90_000,
    durationSec: 90.1,
    metrics: METRICS,
    metadata: { note: "a\u0000b" },
    messages: [{ role: "user", text: "¿Sí? \u0000\u001a0", timestamp: NOON_MS }],
    turn: { index: 0 },
    usage: usageRecord(),
  });
  const kept = [{ role: "user", content: "Open today?" }] as const;
  await database.history.replace({ orgId: "org", key: "key" }, [], kept, NOON_MS);
  await database.calls.heartbeat("run", NOON_MS);
  await database.close();
  return filePath;
}

function adminOn(filePath: string, databaseUrl?: string) {
  return (...args: readonly string[]) =>
    ran(
      adminCommand(() => ({ dataDir: dirname(filePath), databaseUrl, port: 0 })),
      ...args,
    );
}

async function openBoth(context: TestContext, filePath: string, url: string) {
  const file = await openDatabase({ filePath });
  const copy = await openDatabase({ filePath, url });
  context.after(() => Promise.all([file.close(), copy.close()]));
  return { file, copy };
}

test("an installation moves to PostgreSQL, repeatably while no server runs there", async (context) => {
  const filePath = await filledFile();
  const url = await cluster.makeDatabase();
  const admin = adminOn(filePath);
  for (const attempt of ["first", "second"]) {
    const { exitCode, output, errors } = await admin("copy", "--to", url);
    assert.equal(errors, "", attempt);
    assert.equal(exitCode, 0);
    assert.match(output, /calls +2500/);
    assert.match(output, /row counts and sums of every table match/);
    assert.doesNotMatch(output, /unused/, "no password is printed");
  }
  const { file, copy } = await openBoth(context, filePath, url);
  assert.deepEqual(
    await copy.calls.findById("org", "call 1"),
    await file.calls.findById("org", "call 1"),
  );
  assert.deepEqual(await copy.agents.list("org"), await file.agents.list("org"));
  assert.deepEqual(await copy.calls.stats("org"), await file.calls.stats("org"));
  assert.deepEqual(await copy.apiKeys.list("org"), await file.apiKeys.list("org"));
  const page = { skip: 0, limit: 10 };
  assert.deepEqual(await copy.calls.list("org", page), await file.calls.list("org", page));

  await copy.agents.insert(agentRecord({ id: "new" }), 5);
  await copy.calls.start(callRecord({ id: "after" }), "run 2");
  const active = { status: "active" } as const;
  assert.equal(await copy.calls.count("org", active), CALLS, "triggers count again");
  await copy.calls.heartbeat("run 2", NOON_MS);
  const refused = await admin("copy", "--to", url);
  assert.equal(refused.exitCode, 1);
  assert.match(refused.errors, /has been used by a server since: nothing was copied/);
  assert.equal(await copy.calls.count("org", active), CALLS);
});

test("nothing is copied under a server, nor over another installation", async () => {
  const filePath = await filledFile();
  const url = await cluster.makeDatabase();
  const server = await openDatabase({ filePath, isServer: true });
  const busy = await adminOn(filePath)("copy", "--to", url);
  await server.close();
  assert.match(busy.errors, /another server runs on/);

  const other = await openDatabase({ filePath, url });
  await other.plans.insertIfAbsent(planRecord());
  const owner = userRecord({ orgId: "somebody" });
  await other.organizations.insertWithOwner(organizationRecord({ id: "somebody" }), owner);
  await other.close();
  const refused = await adminOn(filePath)("copy", "--to", url);
  assert.match(refused.errors, /organizations that the file does not have: nothing was copied/);

  const wrong = await adminOn(filePath)("copy", "--to", "mysql://nowhere");
  assert.equal(wrong.exitCode, 2);
  assert.equal((await adminOn(filePath)("copy")).exitCode, 2);
});

test("the administrator's commands work on PostgreSQL", async () => {
  const url = await cluster.makeDatabase();
  const admin = adminOn(temporaryFile(), url);
  assert.match((await admin("org", "list")).errors, /has no tables of Parley/);
  assert.match((await admin("check")).errors, /has no tables of Parley/);
  const setUp = await admin("setup", "--name", "Acme", "--email", "owner@example.com");
  assert.equal(setUp.errors, "");
  assert.match((await admin("org", "list")).output, /owner@example\.com/);
  assert.equal((await admin("org", "suspend", "owner@example.com")).exitCode, 0);
  assert.match((await admin("audit")).output, /suspend/);
  const whole = await admin("check");
  assert.match(whole.output, /organizations +1[^]*The database is intact/);
  await cluster.query(`update "auditTotals" set "entries" = 77`, url);
  assert.match((await admin("check")).errors, /and auditTotals says 77/);
  const settings = { dataDir: dirname(temporaryFile()), databaseUrl: url, port: 0 };
  const backup = await ran(
    backupCommand(() => settings),
    "copy.db",
  );
  assert.match(backup.errors, /pg_dump/);
});
