import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { dirname } from "node:path";
import { test } from "node:test";
import { ServedFile } from "../../../storage/sqlite/served-file.js";
import type { FromFile } from "../../../storage/sqlite/thread-protocol.js";
import { createDatabaseFile, temporaryDatabase, temporaryFile } from "../temporary-file.js";
import { openFilesIn } from "./open-files.js";
import { statement } from "./temporary-thread.js";

test("the log is copied into the file at every 250th commit, and not sooner", async (context) => {
  const filePath = temporaryFile();
  await createDatabaseFile(filePath);
  const { calls } = await temporaryDatabase(context, filePath);
  let atMs = 0;
  const commit = async (count: number) => {
    for (let each = 0; each < count; each += 1) await calls.heartbeat("run", (atMs += 1));
    // A read is answered after the thread's work that follows a commit, and is not a commit itself.
    await calls.otherRuns("run");
    return readFileSync(filePath);
  };
  const before = await commit(249);
  const after = await commit(1);
  assert.ok(!after.equals(before), "with the 250th");
  assert.ok((await commit(249)).equals(after));
  assert.ok(!(await commit(1)).equals(after), "with the 500th");
});

test("an attempt to write delays readers by ten milliseconds, and a closed file is released", async () => {
  const filePath = temporaryFile();
  await createDatabaseFile(filePath);
  const said: FromFile[] = [];
  const served = await ServedFile.open({ filePath }, (message) => said.push(message));
  const statements = [statement("pragma busy_timeout")];
  served.receive({ kind: "requests", requests: [{ id: 1, statements, guarded: false }] });
  await new Promise(setImmediate);
  served.receive({ kind: "close" });
  const results = [{ rows: [{ timeout: 10 }], changes: 1 }];
  assert.deepEqual(said, [
    { kind: "ready", lockWasThere: true },
    { kind: "group", replies: [{ id: 1, outcome: { kind: "done", results } }], committed: false },
    { kind: "closed" },
  ]);
  assert.deepEqual(openFilesIn(dirname(filePath)), []);
});

test("a command reports no missing lock, because it has none", async (context) => {
  const { isSoleServer } = await temporaryDatabase(context, temporaryFile());
  assert.equal(isSoleServer, true);
});
