import assert from "node:assert/strict";
import { test } from "node:test";
import { AnswerTimes } from "../../../../engine/vendors/chain/answer-times.js";
import { Breakers } from "../../../../engine/vendors/chain/breakers.js";
import type { ChainLink } from "../../../../engine/vendors/chain/chain.js";
import { Hedging } from "../../../../engine/vendors/chain/llm-chain.js";
import { VirtualClock } from "../../../doubles/virtual-clock.js";

function link(id = "one", modelId = "m", version = 1, orgId = "org"): ChainLink<unknown> {
  const breakers = new Breakers(new VirtualClock());
  const breaker = breakers.of({ id, version, category: "llm", vendor: "openai" });
  return { vendor: "openai", modelId, orgId, client: undefined, breaker };
}

function took(times: AnswerTimes, of: ChainLink<unknown>, timeMs: number, count = 1): void {
  for (let n = 0; n < count; n++) times.record(of, timeMs);
}

test("lateness is known after twenty replies of the same credential, version and model", () => {
  const times = new AnswerTimes();
  took(times, link(), 500, 19);
  assert.equal(times.lateAfterMs(link()), undefined);
  took(times, link(), 500);
  assert.equal(times.lateAfterMs(link()), 600);
  for (const other of [link("two"), link("one", "n"), link("one", "m", 2)]) {
    assert.equal(times.lateAfterMs(other), undefined);
  }
});

test("late is a fifth later than 95 of the newest 100, and never before 300 ms", () => {
  const times = new AnswerTimes();
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

test("a model's fallback is requested at twice its p95, between 800 ms and the configured limit", () => {
  const times = new AnswerTimes();
  took(times, link(), 300, 19);
  assert.equal(times.timeoutMs(link(), 2_500), 2_500, "too little is known");
  took(times, link(), 300);
  assert.equal(times.timeoutMs(link(), 2_500), 800);
  took(times, link(), 600, 80);
  assert.equal(times.timeoutMs(link(), 2_500), 1_200);
  assert.equal(times.timeoutMs(link(), 1_000), 1_000);
  assert.equal(times.timeoutMs(link(), 500), 500, "what is set may be less");
});

test("a model that is late in three answers of a hundred is waited for; one that is in one is not", () => {
  const times = new AnswerTimes();
  took(times, link(), 500, 99);
  took(times, link(), 2_000);
  assert.equal(times.timeoutMs(link(), 2_500), 1_000);
  took(times, link(), 2_000, 2);
  assert.equal(times.timeoutMs(link(), 2_500), 2_400);
});

test("a prompt is compared with prompts of its length", () => {
  const times = new AnswerTimes();
  for (let n = 0; n < 20; n++) times.record(link(), 300, 500);
  assert.equal(times.timeoutMs(link(), 2_500, 2_000), 800);
  assert.equal(times.timeoutMs(link(), 2_500, 2_001), 2_500);
  for (let n = 0; n < 20; n++) times.record(link(), 900, 2_001);
  assert.equal(times.timeoutMs(link(), 2_500, 8_000), 1_800);
  assert.equal(times.lateAfterMs(link(), 8_001), undefined);
});

test("the least recently used model is dropped when there are more than 60", () => {
  const times = new AnswerTimes();
  took(times, link(), 500, 20);
  took(times, link("two"), 500, 20);
  for (let n = 0; n < 59; n++) times.record(link(`other ${n}`), 500);
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

test("a share of zero hedges nothing, and the oldest organization's savings are dropped first", () => {
  const nothing = new Hedging(0).of("org");
  nothing.used(1_000_000);
  assert.equal(nothing.spend(0), false);
  const hedging = new Hedging(1);
  for (let n = 0; n <= 10_000; n++) hedging.of(String(n)).used(10);
  assert.equal(hedging.of("0").spend(1), false);
  assert.equal(hedging.of("1").spend(1), true);
});

test("the quick replies of one organization move no deadline of another with the same provider", () => {
  const times = new AnswerTimes();
  const quick = link("global", "m", 1, "quick");
  const slow = link("global", "m", 1, "slow");
  took(times, quick, 50, 100);
  assert.equal(times.timeoutMs(quick, 5_000), 800);
  assert.equal(times.timeoutMs(slow, 5_000), 5_000);
  took(times, slow, 1_300, 20);
  assert.equal(times.timeoutMs(slow, 5_000), 2_600);
  assert.equal(times.timeoutMs(quick, 5_000), 800);
});

test("one organization's many models evict its own times and no others", () => {
  const times = new AnswerTimes();
  const quiet = link("global", "m", 1, "quiet");
  took(times, quiet, 1_000, 20);
  for (let n = 0; n < 3_000; n += 1) took(times, link(`${n}`, "m", 1, "greedy"), 50);
  assert.equal(times.timeoutMs(quiet, 5_000), 2_000);
});
