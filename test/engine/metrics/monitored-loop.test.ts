import assert from "node:assert/strict";
import { syncBuiltinESMExports } from "node:module";
import perfHooks, { performance } from "node:perf_hooks";
import { type TestContext, test } from "node:test";
import { EventLoopDelay } from "../../../engine/metrics/event-loop-delay.js";

const NS_PER_MS = 1_000_000;
const NONE = { p50Ms: 0, p90Ms: 0, p99Ms: 0, maxMs: 0 };

/** A monitor that returns the test's values and records its calls. */
function monitored(context: TestContext, share = () => 0) {
  const said = { p50: 0, p90: 0, p99: 0, max: 0 };
  const asked: string[] = [];
  const percentiles = new Map([
    [50, () => said.p50],
    [90, () => said.p90],
    [99, () => said.p99],
  ]);
  const monitor = {
    percentile: (at: number) => (percentiles.get(at)?.() ?? Number.NaN) * NS_PER_MS,
    get max() {
      return said.max * NS_PER_MS;
    },
    reset: () => void asked.push("reset"),
    enable: () => void asked.push("enable"),
    disable: () => void asked.push("disable"),
  };
  const made = context.mock.method(perfHooks, "monitorEventLoopDelay", () => monitor);
  syncBuiltinESMExports();
  const delay = new EventLoopDelay(share);
  made.mock.restore();
  syncBuiltinESMExports();
  assert.deepEqual(made.mock.calls[0]?.arguments, [{ resolution: 10 }]);
  const takenAsks = () => asked.splice(0);
  return { delay, said, takenAsks };
}

test("lateness is the delay above the monitor's own period, and never negative", (t) => {
  const { delay, said } = monitored(t);
  delay.watch();
  Object.assign(said, { p50: 9, p90: 12.5, p99: 30, max: 41 });
  assert.equal(delay.take(true), 20);
  assert.deepEqual(delay.takeWorst(), { p50Ms: 0, p90Ms: 2.5, p99Ms: 20, maxMs: 31 });
  assert.deepEqual(delay.takeWorst(), NONE);
});

test("each figure is the highest since takeWorst was last called", (t) => {
  const { delay, said } = monitored(t);
  delay.watch();
  Object.assign(said, { p50: 15, p90: 26, p99: 37, max: 48 });
  delay.take(true);
  Object.assign(said, { p50: 14, p90: 27, p99: 36, max: 49 });
  delay.take(true);
  assert.deepEqual(delay.takeWorst(), { p50Ms: 5, p90Ms: 17, p99Ms: 27, maxMs: 39 });
});

test("the monitor is reset when it is enabled or read, and disabled when nothing is monitored", (t) => {
  let busyShare = 0.25;
  const { delay, said, takenAsks } = monitored(t, () => busyShare);
  said.p99 = 500;
  assert.equal(delay.take(false), 0, "nothing was monitored");
  assert.deepEqual(takenAsks(), ["reset", "disable"]);
  busyShare = 0.26;
  delay.take(false);
  assert.deepEqual(takenAsks(), ["reset", "reset", "enable"]);
  delay.watch();
  assert.deepEqual(takenAsks(), []);
  assert.equal(delay.take(false), 490);
  assert.deepEqual(takenAsks(), ["reset"]);
  delay.close();
  assert.deepEqual([delay.isWatching, takenAsks()], [false, ["disable"]]);
});

test("a loop's load covers the time since it was last read, not since the process started", (t) => {
  const loop = { active: 0, idle: 0 };
  const shareSince = (now?: typeof loop, last = { active: 0, idle: 0 }) => {
    if (now === undefined) return { ...loop, utilization: 0 };
    const active = now.active - last.active;
    const idle = now.idle - last.idle;
    return { active, idle, utilization: active / (active + idle) };
  };
  t.mock.method(performance, "eventLoopUtilization", shareSince);
  loop.active = 1_000;
  const delay = new EventLoopDelay();
  const isBusyAfter = (active: number, idle: number) => {
    loop.active += active;
    loop.idle += idle;
    delay.take(false);
    return delay.isWatching;
  };
  t.after(() => delay.close());
  assert.equal(isBusyAfter(10, 990), false);
  assert.equal(isBusyAfter(900, 100), true);
  assert.equal(isBusyAfter(10, 990), false);
});
