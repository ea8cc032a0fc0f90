import assert from "node:assert/strict";
import { test } from "node:test";
import { EventLoopDelay } from "../../../engine/metrics/event-loop-delay.js";

/** The monitor's resolution in whole milliseconds. */
const PERIOD_MS = 10;
const AT_REST = 0.004;
const BUSY = 0.6;

function loop() {
  const load = { busyShare: AT_REST };
  return { load, delay: new EventLoopDelay(() => load.busyShare) };
}

test("an idle loop is not monitored, and its lateness is zero", () => {
  const { delay } = loop();
  assert.equal(delay.take(false), 0);
  assert.equal(delay.isWatching, false);
  assert.deepEqual(delay.takeWorst(), { p50Ms: 0, p90Ms: 0, p99Ms: 0, maxMs: 0 });
});

test("the loop is monitored from the start of a call, and as long as there are calls", (t) => {
  const { delay } = loop();
  t.after(() => delay.close());
  delay.watch();
  assert.equal(delay.isWatching, true);
  delay.take(true);
  delay.take(true);
  assert.equal(delay.isWatching, true);
  delay.take(false);
  assert.equal(delay.isWatching, false);
});

test("a loop that is busy without calls is monitored until it is idle", (t) => {
  const { delay, load } = loop();
  t.after(() => delay.close());
  load.busyShare = BUSY;
  delay.take(false);
  assert.equal(delay.isWatching, true);
  load.busyShare = AT_REST;
  delay.take(false);
  assert.equal(delay.isWatching, false);
});

test("a blocked loop is late, and time without monitoring does not count", async (t) => {
  const { delay } = loop();
  t.after(() => delay.close());
  delay.watch();
  await blocked(2 * PERIOD_MS);
  await blocked(60);
  const lateMs = delay.take(false);
  assert.ok(lateMs >= 40, `late for ${lateMs} ms`);
  await blocked(300);
  delay.watch();
  await blocked(2 * PERIOD_MS);
  assert.ok(delay.take(false) < 300, "time before monitoring does not count");
  const { p99Ms, maxMs } = delay.takeWorst();
  assert.ok(p99Ms >= lateMs && maxMs >= p99Ms, "the worst is kept for the metrics");
  assert.equal(delay.takeWorst().maxMs, 0, "once");
});

test("takeWorst returns the highest value of each figure over several takes", async (t) => {
  const { delay } = loop();
  t.after(() => delay.close());
  delay.watch();
  for (let times = 0; times < 4; times += 1) await blocked(60);
  delay.take(true);
  await blocked(PERIOD_MS);
  await blocked(PERIOD_MS);
  delay.take(false);
  const { p50Ms, p90Ms } = delay.takeWorst();
  assert.ok(p50Ms >= 40 && p90Ms >= p50Ms, `${p50Ms} ms, ${p90Ms} ms`);
});

/** Blocks the loop, then lets it turn twice, since the monitor measures from one of its timers to the next. */
async function blocked(durationMs: number): Promise<void> {
  const endMs = performance.now() + durationMs;
  while (performance.now() < endMs);
  await new Promise((resolve) => setImmediate(resolve));
  await new Promise((resolve) => setImmediate(resolve));
}
