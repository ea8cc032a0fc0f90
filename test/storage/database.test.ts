import assert from "node:assert/strict";
import { once } from "node:events";
import { stat } from "node:fs/promises";
import { test } from "node:test";
import { openDatabase } from "../../storage/database.js";
import { planRecord } from "./sample-records.js";
import { otherProcess } from "./sqlite/other-process.js";
import { temporaryDatabase, temporaryFile } from "./temporary-file.js";

/** The minimum size of a commit: one page. */
const PAGE_BYTES = 4096;

test("waiting requests are counted until they are answered", async (context) => {
  const database = await temporaryDatabase(context);
  const requests = Promise.all([
    database.calls.heartbeat("a", 1),
    database.calls.heartbeat("b", 1),
  ]);
  await requests;
  assert.equal(database.queueLength, 0);
  assert.deepEqual(database.stats, {
    requestsWaiting: 0,
    lastGroupSize: 2,
    groupsCommitted: 1,
  });
});

test("requests made before closing are on disk after it", async (context) => {
  const filePath = temporaryFile();
  const database = await openDatabase({ filePath });
  const inserted = database.plans.insertIfAbsent(planRecord());
  await database.plans.list();
  await database.close();
  assert.equal(await inserted, true);
  const { plans } = await temporaryDatabase(context, filePath);
  assert.deepEqual(await plans.list(), [planRecord()]);
});

test("a process that closes its database can end", async () => {
  const child = otherProcess(temporaryFile(), "await database.close();");
  assert.deepEqual(await once(child, "exit"), [0, null]);
});

test("the write-ahead log is regularly copied into the database, so it stays small", async (context) => {
  const filePath = temporaryFile();
  const database = await temporaryDatabase(context, filePath);
  let bytesWritten = 0;
  for (let atMs = 0; atMs < 1000; atMs += 1) {
    await database.calls.heartbeat(`run ${atMs % 7}`, atMs);
    bytesWritten += PAGE_BYTES;
  }
  const { size } = await stat(`${filePath}-wal`);
  assert.ok(size < bytesWritten / 2, `${size} bytes`);
});
