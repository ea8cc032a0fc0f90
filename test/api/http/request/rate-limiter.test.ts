import assert from "node:assert/strict";
import { test } from "node:test";
import { RateLimiter } from "../../../../api/http/request/rate-limiter.js";
import { VirtualClock } from "../../../doubles/virtual-clock.js";

const LIMIT = { usesMax: 3, windowMs: 60_000 };

function useUp(limiter: RateLimiter, key: string): readonly number[] {
  return [1, 2, 3, 4].map(() => limiter.take(key));
}

test("the first use beyond the limit returns the time to wait", () => {
  const clock = new VirtualClock();
  const limiter = new RateLimiter(LIMIT, clock);
  assert.deepEqual(useUp(limiter, "a"), [0, 0, 0, 60]);
  clock.advance(45_500);
  assert.equal(limiter.take("a"), 15);
});

test("after its window, a key starts a new count", () => {
  const clock = new VirtualClock();
  const limiter = new RateLimiter(LIMIT, clock);
  useUp(limiter, "a");
  clock.advance(59_999);
  assert.equal(limiter.take("a"), 1);
  clock.advance(1);
  assert.deepEqual(useUp(limiter, "a"), [0, 0, 0, 60]);
});

test("keys are counted separately", () => {
  const limiter = new RateLimiter(LIMIT, new VirtualClock());
  useUp(limiter, "a");
  assert.equal(limiter.take("b"), 0);
});

test("a limit of zero refuses the first use too", () => {
  const limiter = new RateLimiter({ usesMax: 0, windowMs: 60_000 }, new VirtualClock());
  assert.deepEqual(useUp(limiter, "a"), [60, 60, 60, 60]);
});

test("a key beyond the maximum replaces the least recently seen one, and only that one", () => {
  const limiter = new RateLimiter(LIMIT, new VirtualClock(), 2);
  useUp(limiter, "a");
  useUp(limiter, "b");
  limiter.take("c");
  assert.equal(limiter.keyCount, 2);
  assert.equal(limiter.take("b"), 60);
  assert.equal(limiter.take("a"), 0);
});
