import assert from "node:assert/strict";
import { fork, spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { childEnd } from "../../../api/cluster/worker-processes.js";

test("a failed message to a killed process does not count as its end", async (context) => {
  const folder = await mkdtemp(join(tmpdir(), "parley-child-"));
  context.after(() => rm(folder, { recursive: true }));
  const script = join(folder, "waits.cjs");
  await writeFile(script, 'process.on("message", () => {}); process.send("here");');
  const child = fork(script);
  const told: string[] = [];
  child.on("error", () => told.push("error"));
  child.on("exit", () => told.push("exit"));
  child.on("disconnect", () => told.push("disconnect"));
  const ended = childEnd(child).then(() => told.push("ended"));
  await once(child, "message");
  child.kill("SIGKILL");
  // While this process waits for another, that one has ended without a notification.
  spawnSync(process.execPath, ["-e", ""]);
  child.send("are you there?");
  child.send("are you?");
  await ended;
  assert.deepEqual(told.slice(0, 2), ["error", "error"], "it was told too late");
  assert.deepEqual(told.slice(2, -1).sort(), ["disconnect", "exit"]);
  assert.equal(told.at(-1), "ended");
});

test("a program that cannot be started has ended", async () => {
  await childEnd(spawn(join(tmpdir(), "parley-is-not-here")));
});
