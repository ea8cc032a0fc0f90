import assert from "node:assert/strict";
import { test } from "node:test";
import { Breakers } from "../../../../engine/vendors/chain/breakers.js";
import type { ChainLink } from "../../../../engine/vendors/chain/chain.js";
import { FirstTokenTimes } from "../../../../engine/vendors/chain/first-token-times.js";
import { Hedging } from "../../../../engine/vendors/chain/hedging.js";
import { VirtualClock } from "../../../doubles/virtual-clock.js";

function link(id = "one", modelId = "m", version = "1"): ChainLink<unknown> {
  const breakers = new Breakers(new VirtualClock());
  const breaker = breakers.of({ id, version, category: "llm", vendor: "openai" });
  return { vendor: "openai", modelId, client: undefined, breaker };
}

function took(times: FirstTokenTimes, of: ChainLink<unknown>, timeMs: number, count = 1): void {
  for (let n = 0; n < count; n++) times.took(of, timeMs);
}

test("who is late is known from twenty replies of the same credential, version and model", () => {
  const times = new FirstTokenTimes();
  took(times, link(), 500, 19);
  assert.equal(times.lateAfterMs(link()), undefined);
  took(times, link(), 500);
  assert.equal(times.lateAfterMs(link()), 600);
  for (const other of [link("two"), link("one", "n"), link("one", "m", "2")]) {
    assert.equal(times.lateAfterMs(other), undefined);
  }
});

test("late is a fifth later than 95 of the newest 100, and never before 300 ms", () => {
  const times = new FirstTokenTimes();
  took(times, link(), 9_000, 100);
  took(times, link(), 500, 60);
  took(times, link(), 800, 35);
  took(times, link(), 4_000, 5);
  assert.equal(times.lateAfterMs(link()), 960, "five of a hundred are the late ones");
  took(times, link(), 4_000, 30);
  assert.equal(times.lateAfterMs(link()), 1_600, "late more often: from twice the median on");
  took(times, link(), 100, 100);
  assert.equal(times.lateAfterMs(link()), 300);
});

test("the model that was asked first is forgotten when there are more than 2,000", () => {
  const times = new FirstTokenTimes();
  took(times, link(), 500, 20);
  took(times, link("two"), 500, 20);
  for (let n = 0; n < 1_999; n++) times.took(link(`other ${n}`), 500);
  assert.equal(times.lateAfterMs(link()), undefined);
  assert.equal(times.lateAfterMs(link("two")), 600);
});

test("an organization spends no more than the share of what it has used, and saves up a bounded sum", () => {
  const hedging = new Hedging(0.05);
  const own = hedging.of("own");
  assert.equal(own.spend(1), false);
  own.used(1_000);
  assert.equal(hedging.of("other").spend(1), false);
  assert.equal(own.spend(30), true);
  assert.equal(own.spend(30), false);
  assert.equal(own.spend(20), true);
  own.used(1_000_000_000);
  assert.equal(own.spend(50_000), true);
  assert.equal(own.spend(1), false);
});

test("a share of nothing asks nobody, and the oldest organization's savings are forgotten first", () => {
  const nothing = new Hedging(0).of("org");
  nothing.used(1_000_000);
  assert.equal(nothing.spend(0), false);
  const hedging = new Hedging(1);
  for (let n = 0; n <= 10_000; n++) hedging.of(String(n)).used(10);
  assert.equal(hedging.of("0").spend(1), false);
  assert.equal(hedging.of("1").spend(1), true);
});
