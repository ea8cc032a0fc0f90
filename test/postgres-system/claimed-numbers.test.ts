import assert from "node:assert/strict";
import { test } from "node:test";
import { Client } from "pg";
import { PostgresCluster } from "../../bench/stand/postgres-cluster.js";
import { openDatabase } from "../../storage/database.js";
import { placedCallJob } from "../../storage/jobs/job-record.js";
import { callListEntry, callListRecord, callListRow } from "../storage/calls/sample-call-list.js";
import { insertOrganizations, NOON_MS } from "../storage/sample-records.js";
import { temporaryFile } from "../storage/temporary-file.js";
import { eventually } from "../system/eventually.js";

const LISTS = ["one", "two"] as const;

test("of two lists that claim the same number in the same moment, one places the call", async (context) => {
  const cluster = await PostgresCluster.start();
  const url = await cluster.makeDatabase();
  const database = await openDatabase({ filePath: temporaryFile(), url, connectionsMax: 4 });
  context.after(() => database.close());
  await insertOrganizations(database);
  for (const id of LISTS) {
    const list = callListRecord({ id, state: "running" });
    await database.callLists.insertWithin(list, [callListRow(1)], 9, callListEntry("create"));
  }
  const place = (listId: string) => {
    const callId = `call of ${listId}`;
    const job = placedCallJob({ orgId: "org", callId, runId: "run" }, {}, NOON_MS);
    return database.calls.place(job, callId, { listId, position: 1, attempts: 0 });
  };
  const other = new Client({ connectionString: url });
  await other.connect();
  context.after(() => other.end());
  // The jobs are stored behind the claims, so both transactions are open until the lock is released.
  await other.query("begin");
  await other.query("lock table jobs in share mode");
  const placing = LISTS.map(place);
  await eventually("both claims to wait", async () => {
    const waiting = await other.query("select 1 from pg_locks where not granted");
    return waiting.rowCount === LISTS.length ? true : undefined;
  });
  await other.query("commit");
  assert.deepEqual((await Promise.all(placing)).filter(Boolean), [true]);
  const calling = await Promise.all(LISTS.map((id) => database.callLists.calling(id, 9)));
  assert.equal(calling.flat().length, 1);
});
