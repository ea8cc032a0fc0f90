import assert from "node:assert/strict";
import { test } from "node:test";
import {
  clusterMetricsText,
  type Metric,
  processMetrics,
} from "../../../engine/metrics/cluster-metrics.js";
import { EventLoopDelay } from "../../../engine/metrics/event-loop-delay.js";
import { Metrics } from "../../../engine/metrics/metrics.js";

test("the calls of a server's processes are added up, and a breaker that all of them report counts once", async () => {
  const openai = { category: "llm", vendor: "openai" };
  const deepgram = { category: "stt", vendor: "deepgram" };
  const pageOf = (troubled: readonly (typeof openai)[]) =>
    new Metrics({
      callsActive: () => 3,
      storageRequestsWaiting: () => 0,
      speechCacheBytes: () => 0,
      isReady: () => true,
      eventLoopDelay: new EventLoopDelay(),
      diskFreeBytes: async () => 5,
      failingVendors: () => troubled,
    }).page();
  const owner = await processMetrics()();
  const pages = [owner, await pageOf([openai, openai, deepgram]), await pageOf([openai, openai])];
  const told = (await clusterMetricsText(pages)).split("\n");
  assert.deepEqual(
    told.filter((line) => /^parley_(calls_active|vendor_breakers_open)/.test(line)).toSorted(),
    [
      "parley_calls_active 6",
      'parley_vendor_breakers_open{category="llm",vendor="openai"} 2',
      'parley_vendor_breakers_open{category="stt",vendor="deepgram"} 1',
    ],
  );
});

/** A page with one metric of the kind that every process reports. */
async function pageWith(name: string, value: number): Promise<readonly Metric[]> {
  const gauge = (await processMetrics()()).find((each) => each.name === "parley_build_info");
  assert.ok(gauge);
  return [{ ...gauge, name, values: [{ value, labels: {} }] }];
}

test("a metric that is not a sum is the smallest, the largest or the first value of the processes", async () => {
  for (const [name, value] of [
    ["parley_calls_active", 6],
    ["parley_ready", 3],
    ["parley_build_info", 2],
    ["parley_disk_free_bytes", 1],
    ["parley_vendor_breakers_open", 3],
    ["parley_storage_requests_waiting", 3],
    ["process_start_time_seconds", 1],
    ["process_max_fds", 1],
    ["nodejs_eventloop_lag_p50_seconds", 3],
    ["nodejs_eventloop_lag_p90_seconds", 3],
    ["nodejs_eventloop_lag_p99_seconds", 3],
    ["nodejs_eventloop_lag_max_seconds", 3],
  ] as const) {
    const pages = await Promise.all([2, 3, 1].map((figure) => pageWith(name, figure)));
    const text = await clusterMetricsText(pages);
    assert.ok(text.split("\n").includes(`${name} ${value}`), text);
  }
});

test("a process without calls reports its build and its memory", async () => {
  const names = new Set((await processMetrics()()).map(({ name }) => name));
  assert.ok(names.has("parley_build_info"));
  assert.ok(names.has("process_resident_memory_bytes"));
  assert.ok(!names.has("nodejs_eventloop_lag_mean_seconds"));
});
