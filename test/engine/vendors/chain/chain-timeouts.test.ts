import assert from "node:assert/strict";
import { getEventListeners } from "node:events";
import { beforeEach, test } from "node:test";
import { ReplyTimeout } from "../../../../engine/vendors/chain/chain-timeouts.js";
import { VirtualClock } from "../../../doubles/virtual-clock.js";

let clock: VirtualClock;
let call: AbortController;

beforeEach(() => {
  clock = new VirtualClock();
  call = new AbortController();
});

function patienceOf(limitMs: number | undefined): ReplyTimeout {
  return new ReplyTimeout(clock, limitMs, call.signal);
}

test("a silent attempt times out, and not a millisecond before", () => {
  const timeouts = patienceOf(100);
  clock.advance(99);
  assert.deepEqual([timeouts.isOver, timeouts.signal.aborted], [false, false]);
  clock.advance(1);
  assert.deepEqual([timeouts.isOver, timeouts.signal.aborted], [true, true]);
  assert.equal(call.signal.aborted, false);
  assert.deepEqual([timeouts.passedMs, timeouts.quietMs], [100, 100]);
});

test("data restarts the wait, with a shorter or longer limit if given", () => {
  const timeouts = patienceOf(100);
  clock.advance(60);
  timeouts.progress();
  clock.advance(60);
  assert.deepEqual([timeouts.isOver, timeouts.passedMs, timeouts.quietMs], [false, 120, 60]);
  timeouts.progress(30);
  clock.advance(29);
  timeouts.progress(200);
  clock.advance(199);
  assert.equal(timeouts.isOver, false);
  clock.advance(1);
  assert.equal(timeouts.isOver, true);
});

test("a wait is made longer, never shorter, from when something came last", () => {
  const timeouts = patienceOf(100);
  clock.advance(50);
  timeouts.allow(300);
  timeouts.allow(10);
  clock.advance(249);
  assert.equal(timeouts.isOver, false);
  clock.advance(1);
  assert.equal(timeouts.isOver, true);
});

test("without a limit, or after it is lifted, no attempt times out and there is no timer", () => {
  const timeouts = patienceOf(undefined);
  timeouts.progress(10);
  timeouts.allow(10);
  assert.equal(timeouts.signal, call.signal);
  assert.equal(clock.pendingTimerCount, 0);
  const lifted = patienceOf(100);
  lifted.lift();
  lifted.progress(10);
  assert.equal(clock.pendingTimerCount, 0);
  clock.advance(1_000);
  assert.equal(lifted.isOver, false);
});

test("a call that ends leaves no timer behind, and one that continues no listener", () => {
  const timeouts = patienceOf(100);
  call.abort();
  assert.equal(clock.pendingTimerCount, 0);
  assert.deepEqual([timeouts.isOver, timeouts.signal.aborted], [false, true]);
  timeouts.end();
  assert.deepEqual(getEventListeners(call.signal, "abort"), []);
  call = new AbortController();
  const ended = patienceOf(100);
  ended.end();
  assert.equal(clock.pendingTimerCount, 0);
  assert.deepEqual(getEventListeners(call.signal, "abort"), []);
});

test("a shortened wait has the given length, and ends to the millisecond", () => {
  const shorter = patienceOf(100);
  shorter.progress(30);
  assert.equal(clock.pendingTimerCount, 1);
  clock.advance(29);
  assert.equal(shorter.isOver, false);
  clock.advance(1);
  assert.equal(shorter.isOver, true);
  const begun = patienceOf(100);
  clock.advance(1);
  begun.progress();
  clock.advance(99);
  assert.equal(begun.isOver, false);
  clock.advance(1);
  assert.equal(begun.isOver, true);
});
