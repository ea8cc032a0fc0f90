import assert from "node:assert/strict";
import { type TestContext, test } from "node:test";
import { Client } from "pg";
import { PostgresCluster } from "../../bench/stand/postgres-cluster.js";
import { openDatabase } from "../../storage/database.js";
import { beginMarked, purgeMarks, UncertainCommits } from "../../storage/postgres/commit-mark.js";
import { connectionSettings, newPool } from "../../storage/postgres/postgres-pool.js";
import { StorageStoppedError } from "../../storage/statements/storage-error.js";
import { temporaryFile } from "../storage/temporary-file.js";

const PURGED_ROWS_MAX = 10_000;
const cluster = await PostgresCluster.start();
/** A database with tables, a connection that begins transactions, and a server that asks about them. */
async function stand(context: TestContext) {
  const url = await cluster.makeDatabase();
  await (await openDatabase({ filePath: temporaryFile(), url })).close();
  const client = new Client(connectionSettings(url));
  await client.connect();
  const pool = newPool(url);
  context.after(() => Promise.all([client.end(), pool.end()]));
  return { client, pool, lost: new UncertainCommits(pool, true) };
}

test("a commit in progress is looked up again, until its outcome is known", async (context) => {
  const { client, lost } = await stand(context);
  const cause = new Error("the connection was lost");
  for (const end of ["commit", "rollback"] as const) {
    const mark = await beginMarked(client);
    const state = { isKnown: false };
    const outcome = lost.wasCommitted(mark, cause).finally(() => {
      state.isKnown = true;
    });
    const judged =
      end === "commit" ? assert.doesNotReject(outcome) : assert.rejects(outcome, cause);
    await lost.settle();
    assert.equal(state.isKnown, false, "nobody knows yet");
    await client.query(end);
    await lost.settle();
    await judged;
  }
});

test("a repeated lookup, after the first response was lost, gets the same result", async (context) => {
  const { client, lost } = await stand(context);
  const cause = new Error("the connection was lost");
  const mark = await beginMarked(client);
  await client.query("rollback");
  for (let time = 1; time <= 2; time += 1) {
    const outcome = assert.rejects(lost.wasCommitted(mark, cause), cause);
    await lost.settle();
    await outcome;
  }
});

test("marks that are too old are deleted in batches, and do not count as uncommitted", async (context) => {
  const { client, pool, lost } = await stand(context);
  const mark = await beginMarked(client);
  await client.query("commit");
  await client.query(`update "commitMarks" set "atMs" = 0`);
  await client.query(
    `insert into "commitMarks" ("atMs") select 1 from generate_series(1, ${PURGED_ROWS_MAX})`,
  );
  await beginMarked(client);
  await client.query("commit");
  assert.equal(await purgeMarks(pool), PURGED_ROWS_MAX);
  assert.equal(await purgeMarks(pool), 1);
  assert.equal(await purgeMarks(pool), 0, "the new one stays");
  const outcome = assert.rejects(
    lost.wasCommitted({ ...mark, atMs: 0 }, new Error("the connection was lost")),
    StorageStoppedError,
  );
  await lost.settle();
  await outcome;
});
