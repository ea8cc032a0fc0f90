import assert from "node:assert/strict";
import { mkdir } from "node:fs/promises";
import { test } from "node:test";
import { Worker } from "node:worker_threads";
import { StorageThread, storageThread } from "../../../storage/sqlite/storage-thread.js";
import { temporaryFile } from "../temporary-file.js";
import { run, temporaryThread } from "./temporary-thread.js";

const BEAT = "insert into runs (id, heartbeatAtMs) values (?, 0)";
const IDS = "select id from runs";

test("files of one thread are independent: one is refused, one is closed, and the others continue", async (context) => {
  const [one, two] = [await temporaryThread(context), await temporaryThread(context)];
  await Promise.all([run(one, BEAT, "a"), run(two, BEAT, "b")]);
  const filePath = temporaryFile();
  await mkdir(filePath, { recursive: true });
  await assert.rejects(temporaryThread(context, { filePath }), /is a folder/);
  await one.close();
  assert.deepEqual((await run(two, IDS)).rows, [{ id: "b" }]);
});

test("two clients may open the same new file at once on one thread", async (context) => {
  const filePath = temporaryFile();
  const open = () => temporaryThread(context, { filePath });
  const [one, two] = await Promise.all([open(), open()]);
  await run(one, BEAT, "a");
  assert.deepEqual((await run(two, IDS)).rows, [{ id: "a" }]);
});

test("a process has one storage thread, which waits for the next file, and starts another if it has ended", async (context) => {
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

test("a thread keeps the process alive for as long as a file of it is open", async (context) => {
  const worker = new Worker(
    `const { parentPort } = require("node:worker_threads");
    const kinds = { open: "ready", close: "closed" };
    parentPort.on("message", ({ fileId, message: { kind, settings } }) => {
      const isRefused = settings?.filePath === "bad";
      parentPort.postMessage({ fileId, message: { kind: isRefused ? "refused" : kinds[kind] } });
    });`,
    { eval: true },
  );
  context.after(() => worker.terminate());
  const kept: boolean[] = [];
  context.mock.method(worker, "ref", () => kept.push(true));
  context.mock.method(worker, "unref", () => kept.push(false));
  const thread = new StorageThread(worker);
  assert.deepEqual(kept.splice(0), [false], "before there is a file");
  const [one, two] = [await thread.open({ filePath: "a" }), await thread.open({ filePath: "b" })];
  await assert.rejects(thread.open({ filePath: "bad" }));
  assert.deepEqual(kept.splice(0), [true, true, true]);
  const close = ({ post, follow }: typeof one) =>
    new Promise<void>((resolve) => {
      follow({ receive: () => setImmediate(resolve), threadEnded: assert.ifError });
      post({ kind: "close" });
    });
  await close(one);
  assert.deepEqual(kept.splice(0), []);
  await close(two);
  assert.deepEqual(kept, [false], "with the last file");
});
