import assert from "node:assert/strict";
import { test } from "node:test";
import { PostgresClient } from "../../../storage/postgres/postgres-client.js";
import { ForeignKeyViolationError } from "../../../storage/statements/foreign-key-violation.js";
import {
  StorageOverloadedError,
  StorageStoppedError,
  StorageUnwritableError,
} from "../../../storage/statements/storage-error.js";
import { ScriptedPool, saidByServer } from "./scripted-pool.js";

const SELECT = { sql: "select 1", parameters: [] };
const LOCK = { sql: "select 1 for no key update", parameters: [] };
const UPDATE = { sql: "update calls", parameters: [] };
const ONE_ROW = { rowCount: 1, command: "UPDATE" };

function newClient(options: { readonly requestsWaitingMax?: number } = {}) {
  const server = new ScriptedPool();
  const client = new PostgresClient(server.pool, { resolvesUncertainCommits: true, ...options });
  return { server, client };
}

test("a request that only reads leaves no mark, and its reads see one state", async () => {
  const { server, client } = newClient();
  server.answer = (sql) => (sql === SELECT.sql ? { rows: [{ one: 1 }], rowCount: 1 } : {});
  const one = { rows: [{ one: 1 }], changes: 1 };
  assert.deepEqual(await client.send([SELECT], false), [one]);
  assert.deepEqual(server.asked.splice(0), ["select 1"]);
  assert.deepEqual(await client.send([SELECT, SELECT], false), [one, one]);
  assert.deepEqual(server.asked.splice(0), [
    "begin isolation level repeatable read read only",
    "select 1",
    "select 1",
    "commit",
  ]);
  assert.equal(client.stats.groupsCommitted, 0);
  server.answer = (sql) => ({ rowCount: sql === UPDATE.sql ? 3 : null, command: "UPDATE" });
  assert.deepEqual(await client.send([LOCK, UPDATE], false), [
    { rows: [], changes: 0 },
    { rows: [], changes: 3 },
  ]);
  assert.match(server.asked[0] ?? "", /^begin; insert into "commitMarks"/);
  assert.deepEqual(client.stats, { requestsWaiting: 0, lastGroupSize: 1, groupsCommitted: 1 });
  assert.deepEqual(await client.send([UPDATE], false), [{ rows: [], changes: 3 }]);
  assert.deepEqual(await client.send([LOCK], false), [{ rows: [], changes: 0 }]);
  assert.equal(client.stats.lastGroupSize, 1);
  assert.equal(
    (await client.send([SELECT, SELECT], false))?.length,
    2,
    "an empty result is a result",
  );
});

test("a guard that touches no row undoes its request, and a statement that depends on a missing change is skipped", async () => {
  const { server, client } = newClient();
  assert.equal(await client.send([UPDATE], true), undefined);
  assert.equal(server.asked.at(-1), "rollback");
  assert.deepEqual(server.givenBack, ["kept"]);
  const after = { ...UPDATE, sql: "insert", onlyAfterChange: true } as const;
  assert.deepEqual(await client.send([UPDATE, after], false), [
    { rows: [], changes: 0 },
    { rows: [], changes: 0 },
  ]);
  assert.ok(!server.asked.includes("insert"));
  server.answer = (sql) => (sql === "select 1" ? { rowCount: 0, command: "SELECT" } : ONE_ROW);
  const results = await client.send([UPDATE, SELECT, after], true);
  assert.deepEqual(
    results?.map(({ changes }) => changes),
    [1, 0, 1],
    "a read between them does not count as a change",
  );
});

test("conflicting transactions are attempted up to five times", async () => {
  const { server, client } = newClient();
  let tries = 0;
  server.answer = (sql) => {
    if (sql !== UPDATE.sql) return {};
    tries += 1;
    if (tries < 5) throw saidByServer("40001");
    return ONE_ROW;
  };
  assert.equal((await client.send([UPDATE, UPDATE], false))?.length, 2);
  assert.equal(tries, 6, "statements after a failed one are refused without being run");
  server.answer = (sql) => {
    if (sql === UPDATE.sql) throw saidByServer("40P01");
    return {};
  };
  server.asked.length = 0;
  await assert.rejects(client.send([UPDATE, UPDATE], false), StorageUnwritableError);
  assert.equal(server.asked.filter((sql) => sql.startsWith("begin")).length, 5);
});

test("statements are sent without waiting for each, except one that depends on the one before", async () => {
  const { server, client } = newClient();
  let begin = () => {};
  const begun = new Promise<void>((resolve) => {
    begin = resolve;
  });
  server.answer = async (sql) => {
    if (sql.startsWith("begin")) await begun;
    return ONE_ROW;
  };
  const after = { ...UPDATE, sql: "insert", onlyAfterChange: true } as const;
  const sent = client.send([LOCK, UPDATE, after, UPDATE], false);
  await new Promise(setImmediate);
  assert.deepEqual(server.asked.slice(1), [LOCK.sql, UPDATE.sql]);
  begin();
  await sent;
  assert.deepEqual(server.asked.slice(3), ["insert", UPDATE.sql, "commit"]);
});

