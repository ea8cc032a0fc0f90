import assert from "node:assert/strict";
import { existsSync } from "node:fs";
import { mkdir, rename } from "node:fs/promises";
import { test } from "node:test";
import { Worker } from "node:worker_threads";
import { StorageThread, storageThread } from "../../../storage/sqlite/storage-thread.js";
import { ThreadClient } from "../../../storage/sqlite/thread-client.js";
import {
  StorageOverloadedError,
  StorageStoppedError,
} from "../../../storage/statements/storage-error.js";
import { temporaryFile } from "../temporary-file.js";
import { run, statement, temporaryThread } from "./temporary-thread.js";

const BEAT = "insert into runs (id, heartbeatAtMs) values (?, 0)";
const COUNT = "select count(*) as count from runs";
const THREAD_URL = new URL("../../../storage/sqlite/database-thread.js", import.meta.url);

/**
 * The real thread, which ends by itself at the first request. A thread that is terminated from outside in the middle of
 * a statement ends the whole process on Node 24.21: SQLite's binding has V8 create a value for a thread that no longer
 * exists.
 */
function shortLivedThread(): StorageThread {
  return threadOf(`import(${JSON.stringify(THREAD_URL.href)}).then(() =>
    parentPort.on("message", ({ message }) => message.kind === "open" || process.exit(3)));`);
}

function threadOf(program: string): StorageThread {
  const lines = `const { parentPort } = require("node:worker_threads"); ${program}`;
  return new StorageThread(new Worker(lines, { eval: true }));
}

test("concurrent requests share a commit, and reads need none", async (context) => {
  const client = await temporaryThread(context);
  const before = client.stats.groupsCommitted;
  const writes = Array.from({ length: 50 }, (_, index) => run(client, BEAT, `run ${index}`));
  assert.equal(client.stats.requestsWaiting, 50);
  await Promise.all(writes);
  assert.deepEqual(client.stats, {
    requestsWaiting: 0,
    lastGroupSize: 50,
    groupsCommitted: before + 1,
  });
  assert.deepEqual((await run(client, COUNT)).rows, [{ count: 50 }]);
  assert.equal(client.stats.groupsCommitted, before + 1);
});

test("a long queue is committed in groups of 500, in order", async (context) => {
  const client = await temporaryThread(context);
  const order: number[] = [];
  await Promise.all(
    Array.from({ length: 1200 }, async (_, index) => {
      await run(client, BEAT, `run ${index}`);
      order.push(index);
    }),
  );
  assert.equal(client.stats.groupsCommitted, 3);
  assert.equal(client.stats.lastGroupSize, 200);
  assert.deepEqual(
    order,
    order.toSorted((a, b) => a - b),
  );
});

test("requests beyond the limit of waiting ones are refused, and the waiting ones are answered", async (context) => {
  const client = await temporaryThread(context, { requestsWaitingMax: 3 });
  const outcomes = await Promise.allSettled(
    [1, 2, 3, 4].map((id) => run(client, BEAT, String(id))),
  );
  assert.deepEqual(
    outcomes.map(({ status }) => status),
    ["fulfilled", "fulfilled", "fulfilled", "rejected"],
  );
  const [, , , refused] = outcomes;
  assert.ok(refused?.status === "rejected" && refused.reason instanceof StorageOverloadedError);
  assert.equal((await run(client, BEAT, "5")).changes, 1, "there is room again");
});

test("a value that cannot be sent to a thread fails the requests of the same turn, and no others", async (context) => {
  const client = await temporaryThread(context);
  await assert.rejects(
    run(client, BEAT, () => "not a value"),
    { name: "DataCloneError", message: /could not be cloned/ },
  );
  assert.equal((await run(client, BEAT, "a")).changes, 1);
});

test("closing waits for pending requests and refuses later ones", async () => {
  const filePath = temporaryFile();
  const onFailure = assert.ifError;
  const client = await ThreadClient.open(storageThread(), { filePath }, { onFailure });
  const written = run(client, BEAT, "a");
  const closed = client.close();
  await assert.rejects(run(client, BEAT, "b"), StorageStoppedError);
  assert.equal((await written).changes, 1);
  await closed;
  assert.equal(existsSync(`${filePath}-wal`), false, "the file is closed by then");
  await client.close();
});

