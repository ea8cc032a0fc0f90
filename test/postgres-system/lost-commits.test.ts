import assert from "node:assert/strict";
import { test } from "node:test";
import { Client, Pool } from "pg";
import { PostgresCluster } from "../../bench/postgres-cluster.js";
import { LostCommits } from "../../storage/postgres/lost-commits.js";

test("what a crash undid is not taken for the transaction that has its number afterwards", async (context) => {
  const cluster = await PostgresCluster.start();
  const url = await cluster.makeDatabase();
  await cluster.query("create table said (words text)", url);
  const client = new Client({ connectionString: url });
  client.on("error", () => undefined);
  await client.connect();
  const begun = await client.query("begin; select pg_current_xact_id()::text as id");
  const id = String([begun].flat().at(-1)?.rows[0].id);
  await client.query("insert into said values ('before the crash')");
  await cluster.stop();
  await cluster.resume();
  const pool = new Pool({ connectionString: url });
  pool.on("error", () => undefined);
  context.after(() => pool.end());
  const lost = new LostCommits(pool, true);
  const cause = new Error("the connection was lost");
  const outcome = assert.rejects(lost.wasCommitted(id, cause), cause);
  await Promise.all([lost.settleBeforeWriting(), lost.settleBeforeWriting(), outcome]);
  const { rows } = await pool.query(
    "insert into said values ('after it') returning xmin::text as id",
  );
  assert.equal(String(rows[0]?.id), id, "the number was given again");
});
