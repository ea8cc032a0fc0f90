import assert from "node:assert/strict";
import { test } from "node:test";
import { EventLoopDelay } from "../../../engine/metrics/event-loop-delay.js";

/** The monitor's period, in whole milliseconds. */
const PERIOD_MS = 10;
const AT_REST = 0.004;
const BUSY = 0.6;

function loop() {
  const load = { busyShare: AT_REST };
  return { load, delay: new EventLoopDelay(() => load.busyShare) };
}

test("a loop at rest is not watched, and counts as in time", () => {
  const { delay } = loop();
  assert.equal(delay.take(false), 0);
  assert.equal(delay.isWatching, false);
  assert.deepEqual(delay.takeWorst(), { p50Ms: 0, p90Ms: 0, p99Ms: 0, maxMs: 0 });
});

test("it is watched from the moment at which a call begins, for as long as there are calls", (t) => {
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

test("a loop that works without calls is watched too, until it rests", (t) => {
  const { delay, load } = loop();
  t.after(() => delay.close());
  load.busyShare = BUSY;
  delay.take(false);
  assert.equal(delay.isWatching, true);
  load.busyShare = AT_REST;
  delay.take(false);
  assert.equal(delay.isWatching, false);
});

test("a blocked loop is late, and unwatched time does not count", async (t) => {
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
  assert.ok(delay.take(false) < 300, "what was before the watch is not counted");
  const { p99Ms, maxMs } = delay.takeWorst();
  assert.ok(p99Ms >= lateMs && maxMs >= p99Ms, "the worst is kept for the metrics");
  assert.equal(delay.takeWorst().maxMs, 0, "once");
});

test("the worst of each figure is kept, of whichever take it is", async (t) => {
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

/** The loop does nothing else, then comes round once: the monitor measures from one of its timers to the next. */
async function blocked(durationMs: number): Promise<void> {
  const endMs = performance.now() + durationMs;
  while (performance.now() < endMs);
  await new Promise((resolve) => setImmediate(resolve));
  await new Promise((resolve) => setImmediate(resolve));
}
