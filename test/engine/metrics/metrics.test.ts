import assert from "node:assert/strict";
import promises from "node:fs/promises";
import { syncBuiltinESMExports } from "node:module";
import { test } from "node:test";
import { EventLoopDelay } from "../../../engine/metrics/event-loop-delay.js";
import { diskFreeBytes, Metrics, type MetricsSources } from "../../../engine/metrics/metrics.js";

const SOURCES: MetricsSources = {
  callsActive: () => 3,
  storageRequestsWaiting: () => 0,
  speechCacheBytes: () => 0,
  isReady: () => true,
  eventLoopDelay: new EventLoopDelay(),
  diskFreeBytes: async () => 5,
  failingVendors: () => [],
};

async function lines(changes: Partial<MetricsSources> = {}): Promise<readonly string[]> {
  return (await new Metrics({ ...SOURCES, ...changes }).text()).split("\n");
}

test("gauges are read on request", async () => {
  const told = await lines();
  assert.ok(told.includes("parley_calls_active 3"));
  assert.ok(told.includes("parley_ready 1"));
  assert.ok(told.includes("parley_disk_free_bytes 5"));
  assert.ok((await lines({ isReady: () => false })).includes("parley_ready 0"));
});

test("credentials with an open circuit breaker are counted by category and vendor at each scrape", async () => {
  const openai = { category: "llm", vendor: "openai" };
  let troubled = [openai, openai, { category: "stt", vendor: "deepgram" }];
  const metrics = new Metrics({ ...SOURCES, failingVendors: () => troubled });
  const told = async () =>
    (await metrics.text()).split("\n").filter((line) => line.startsWith("parley_vendor_breakers"));
  assert.deepEqual(await told(), [
    'parley_vendor_breakers_open{category="llm",vendor="openai"} 2',
    'parley_vendor_breakers_open{category="stt",vendor="deepgram"} 1',
  ]);
  troubled = [];
  assert.deepEqual(await told(), []);
});

test("an unknown value is omitted, and is not zero", async () => {
  const told = await lines({ diskFreeBytes: async () => undefined });
  assert.deepEqual(
    told.filter((line) => line.startsWith("parley_disk_free_bytes")),
    [],
  );
});

test("the free space of a disk is reported, unless the folder is missing", async (t) => {
  const statfs = t.mock.method(promises, "statfs", () =>
    Promise.resolve({ bavail: 7, bsize: 4_096 }),
  );
  syncBuiltinESMExports();
  assert.equal(await diskFreeBytes("."), 28_672);
  statfs.mock.restore();
  syncBuiltinESMExports();
  assert.equal(await diskFreeBytes("/no/such/folder"), undefined);
});
