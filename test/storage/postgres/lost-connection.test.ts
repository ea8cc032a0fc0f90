import assert from "node:assert/strict";
import { test } from "node:test";
import { inOrder, PostgresClient } from "../../../storage/postgres/postgres-client.js";
import {
  StorageStoppedError,
  StorageUnwritableError,
} from "../../../storage/statements/storage-error.js";
import { ScriptedPool, saidByServer } from "./scripted-pool.js";

const UPDATE = { sql: "update calls", parameters: [] };
const CLAIM = /^insert into "commitMarks" as mark/;
const settled = () => new Promise<void>((resolve) => setImmediate(resolve));

/** A server that is lost during a commit; the test determines the mark's outcome afterwards. */
function lostServer() {
  const server = new ScriptedPool();
  const marks = { isUndone: false, asked: [] as unknown[] };
  server.answer = (sql, values) => {
    if (sql === "commit" && marks.asked.length === 0) throw saidByServer("57P01");
    if (!CLAIM.test(sql)) return { rowCount: 2, command: "UPDATE" };
    marks.asked.push(values);
    return { rows: [{ isUndone: marks.isUndone, nowMs: 0 }] };
  };
  return {
    server,
    marks,
    client: new PostgresClient(server.pool, { resolvesUncertainCommits: true }),
  };
}

test("a commit whose response was lost is looked up, and its request gets its result", async () => {
  const { server, marks, client } = lostServer();
  const sent = client.send([UPDATE, UPDATE], false);
  await settled();
  assert.equal(client.stats.requestsWaiting, 1);
  assert.deepEqual([marks.asked, server.givenBack], [[], ["closed"]]);
  await client.settleUncertainCommits();
  const changed = { rows: [], changes: 2 };
  assert.deepEqual(await sent, [changed, changed]);
  assert.deepEqual(marks.asked, [["mark"]]);
});

test("a commit that was undone is refused as retryable, and so is a transaction that was not committed yet", async () => {
  const { server, marks, client } = lostServer();
  marks.isUndone = true;
  const refused = assert.rejects(client.send([UPDATE, UPDATE], false), StorageUnwritableError);
  await settled();
  await client.settleUncertainCommits();
  await refused;
  server.answer = (sql) => {
    if (sql === UPDATE.sql) throw saidByServer("57P01");
    return {};
  };
  await assert.rejects(client.send([UPDATE, UPDATE], false), StorageUnwritableError);
  server.answer = (sql) => {
    if (sql === "commit") throw saidByServer("53100");
    return {};
  };
  await assert.rejects(client.send([UPDATE, UPDATE], false), { databaseCode: "PG_53100" });
  assert.equal(marks.asked.length, 1, "these are not looked up");
});

test("closing rejects requests with an unknown outcome", async () => {
  const { server, client } = lostServer();
  const unknown = assert.rejects(client.send([UPDATE, UPDATE], false), StorageStoppedError);
  await settled();
  await client.close();
  await unknown;
  assert.equal(server.isEnded, true);
});

test("of several failures the first in order is reported, whichever arrived first", async () => {
  let refuse = (_error: Error) => {};
  const first = new Promise<number>((_, reject) => {
    refuse = reject;
  });
  const both = inOrder(first, Promise.reject(new Error("second")));
  await settled();
  refuse(new Error("first"));
  await assert.rejects(both, { message: "first" });
  assert.deepEqual(await inOrder(Promise.resolve(1), Promise.resolve("two")), [1, "two"]);
});
