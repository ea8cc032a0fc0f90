import assert from "node:assert/strict";
import { dirname } from "node:path";
import { test } from "node:test";
import { openDatabase } from "../../../storage/database.js";
import { copyToPostgres } from "../../../storage/postgres/copy-to-postgres.js";
import { POSTGRES_SCHEMA_VERSION } from "../../../storage/postgres/postgres-schema.js";
import { StorageUnavailableError } from "../../../storage/statements/storage-error.js";
import { openFilesIn } from "../sqlite/open-files.js";
import { copiedFile } from "./copied-file.js";
import { saidByServer } from "./scripted-pool.js";
import type { Row, ScriptedServer } from "./scripted-server.js";

/** Asserts that every connection is closed, nothing was committed, and the file is free. */
async function assertUndone(server: ScriptedServer, filePath: string): Promise<void> {
  while (server.openCount > 0) await new Promise(setImmediate);
  assert.ok(!server.asked.includes("commit"));
  await (await openDatabase({ filePath, isServer: true })).close();
}

const unavailable = (words: RegExp) => (error: unknown) => {
  assert.ok(error instanceof StorageUnavailableError, String(error));
  assert.match(error.message, words);
  return true;
};

test("all tables are copied as one transaction, under a lock, without their triggers, and then compared", async (t) => {
  const { filePath, file, server, batches, tables } = await copiedFile(t);
  const copied = await copyToPostgres(filePath, server.url);
  assert.deepEqual(
    copied.map(({ table }) => table),
    tables,
  );
  const rowsOf = (name: string) => copied.find(({ table }) => table === name)?.rows;
  assert.deepEqual(["organizations", "calls", "agents"].map(rowsOf), [2, 1, 0]);
  assert.deepEqual(
    batches("organizations")
      .flat()
      .map(({ id }) => id),
    ["org", "other"],
  );
  assert.deepEqual(batches("agents"), [], "an empty table sends nothing");
  const steps = [
    /^select pg_try_advisory_lock\(/,
    /^begin$/,
    /^select "id" from "organizations"$/,
    /^select "id" from "runs"$/,
    /information_schema\.columns/,
    /^alter table "calls" disable trigger user$/,
    /^alter table "auditEntries" disable trigger user$/,
    /^truncate ("\w+", )+"calls"/,
    /^insert into "organizations" select/,
    /^select setval\(pg_get_serial_sequence\('"organizations"', 'sequence'\)/,
    /^insert into "calls" select/,
    /^alter table "calls" enable trigger user$/,
    /^alter table "auditEntries" enable trigger user$/,
    /^select count\(\*\) as "rows".* from "calls"$/,
    /^commit$/,
  ].map((step) => server.asked.findIndex((sql) => step.test(sql)));
  assert.ok(!steps.includes(-1), steps.join());
  assert.deepEqual(
    steps,
    steps.toSorted((one, other) => one - other),
  );
  assert.ok(!server.asked.some((sql) => sql.includes(`'"runs"', 'sequence'`)), "it has none");
  const { connection } = server.told.at(-1) ?? { connection: 0 };
  const timeouts = server.startups.map((startup) => startup.get("statement_timeout"));
  assert.deepEqual(
    timeouts.splice(connection - 1, 1),
    [undefined],
    "copying has no statement timeout",
  );
  assert.deepEqual(new Set(timeouts), new Set(["10000"]));
  while (server.openCount > 0) await new Promise(setImmediate);
  await (await openDatabase({ filePath, isServer: true })).close();
  file.close();
  assert.deepEqual(openFilesIn(dirname(filePath)), []);
});

test("a batch has at most a thousand rows or a million characters", async (t) => {
  const { filePath, file, server, batches } = await copiedFile(t);
  file.exec(`with recursive n (i) as (select 1 union all select i + 1 from n limit 2001)
    insert into runs (id, heartbeatAtMs) select 'run ' || i, i from n`);
  const put = file.prepare(
    "insert into sessionHistory (orgId, key, messages, savedAtMs) values ('org', ?, ?, 1)",
  );
  const row = { orgId: "org", key: "a", messages: "", savedAtMs: 1, summary: null };
  const half = 500_000 - JSON.stringify(row).length;
  const sizesOf = async (table: string) => {
    server.told.length = 0;
    await copyToPostgres(filePath, server.url);
    return batches(table).map(({ length }) => length);
  };
  for (const key of ["a", "b", "c", "d", "e"]) {
    put.run(key, "x".repeat(key === "d" ? half - 1 : half));
  }
  assert.deepEqual(await sizesOf("sessionHistory"), [2, 3]);
  assert.deepEqual(
    batches("runs").map(({ length }) => length),
    [1_000, 1_000, 1],
  );
  file.exec("update sessionHistory set messages = substr(messages, 2) where key = 'a'");
  assert.deepEqual(await sizesOf("sessionHistory"), [3, 2]);
});

test("characters that PostgreSQL does not support are escaped, and numbers are written unchanged", async (t) => {
  const { filePath, file, server, batches } = await copiedFile(t);
  file.prepare("update plans set description = ?").run("a\u0000b\u001ac");
  await copyToPostgres(filePath, server.url);
  const [plan] = batches("plans").flat();
  assert.equal(plan?.["description"], "a\u001a0b\u001a1c");
  assert.equal(plan?.["custom"], 0);
});

test("data that does not come from this file is not replaced", async (t) => {
  const { filePath, server, other } = await copiedFile(t);
  other.ids = { organizations: ["other", "org"], runs: [] };
  await copyToPostgres(filePath, server.url);
  server.told.length = 0;
  for (const [ids, words] of [
    [{ organizations: ["org", "foreign"] }, "has organizations that the file does not have"],
    [{ organizations: ["org"], runs: ["run 2"] }, "has been used by a server since"],
  ] as const) {
    other.ids = ids;
    const message = `^PostgreSQL at ${server.address} ${words}: nothing was copied; give an empty database$`;
    await assert.rejects(copyToPostgres(filePath, server.url), unavailable(new RegExp(message)));
  }
  other.ids = {};
  other.lacks = ["agents.fallbacks", "agents.tools"];
  await assert.rejects(
    copyToPostgres(filePath, server.url),
    unavailable(/^PostgreSQL's table agents has no column fallbacks, tools: nothing was copied$/),
  );
  other.lacks = ["agents.tools"];
  await assert.rejects(
    copyToPostgres(filePath, server.url),
    unavailable(/no column tools: nothing/),
  );
  other.schema = {
    version: POSTGRES_SCHEMA_VERSION + 2,
    oldestBeside: POSTGRES_SCHEMA_VERSION + 1,
  };
  await assert.rejects(
    copyToPostgres(filePath, server.url),
    unavailable(/made by a newer version/),
  );
  assert.ok(!server.asked.some((sql) => sql.startsWith("truncate")));
  await assertUndone(server, filePath);
});

test("a copy that differs is rolled back; sums may differ by rounding", async (t) => {
  const { filePath, server, other } = await copiedFile(t);
  const withSums = (of: string, change: (sum: number) => number) => (table: string, row: Row) => {
    const changed = ([name, value]: [string, unknown]) =>
      [name, name.startsWith("sum") ? change(Number(value)) : Number(value)] as const;
    return table === of ? Object.fromEntries(Object.entries(row).map(changed)) : row;
  };
  const close = (sum: number) => (sum > 1e12 ? sum + 1 : sum + 5e-10);
  for (const table of ["calls", "dailyUsage", "phoneNumbers"]) {
    other.measured = withSums(table, close);
    await copyToPostgres(filePath, server.url);
  }
  server.told.length = 0;
  const differing = [
    withSums("dailyUsage", (sum) => sum + 1e-6),
    withSums("dailyUsage", (sum) => sum - 1e-6),
    withSums("dailyUsage", (sum) => -sum),
    withSums("phoneNumbers", (sum) => sum + 2e-9),
    withSums("calls", (sum) => (sum > 1e12 ? sum + 10_000 : sum)),
  ];
  for (const measured of differing) {
    other.measured = measured;
    await assert.rejects(copyToPostgres(filePath, server.url), unavailable(/is not the same/));
  }
  other.measured = (table, row) => (table === "calls" ? { rows: row["rows"] ?? 0 } : row);
  await assert.rejects(copyToPostgres(filePath, server.url), unavailable(/copy of calls is not/));
  other.measured = (table, row) => (table === "organizations" ? { ...row, rows: 1 } : row);
  await assert.rejects(
    copyToPostgres(filePath, server.url),
    unavailable(
      /^the copy of organizations is not the same \(rows: 1 of 2\); nothing was kept of it$/,
    ),
  );
  await assertUndone(server, filePath);
});

test("an error on either side is reported with that side", async (t) => {
  const { filePath, file, server, other } = await copiedFile(t);
  const failing = (code: string) => {
    other.refuse = ({ sql }) => {
      if (sql.startsWith("truncate")) throw saidByServer(code);
    };
    return copyToPostgres(filePath, server.url);
  };
  await assert.rejects(failing("53100"), (error: Error) => {
    assert.ok(
      unavailable(/^PostgreSQL at .* \(PG_53100\); make room on the database's disk$/)(error),
    );
    assert.equal(Object(error.cause).code, "53100");
    return true;
  });
  await assert.rejects(failing("23503"), { name: "error", code: "23503" });
  other.refuse = ({ sql }) => {
    if (sql.startsWith("truncate")) server.drop();
  };
  await assert.rejects(copyToPostgres(filePath, server.url), unavailable(/PG_UNREACHABLE/));
  other.refuse = () => undefined;
  file.exec("create view broken as select 1; drop table recordings");
  file.exec("create table recordings (callId text references nowhere (id))");
  await assert.rejects(copyToPostgres(filePath, server.url), /refer to each other in a circle/);
  file.exec("drop table recordings; drop table runs");
  const words = /parley\.db cannot be used: no such table: runs \(SQLITE_ERROR\)$/;
  await assert.rejects(copyToPostgres(filePath, server.url), unavailable(words));
  await assertUndone(server, filePath);
});

test("a file that a server uses, or that does not exist, is not copied", async (t) => {
  const { filePath, server } = await copiedFile(t);
  const running = await openDatabase({ filePath, isServer: true });
  t.after(() => running.close());
  await assert.rejects(copyToPostgres(filePath, server.url), unavailable(/another server runs on/));
  const nowhere = `${filePath}.away`;
  await assert.rejects(copyToPostgres(nowhere, server.url), unavailable(/away is not there/));
  assert.equal(server.connectionCount, 0);
});
