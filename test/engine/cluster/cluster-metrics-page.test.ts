import assert from "node:assert/strict";
import { test } from "node:test";
import { EventLoopDelay } from "../../../engine/metrics/event-loop-delay.js";
import { Metrics } from "../../../engine/metrics/metrics.js";
import { newCluster, nothing, settled } from "./cluster-in-one-process.js";

const pageOf = (callsActive: number) =>
  new Metrics({
    callsActive: () => callsActive,
    storageRequestsWaiting: () => 0,
    speechCacheBytes: () => 0,
    isReady: () => true,
    eventLoopDelay: new EventLoopDelay(),
    diskFreeBytes: async () => 5,
    failingVendors: () => [],
  }).page();

test("the page of metrics adds up the processes that answer in time, and leaves the others out", async () => {
  const { clock, primary, join } = newCluster({ metrics: await pageOf(1) });
  const one = join(1, { metrics: () => pageOf(2) });
  join(2, { metrics: () => Promise.reject(new Error("it cannot say")) });
  join(3, { metrics: () => new Promise(nothing) });
  const state = { isThere: false };
  const page = one.request("metrics", undefined).finally(() => (state.isThere = true));
  await settled();
  clock.advance(1_999);
  await settled();
  assert.equal(state.isThere, false);
  clock.advance(1);
  assert.match(await page, /^parley_calls_active 3$/m);
  primary.close();
  assert.equal(clock.pendingTimerCount, 0);
});
