import assert from "node:assert/strict";
import { test } from "node:test";
import { PreemptiveBudget } from "../../../engine/calls/preemptive-budget.js";
import { VirtualClock } from "../../doubles/virtual-clock.js";

test("an organization that has wasted its tokens of the hour begins no reply early until the next", () => {
  const clock = new VirtualClock(0);
  const budget = new PreemptiveBudget(100, clock);
  const wasteful = budget.of("wasteful");
  wasteful.wasted(60);
  assert.equal(wasteful.mayRequest(), true);
  budget.of("wasteful").wasted(60);
  assert.equal(wasteful.mayRequest(), false, "its calls count together");
  assert.equal(budget.of("other").mayRequest(), true);
  clock.advance(60 * 60 * 1_000);
  assert.equal(wasteful.mayRequest(), true);
});

test("where nothing may be wasted no reply is begun early", () => {
  assert.equal(new PreemptiveBudget(0, new VirtualClock(0)).of("org").mayRequest(), false);
});

test("what was wasted is forgotten with its hour, and a reply is begun early up to the last token", () => {
  const clock = new VirtualClock(0);
  const allowance = new PreemptiveBudget(100, clock).of("org");
  allowance.wasted(99);
  assert.equal(allowance.mayRequest(), true);
  allowance.wasted(1);
  clock.advance(3_599_999);
  assert.equal(allowance.mayRequest(), false);
  clock.advance(1);
  assert.equal(allowance.mayRequest(), true);
  allowance.wasted(100);
  assert.equal(allowance.mayRequest(), false, "it is counted anew");
});
