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

test("an event says how much of the pause is left and how old the fault is, whatever the wall clock does", () => {
  const clock = new VirtualClock();
  const breaker = failedBreaker(clock);
  clock.advance(2_000);
  const { leftMs, lastFault, pauseMs, phase } = breaker.lastEvent;
  assert.deepEqual([leftMs, pauseMs, phase], [3_000, 5_000, "open"]);
  assert.deepEqual(lastFault, { fault: "unauthorized", agoMs: 2_000 });
  clock.advance(60_000);
  assert.equal(breaker.lastEvent.leftMs, 0);
  clock.stepWallClock(-3_600_000);
  assert.equal(breaker.lastEvent.lastFault?.agoMs, 0);
  assert.equal(new Breakers(clock).of(CREDENTIAL).lastEvent.lastFault, undefined);
});

test("an event that waited is that much older", () => {
  const clock = new VirtualClock();
  const { lastEvent } = failedBreaker(clock);
  assert.deepEqual(afterWaiting(lastEvent, 1_000), {
    ...lastEvent,
    leftMs: 4_000,
    lastFault: { fault: "unauthorized", agoMs: 1_000 },
  });
  assert.equal(afterWaiting(lastEvent, 5_001).leftMs, 0);
  assert.equal(afterWaiting({ ...lastEvent, lastFault: undefined }, 1).lastFault, undefined);
});

test("a fault that others tell of happened when it did, and what says nothing of one keeps the last", () => {
  const clock = new VirtualClock();
  const lastEvent = afterWaiting(failedBreaker(clock).lastEvent, 700);
  const other = new Breakers(clock);
  other.applyReport(lastEvent);
  const atMs = clock.epochMs() - 700;
  assert.deepEqual(other.healthOf(CREDENTIAL).lastFault, { fault: "unauthorized", atMs });
  other.applyReport({ ...lastEvent, phase: "closed", changeCount: 9, lastFault: undefined });
  assert.deepEqual(other.healthOf(CREDENTIAL), {
    phase: "closed",
    recentFailures: 0,
    lastFault: { fault: "unauthorized", atMs },
  });
});
