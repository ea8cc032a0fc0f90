import assert from "node:assert/strict";
import { test } from "node:test";
import { afterWaiting, Breakers } from "../../../../engine/vendors/chain/breakers.js";
import { VirtualClock } from "../../../doubles/virtual-clock.js";

const CREDENTIAL = { id: "a", version: 1, category: "llm", vendor: "openai" } as const;

function failedBreaker(clock: VirtualClock) {
  const breaker = new Breakers(clock).of(CREDENTIAL);
  breaker.failed({ fault: "unauthorized", retryAfterMs: undefined });
  return breaker;
}

test("news say how much of the pause is left and how old the fault is, whatever the wall clock does", () => {
  const clock = new VirtualClock();
  const breaker = failedBreaker(clock);
  clock.advance(2_000);
  const { leftMs, lastFault, pauseMs, phase } = breaker.news;
  assert.deepEqual([leftMs, pauseMs, phase], [3_000, 5_000, "open"]);
  assert.deepEqual(lastFault, { fault: "unauthorized", agoMs: 2_000 });
  clock.advance(60_000);
  assert.equal(breaker.news.leftMs, 0);
  clock.stepWallClock(-3_600_000);
  assert.equal(breaker.news.lastFault?.agoMs, 0);
  assert.equal(new Breakers(clock).of(CREDENTIAL).news.lastFault, undefined);
});

test("news that have waited are so much older", () => {
  const clock = new VirtualClock();
  const { news } = failedBreaker(clock);
  assert.deepEqual(afterWaiting(news, 1_000), {
    ...news,
    leftMs: 4_000,
    lastFault: { fault: "unauthorized", agoMs: 1_000 },
  });
  assert.equal(afterWaiting(news, 5_001).leftMs, 0);
  assert.equal(afterWaiting({ ...news, lastFault: undefined }, 1).lastFault, undefined);
});

test("a fault that others tell of happened when it did, and what says nothing of one keeps the last", () => {
  const clock = new VirtualClock();
  const news = afterWaiting(failedBreaker(clock).news, 700);
  const other = new Breakers(clock);
  other.applyReport(news);
  const atMs = clock.epochMs() - 700;
  assert.deepEqual(other.healthOf(CREDENTIAL).lastFault, { fault: "unauthorized", atMs });
  other.applyReport({ ...news, phase: "closed", changeCount: 9, lastFault: undefined });
  assert.deepEqual(other.healthOf(CREDENTIAL), {
    phase: "closed",
    recentFailures: 0,
    lastFault: { fault: "unauthorized", atMs },
  });
});
