import assert from "node:assert/strict";
import { existsSync, mkdirSync } from "node:fs";
import { test } from "node:test";
import type { RecordingKey } from "../../../../storage/calls/recording-store.js";
import { newRecordings } from "./remembered-recordings.js";

const HOUR_MS = 3_600_000;

const keysOf = (count: number): RecordingKey[] =>
  Array.from({ length: count }, (_, n) => ({ orgId: "org", callId: `call ${n}` }));

/** Work that was started without being awaited has had its turn. */
async function turns(): Promise<void> {
  for (let turn = 0; turn < 20; turn += 1) await new Promise(setImmediate);
}

test("what has expired is deleted in pages of a hundred, at the start and every hour", async () => {
  const pages = [100, 100, 3];
  const asked: unknown[] = [];
  const {
    recordings,
    clock,
    pathOf,
    leave,
    asked: told,
  } = newRecordings({
    listExpired: (nowMs, limit) => {
      asked.push([nowMs, limit]);
      return Promise.resolve(keysOf(pages.shift() ?? 0));
    },
  });
  leave(pathOf("call 0"), 4);
  leave(`${pathOf("call 1")}.part`, 4);
  assert.equal(await recordings.sweep(), 203);
  const question = [clock.epochMs(), 100];
  assert.deepEqual(asked.splice(0), [question, question, question]);
  assert.deepEqual(told.at(-1), ["remove", "call 2"]);
  assert.deepEqual(
    [told.length, existsSync(pathOf("call 0")), existsSync(`${pathOf("call 1")}.part`)],
    [203, false, false],
  );
  recordings.startUpkeep();
  assert.equal(asked.length, 1);
  clock.advance(HOUR_MS - 1);
  assert.equal(asked.length, 1);
  clock.advance(1);
  assert.equal(asked.length, 2);
  await recordings.close();
  clock.advance(HOUR_MS);
  assert.deepEqual([asked.length, clock.pendingTimerCount], [2, 0]);
});

test("a recording that cannot be deleted does not stop the others, and is logged", async () => {
  const keys = keysOf(3);
  const removed = new Set<string>();
  const { recordings, pathOf } = newRecordings({
    listExpired: (_nowMs, limit) =>
      Promise.resolve(keys.filter(({ callId }) => !removed.has(callId)).slice(0, limit)),
    remove: ({ callId }) => {
      removed.add(callId);
      return Promise.resolve();
    },
  });
  // A folder in its place cannot be deleted as a file.
  mkdirSync(pathOf("call 0"), { recursive: true });
  await assert.rejects(recordings.sweep(), /EISDIR|EPERM/);
  assert.deepEqual([...removed], ["call 1", "call 2"]);
  await recordings.close();
});

test("where nothing can be deleted a sweep asks for twenty and no more", async () => {
  const failing = new Error("the bucket is away");
  let asked = 0;
  const { recordings } = newRecordings({
    listExpired: (_nowMs, limit) => Promise.resolve(keysOf(limit)),
    remove: () => {
      asked += 1;
      return Promise.reject(failing);
    },
  });
  await assert.rejects(recordings.sweep(), failing);
  assert.equal(asked, 20);
  await recordings.close();
});

test("a failing sweep is logged", async () => {
  const failing = new Error("the database is locked");
  const { recordings, log } = newRecordings({ listExpired: () => Promise.reject(failing) });
  recordings.startUpkeep();
  await turns();
  await recordings.close();
  assert.deepEqual(log.lines, [
    {
      level: "error",
      fields: { error: failing },
      message: "expired recordings could not be deleted",
    },
  ]);
});
