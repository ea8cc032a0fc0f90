import assert from "node:assert/strict";
import { type TestContext, test } from "node:test";
import { checkPostgres } from "../../../storage/postgres/postgres-check.js";
import { StorageUnavailableError } from "../../../storage/statements/storage-error.js";
import { saidByServer } from "./scripted-pool.js";
import { ScriptedServer } from "./scripted-server.js";

/** A database with two tables, whose totals the test determines. */
async function newDatabase(context: TestContext) {
  const server = await ScriptedServer.start(context);
  const database = { hasTables: true, callTotals: 3, auditTotals: 2 };
  const numbers = [
    [/^select \(pg_database_size/, () => [8_000_000, 0]],
    [/sum\("calls"\), 0\) from "callTotals"/, () => [database.callTotals, 3]],
    [/sum\("entries"\), 0\) from "auditTotals"/, () => [database.auditTotals, 2]],
    [/^select \(\(select count\(\*\) from "agents"/, () => [5, 0]],
    [/^select \(\(select count\(\*\) from "calls"/, () => [3, 0]],
  ] as const;
  server.answer = ({ sql }) => {
    if (sql.startsWith("select to_regclass")) return [{ found: database.hasTables }];
    if (sql.includes("information_schema.tables")) return [{ name: "agents" }, { name: "calls" }];
    const [, told] = numbers.find(([pattern]) => pattern.test(sql)) ?? [];
    const [one, other] = told?.() ?? [];
    return one === undefined || other === undefined ? [] : [{ one, other }];
  };
  const closed = async () => {
    while (server.openCount > 0) await new Promise(setImmediate);
  };
  return { server, database, closed };
}

test("every table is counted in one snapshot, and totals that differ from their rows are findings", async (t) => {
  const { server, database, closed } = await newDatabase(t);
  const counts = [
    { table: "agents", rows: 5 },
    { table: "calls", rows: 3 },
  ];
  assert.deepEqual(await checkPostgres(server.url), { sizeBytes: 8_000_000, findings: [], counts });
  assert.equal(server.asked[1], "begin isolation level repeatable read read only");
  assert.equal(server.startups[0]?.get("statement_timeout"), undefined, "it has no timeout");
  await closed();
  Object.assign(database, { callTotals: 4, auditTotals: 0 });
  const { findings } = await checkPostgres(server.url);
  assert.deepEqual(findings, [
    "there are 3 calls, and callTotals says 4",
    "there are 2 entries, and auditTotals says 0",
  ]);
  await closed();
});

test("an unreadable database is reported with a message, and other errors unchanged", async (t) => {
  const { server, database, closed } = await newDatabase(t);
  database.hasTables = false;
  await assert.rejects(checkPostgres(server.url), (error) => {
    assert.ok(error instanceof StorageUnavailableError);
    assert.equal(error.message, `PostgreSQL at ${server.address} has no tables of Parley`);
    return true;
  });
  server.answer = () => {
    throw saidByServer("53300");
  };
  await assert.rejects(checkPostgres(server.url), (error) => {
    assert.ok(error instanceof StorageUnavailableError);
    assert.match(error.message, /PG_53300\); lower DATABASE_CONNECTIONS/);
    assert.equal(Object(error.cause).code, "53300");
    return true;
  });
  server.answer = () => {
    server.drop();
    return [];
  };
  await assert.rejects(checkPostgres(server.url), { name: "StorageUnavailableError" });
  server.answer = () => {
    throw saidByServer("23503");
  };
  await assert.rejects(checkPostgres(server.url), { name: "error", code: "23503" });
  await closed();
});