test("of several failures the first is reported, and a guard that touched no row precedes them all", async () => {
  const { server, client } = newClient();
  const refused = { ...UPDATE, sql: "insert" };
  server.answer = (sql) => {
    if (sql === refused.sql) throw saidByServer("23503");
    return sql === UPDATE.sql ? { rowCount: 0, command: "UPDATE" } : {};
  };
  assert.equal(await client.send([UPDATE, refused, refused], true), undefined);
  assert.equal(server.asked.at(-1), "rollback");
  await assert.rejects(client.send([refused, UPDATE], false), ForeignKeyViolationError);
  assert.deepEqual(server.givenBack, ["kept", "kept"]);
  server.answer = (sql) => {
    if (sql.startsWith("begin")) throw saidByServer("53100");
    return {};
  };
  await assert.rejects(client.send([UPDATE, UPDATE], false), StorageUnwritableError);
  await assert.rejects(client.send([SELECT, SELECT], false), StorageUnwritableError);
});

test("a connection whose request failed is kept if it can be rolled back, and closed if it is broken", async () => {
  const { server, client } = newClient();
  const failsWith = async (code: string, rollback?: string) => {
    server.answer = (sql) => {
      if (sql === UPDATE.sql) throw saidByServer(code);
      if (sql === "rollback" && rollback !== undefined) throw saidByServer(rollback);
      return {};
    };
    await assert.rejects(client.send([UPDATE, UPDATE], false));
    return server.givenBack.pop();
  };
  assert.equal(await failsWith("22001"), "kept");
  assert.equal(await failsWith("22001", "08006"), "closed");
  assert.equal(await failsWith("57P01"), "closed");
});

test("the reason of a failed write is known until a write succeeds; reads do not change it", async () => {
  const { server, client } = newClient();
  server.answer = () => {
    throw saidByServer("53100");
  };
  await assert.rejects(client.send([SELECT], false), StorageUnwritableError);
  assert.equal(client.writeFault, undefined);
  await assert.rejects(client.send([UPDATE], false), StorageUnwritableError);
  const full = { kind: "other", code: "PG_53100", message: "as the server says" };
  assert.deepEqual(client.writeFault, full);
  server.answer = () => {
    throw saidByServer("22001");
  };
  await assert.rejects(client.send([UPDATE], false));
  server.answer = () => ONE_ROW;
  await client.send([SELECT], false);
  assert.deepEqual(client.writeFault, full, "a read does not clear it");
  await client.send([UPDATE], false);
  assert.equal(client.writeFault, undefined);
});

test("the number of waiting requests is limited, and closing waits for them", async () => {
  const { server, client } = newClient({ requestsWaitingMax: 2 });
  const held: (() => void)[] = [];
  server.answer = () => new Promise((resolve) => held.push(() => resolve(ONE_ROW)));
  const asked = [client.send([UPDATE], false), client.send([UPDATE], false)];
  await assert.rejects(client.send([SELECT], false), StorageOverloadedError);
  assert.equal(client.stats.requestsWaiting, 2);
  const closed = client.close();
  await assert.rejects(client.send([SELECT], false), StorageStoppedError);
  held[0]?.();
  await asked[0];
  assert.equal(server.isEnded, false);
  held[1]?.();
  await Promise.all([...asked, closed, client.close()]);
  assert.equal(server.isEnded, true);
});

test("ten thousand requests wait by default, and closing waits for the last one", async () => {
  const { server, client } = newClient();
  const held: (() => void)[] = [];
  server.answer = () => new Promise((resolve) => held.push(() => resolve(ONE_ROW)));
  const asked = Array.from({ length: 10_000 }, () => client.send([UPDATE], false));
  await assert.rejects(client.send([UPDATE], false), StorageOverloadedError);
  for (const answer of held.splice(1)) answer();
  await Promise.all(asked.slice(1));
  const closed = client.close();
  await new Promise(setImmediate);
  assert.equal(server.isEnded, false);
  held[0]?.();
  await Promise.all([asked[0], closed]);
});

test("old marks are deleted at every fifteenth health check, and at the next one if more are left", async () => {
  const { server, client } = newClient();
  let deleted = 10_000;
  server.answer = () => ({ rowCount: deleted });
  const looksUntilPurge = async () => {
    const before = server.asked.length;
    let looks = 0;
    do {
      await client.settleUncertainCommits();
      looks += 1;
    } while (server.asked.length === before && looks < 100);
    return looks;
  };
  assert.equal(await looksUntilPurge(), 15);
  assert.equal(await looksUntilPurge(), 1);
  deleted = 9_999;
  assert.equal(await looksUntilPurge(), 1);
  assert.equal(await looksUntilPurge(), 15);
});