test("if the thread dies, every waiting and later request fails, and the owner is notified once", async () => {
  const thread = shortLivedThread();
  const failures: Error[] = [];
  const onFailure = (error: Error) => failures.push(error);
  const client = await ThreadClient.open(thread, { filePath: temporaryFile() }, { onFailure });
  const waiting = [run(client, BEAT, "a"), run(client, BEAT, "b")];
  const outcomes = Promise.allSettled(waiting);
  for (const outcome of await outcomes) {
    assert.ok(outcome.status === "rejected" && outcome.reason instanceof StorageStoppedError);
  }
  await assert.rejects(run(client, BEAT, "c"), /has died/);
  await client.close();
  assert.equal(failures.length, 1);
  assert.equal(client.stats.requestsWaiting, 0);
});

test("a health check of a file whose thread dies, or has died, is rejected", async () => {
  const thread = threadOf(`parentPort.on("message", ({ fileId, message }) => {
    if (message.kind !== "open") process.exit(3);
    parentPort.postMessage({ fileId, message: { kind: "ready" } });
  });`);
  const onFailure = () => undefined;
  const client = await ThreadClient.open(thread, { filePath: temporaryFile() }, { onFailure });
  const died = { name: "StorageStoppedError", message: "the storage thread has died" };
  await Promise.all([1, 2].map(() => assert.rejects(client.checkHealth(), died)));
  await assert.rejects(client.checkHealth(), died);
  await client.close();
});

test("an error that the thread does not expect ends it, with the error as the cause", async () => {
  const thread = threadOf(`parentPort.on("message", ({ fileId, message }) => {
    if (message.kind !== "open") throw new Error("disk on fire");
    parentPort.postMessage({ fileId, message: { kind: "ready" } });
  });`);
  const failures: Error[] = [];
  const onFailure = (error: Error) => failures.push(error);
  const client = await ThreadClient.open(thread, { filePath: temporaryFile() }, { onFailure });
  await assert.rejects(run(client, BEAT, "a"), (error: unknown) => {
    assert.ok(error instanceof StorageStoppedError);
    assert.match(String(error.cause), /disk on fire/);
    return true;
  });
  await client.close();
  assert.equal(failures.length, 1);
});

test("if a file cannot be opened, storage fails to start with that reason", async () => {
  const filePath = temporaryFile();
  await mkdir(filePath, { recursive: true });
  const onFailure = assert.ifError;
  await assert.rejects(
    ThreadClient.open(storageThread(), { filePath }, { onFailure }),
    /parley\.db is a folder, and should be a file: move it away$/,
  );
  const mute = ThreadClient.open(threadOf(""), { filePath }, { onFailure });
  await assert.rejects(mute, /ended by itself/);
});

test("a guard that touches no row keeps the rest from happening", async (context) => {
  const client = await temporaryThread(context);
  const guard = statement("update runs set heartbeatAtMs = 1 where id = 'a'");
  const rest = statement(BEAT, "b");
  assert.equal(await client.send([guard, rest], true), undefined);
  assert.deepEqual((await run(client, COUNT)).rows, [{ count: 0 }]);
  await run(client, BEAT, "a");
  const results = await client.send([guard, rest], true);
  assert.deepEqual(
    results?.map(({ changes }) => changes),
    [1, 1],
  );
});

test("the reason of a failed write is known until a write succeeds; reads and invalid statements do not change it", async (context) => {
  const filePath = temporaryFile();
  const client = await temporaryThread(context, { filePath });
  await assert.rejects(run(client, "insert into nowhere values (1)"), {
    databaseCode: "SQLITE_ERROR",
  });
  assert.equal(client.writeFault, undefined);
  await rename(filePath, `${filePath}.away`);
  await assert.rejects(run(client, BEAT, "a"), { databaseCode: "FILE_GONE" });
  const gone = {
    kind: "other",
    code: "FILE_GONE",
    message: `${filePath} was deleted or moved away`,
  };
  assert.deepEqual(client.writeFault, gone);
  await run(client, COUNT);
  assert.deepEqual(client.writeFault, gone);
  await rename(`${filePath}.away`, filePath);
  await run(client, BEAT, "a");
  assert.equal(client.writeFault, undefined);
});
