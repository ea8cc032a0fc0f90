import assert from "node:assert/strict";
import { mkdir } from "node:fs/promises";
import { test } from "node:test";
import { StorageThread, storageThread } from "../../../storage/sqlite/storage-thread.js";
import { temporaryFile } from "../temporary-file.js";
import { run, temporaryThread } from "./temporary-thread.js";

const BEAT = "insert into runs (id, heartbeatAtMs) values (?, 0)";
const IDS = "select id from runs";

test("files of one thread are apart: one is refused, one is closed, and the others go on", async (context) => {
  const [one, two] = [await temporaryThread(context), await temporaryThread(context)];
  await Promise.all([run(one, BEAT, "a"), run(two, BEAT, "b")]);
  const filePath = temporaryFile();
  await mkdir(filePath, { recursive: true });
  await assert.rejects(temporaryThread(context, { filePath }), /is a folder/);
  await one.close();
  assert.deepEqual((await run(two, IDS)).rows, [{ id: "b" }]);
});

test("two may open the same new file at once on one thread", async (context) => {
  const filePath = temporaryFile();
  const open = () => temporaryThread(context, { filePath });
  const [one, two] = await Promise.all([open(), open()]);
  await run(one, BEAT, "a");
  assert.deepEqual((await run(two, IDS)).rows, [{ id: "a" }]);
});

test("a process has one thread, which waits for the next file, and another where that one has ended", async (context) => {
  const threads: unknown[] = [];
  const onWorker = (worker: unknown) => void threads.push(worker);
  process.on("worker", onWorker);
  context.after(() => process.off("worker", onWorker));
  const first = storageThread();
  await (await temporaryThread(context)).close();
  await (await temporaryThread(context)).close();
  assert.equal(storageThread(), first);
  assert.ok(first instanceof StorageThread);
  assert.ok(threads.length <= 1, `${threads.length} threads were started`);
});

test("what is asked of a file that is closed is not answered, and its thread goes on", async (context) => {
  const other = await temporaryThread(context);
  const { post, follow } = await storageThread().open({ filePath: temporaryFile() });
  const said: string[] = [];
  const closed = new Promise<void>((resolve) => {
    follow({
      receive: ({ kind }) => {
        said.push(kind);
        if (kind === "closed") resolve();
      },
      threadEnded: assert.ifError,
    });
  });
  post({ kind: "close" });
  post({ kind: "look" });
  post({ kind: "close" });
  await closed;
  await run(other, BEAT, "a");
  assert.deepEqual(said, ["closed"]);
});
