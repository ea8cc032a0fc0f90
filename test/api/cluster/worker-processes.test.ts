import assert from "node:assert/strict";
import { test } from "node:test";
import {
  FAILED_START_ALONE_MAX_MS,
  FAILED_START_MAX_MS,
  RESTART_ALONE_MAX_MS,
  RESTART_MAX_MS,
  RestartWait,
} from "../../../api/cluster/worker-processes.js";

const END = { hasListened: true, livedMs: 1_500, isAlone: false };

function waits(end: typeof END, count = 20): readonly number[] {
  const wait = new RestartWait();
  return Array.from({ length: count }, () => wait.after(end));
}

test("a process that took calls is soon started again, however often it is killed", () => {
  assert.deepEqual(waits(END, 4), [100, 200, 400, 800]);
  assert.equal(Math.max(...waits(END)), RESTART_MAX_MS);
});

test("while no process takes calls, one that took some is started again at once", () => {
  assert.equal(Math.max(...waits({ ...END, isAlone: true })), RESTART_ALONE_MAX_MS);
});

test("a worker that fails at start waits longer while others run", () => {
  const failed = { ...END, hasListened: false };
  assert.equal(Math.max(...waits(failed)), FAILED_START_MAX_MS);
  assert.equal(Math.max(...waits({ ...failed, isAlone: true })), FAILED_START_ALONE_MAX_MS);
});

test("one that failed for long and then lived for long is started again at once", () => {
  const wait = new RestartWait();
  for (let n = 0; n < 20; n += 1) wait.after({ ...END, hasListened: false });
  assert.equal(wait.after({ ...END, livedMs: 61_000 }), 100);
});
