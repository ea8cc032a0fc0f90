import assert from "node:assert/strict";
import { test } from "node:test";
import { afterReading } from "../../../engine/conversation/runner.js";
import { VirtualClock } from "../../doubles/virtual-clock.js";

test("a timer that the thread was too busy for lets what has come meanwhile be read first", () => {
  const clock = new VirtualClock(0);
  const firedAtMs: number[] = [];
  const fire = () => firedAtMs.push(clock.monotonicMs());
  const cancel = afterReading(clock, 350, fire);
  afterReading(clock, 350, fire);
  clock.stall(401);
  assert.deepEqual(firedAtMs, []);
  cancel();
  clock.advance(100);
  assert.deepEqual(firedAtMs, [501], "one of them, since the other came in the meantime");
});

test("a timer that is as late as they often are waits for nothing", () => {
  const clock = new VirtualClock(0);
  const firedAtMs: number[] = [];
  afterReading(clock, 350, () => firedAtMs.push(clock.monotonicMs()));
  clock.stall(400);
  assert.deepEqual(firedAtMs, [400]);
  assert.equal(clock.pendingTimerCount, 0);
});
