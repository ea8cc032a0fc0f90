import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { readdirSync } from "node:fs";
import { getPriority } from "node:os";
import { describe, it } from "node:test";
import {
  maySetNice,
  STARTING_BEHIND_MAX_MS,
  startedBehind,
} from "../../../api/cluster/worker-processes.js";
import { VirtualClock } from "../../doubles/virtual-clock.js";

const limit = (nice: number) =>
  `Limit                     Soft Limit           Hard Limit           Units     \nMax nice priority         ${nice}                   ${nice}                   \n`;

describe("a process that starts with low priority", () => {
  it("may do so only where the system lets it come back", () => {
    assert.equal(maySetNice(limit(0), 0), false);
    assert.equal(maySetNice(limit(19), 0), false);
    assert.equal(maySetNice(limit(20), 0), true);
    assert.equal(maySetNice(limit(15), 5), true);
    assert.equal(maySetNice("", 0), false);
  });

  it("comes back with all of its threads", async () => {
    const threads =
      "new (require('worker_threads').Worker)('setInterval(() => 0, 1e6)', { eval: true })";
    const script = `process.once('message', () => ${threads}.once('online', () => process.send('on')))`;
    const child = spawn(process.execPath, ["-e", script], {
      stdio: ["ignore", "ignore", "inherit", "ipc"],
    });
    const { pid = 0 } = child;
    const usual = getPriority();
    const clock = new VirtualClock();
    const exited = once(child, "exit");
    const comeForward = startedBehind({ pid, clock, exited, onFailure: assert.ifError });
    const isBehind = getPriority(pid) > usual;
    const online = once(child, "message");
    child.send("begin");
    await online;
    assert.equal(getPriority(pid) > usual, isBehind);
    comeForward();
    // While it is stopped, none of its threads ends between two checks.
    child.kill("SIGSTOP");
    const nices = readdirSync(`/proc/${pid}/task`).map((thread) => getPriority(Number(thread)));
    child.kill("SIGKILL");
    assert.deepEqual([...new Set(nices)], [usual]);
    await exited;
  });

  it("comes back after five seconds though it has not started, and nothing is done once it has ended", async () => {
    const failures: unknown[] = [];
    const onFailure = (error: unknown) => failures.push(error);
    const usual = getPriority();
    const start = () => {
      const child = spawn(process.execPath, ["-e", "setInterval(() => 0, 1e6)"]);
      const clock = new VirtualClock();
      const { pid = 0 } = child;
      const exited = once(child, "exit");
      startedBehind({ pid, clock, exited, onFailure });
      return { child, clock, exited, pid };
    };
    const slow = start();
    slow.clock.advance(STARTING_BEHIND_MAX_MS);
    assert.equal(getPriority(slow.pid), usual);
    const dead = start();
    for (const { child, exited } of [slow, dead]) {
      child.kill("SIGKILL");
      await exited;
    }
    dead.clock.advance(STARTING_BEHIND_MAX_MS);
    assert.deepEqual(failures, []);
  });
});
