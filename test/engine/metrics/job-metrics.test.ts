import assert from "node:assert/strict";
import { test } from "node:test";
import { JobMetrics } from "../../../engine/metrics/job-metrics.js";

async function lists(metrics: JobMetrics) {
  const page = await metrics.page();
  const { values = [] } = page.find(({ name }) => name === "parley_call_lists") ?? {};
  return values
    .filter(({ value }) => value > 0)
    .map(({ labels, value }) => `${labels["state"]} ${labels["hold"]} ${value}`)
    .sort();
}

test("call lists have a series for each state, and for what holds them only while it does", async () => {
  const metrics = new JobMetrics();
  metrics.callListsCounted([
    { state: "running", holdCode: null, count: 2 },
    { state: "running", holdCode: "telephony_unavailable", count: 1 },
    { state: "paused", holdCode: "target_not_allowed", count: 3 },
  ]);
  assert.deepEqual(await lists(metrics), [
    "paused target_not_allowed 3",
    "running none 2",
    "running telephony_unavailable 1",
  ]);
  metrics.callListsCounted([{ state: "running", holdCode: null, count: 3 }]);
  assert.deepEqual(await lists(metrics), ["running none 3"]);
  const page = await metrics.page();
  const { values = [] } = page.find(({ name }) => name === "parley_call_lists") ?? {};
  assert.equal(values.length, 5, "a state without lists is 0, not absent");
});

test("hold codes that are no code of this version share one label value", async () => {
  const metrics = new JobMetrics();
  metrics.callListsCounted([
    { state: "paused", holdCode: "code_of_tomorrow", count: 1 },
    { state: "paused", holdCode: "constructor", count: 1 },
  ]);
  assert.deepEqual(await lists(metrics), ["paused other 2"]);
});
