import assert from "node:assert/strict";
import { test } from "node:test";
import { RecentWaits } from "../../../engine/audio/conversion-queue.js";
import { VirtualClock } from "../../doubles/virtual-clock.js";

const LAST_KEPT_MS = 1_000;
const WAITS_KEPT_MS = 5_000;

test("nothing has waited before the first", () => {
  const waits = new RecentWaits(new VirtualClock());
  assert.deepEqual([waits.lastMs, waits.p95Ms], [0, 0]);
});

test("the last counts for a second, so that one slow thing is not met again and again", () => {
  const clock = new VirtualClock(10_000);
  const waits = new RecentWaits(clock);
  waits.addSince(9_000);
  clock.advance(LAST_KEPT_MS);
  assert.equal(waits.lastMs, 1_000);
  clock.advance(1);
  assert.deepEqual([waits.lastMs, waits.p95Ms], [0, 1_000]);
});

test("what began to wait before all was forgotten counts from then on", () => {
  const clock = new VirtualClock(10_000);
  const waits = new RecentWaits(clock);
  clock.advance(500);
  waits.forget();
  clock.advance(7);
  waits.addSince(10_000);
  assert.deepEqual([waits.lastMs, waits.p95Ms], [7, 7]);
});

test("the last, and what 95 of 100 do not exceed, of the last 64", () => {
  const clock = new VirtualClock(10_000);
  const waits = new RecentWaits(clock);
  for (let waitMs = 1; waitMs <= 100; waitMs += 1) waits.addSince(10_000 - waitMs);
  assert.equal(waits.lastMs, 100);
  assert.equal(waits.p95Ms, 97);
  waits.forget();
  assert.equal(waits.p95Ms, 0);
});

test("three long waits of 64 are above what 95 of 100 do not exceed, whenever they came; a fourth before them is forgotten", () => {
  for (const [long, short] of [
    [900, 5],
    [900, 900],
  ] as const) {
    const clock = new VirtualClock(10_000);
    const waits = new RecentWaits(clock);
    const kept = [long, ...Array<number>(30).fill(5), long, ...Array<number>(30).fill(5), long];
    for (const waitMs of [900, short, ...kept]) waits.addSince(10_000 - waitMs);
    assert.equal(waits.p95Ms, short);
  }
});

test("a long wait is forgotten, though nothing follows it", () => {
  const clock = new VirtualClock(10_000);
  const waits = new RecentWaits(clock);
  waits.addSince(9_000);
  clock.advance(WAITS_KEPT_MS);
  assert.equal(waits.p95Ms, 1_000);
  clock.advance(1);
  assert.deepEqual([waits.lastMs, waits.p95Ms], [0, 0]);
});
