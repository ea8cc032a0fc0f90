import assert from "node:assert/strict";
import { test } from "node:test";
import { boxMetricsText, processMetrics } from "../../../engine/metrics/box-metrics.js";
import { EventLoopDelay } from "../../../engine/metrics/event-loop-delay.js";
import { Metrics } from "../../../engine/metrics/metrics.js";

test("calls of a box's processes are added up, and a breaker that all of them know is one", async () => {
  const openai = { category: "llm", vendor: "openai" };
  const deepgram = { category: "stt", vendor: "deepgram" };
  const pageOf = (troubled: readonly (typeof openai)[]) =>
    new Metrics({
      callsActive: () => 3,
      storageRequestsWaiting: () => 0,
      speechCacheBytes: () => 0,
      summariesWaiting: () => 0,
      isReady: () => true,
      eventLoopDelay: new EventLoopDelay(),
      diskFreeBytes: async () => 5,
      troubledVendors: () => troubled,
    }).page();
  const owner = await processMetrics()();
  const pages = [owner, await pageOf([openai, openai, deepgram]), await pageOf([openai, openai])];
  const told = (await boxMetricsText(pages)).split("\n");
  assert.deepEqual(
    told.filter((line) => /^parley_(calls_active|vendor_breakers_open)/.test(line)).toSorted(),
    [
      "parley_calls_active 6",
      'parley_vendor_breakers_open{category="llm",vendor="openai"} 2',
      'parley_vendor_breakers_open{category="stt",vendor="deepgram"} 1',
    ],
  );
});
