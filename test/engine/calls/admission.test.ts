import assert from "node:assert/strict";
import { test } from "node:test";
import { Admission, type AdmissionLimits } from "../../../engine/calls/admission.js";
import { VirtualClock } from "../../doubles/virtual-clock.js";

function box(limits: Partial<AdmissionLimits> = {}) {
  const clock = new VirtualClock();
  const load = {
    calls: 0,
    isDrained: false,
    othersAccept: false,
    eventLoopDelayMs: 1,
    audioPoolWaitMs: 1,
    looks: 0,
  };
  const admission = new Admission(
    { callsMax: 0, eventLoopDelayMaxMs: 50, ...limits },
    {
      callCount: () => load.calls,
      isDrained: () => load.isDrained,
      othersAccept: () => load.othersAccept,
      takeEventLoopDelayMs: () => {
        load.looks += 1;
        return load.eventLoopDelayMs;
      },
      audioPoolWaitMs: () => load.audioPoolWaitMs,
    },
    clock,
  );
  return { clock, load, admission };
}

test("a server at ease takes every call", () => {
  const { admission, clock } = box();
  clock.advance(10_000);
  assert.equal(admission.refusal, undefined);
});

test("no call is accepted beyond the server's limit, and one is when another has ended", () => {
  const { admission, load } = box({ callsMax: 2 });
  load.calls = 2;
  assert.match(admission.refusal ?? "", /has reached its call limit/);
  load.calls = 1;
  assert.equal(admission.refusal, undefined);
});

test("a late event loop closes the door after two bad seconds and opens it after three good ones", () => {
  const { admission, clock, load } = box();
  load.eventLoopDelayMs = 80;
  clock.advance(1_000);
  assert.equal(admission.refusal, undefined);
  clock.advance(1_000);
  assert.match(admission.refusal ?? "", /too busy/);
  load.eventLoopDelayMs = 2;
  clock.advance(2_000);
  assert.match(admission.refusal ?? "", /too busy/);
  clock.advance(1_000);
  assert.equal(admission.refusal, undefined);
});

test("a full server takes a few callers who return to their agent, and no more of them than it can bear", () => {
  const { admission, clock, load } = box({ callsMax: 20 });
  assert.equal(admission.refusalOfReturning, undefined);
  for (let count = 0; count < 20; count += 1) admission.noteReturning();
  load.calls = 20;
  for (let count = 0; count < 10; count += 1) {
    assert.match(admission.refusal ?? "", /has reached its call limit/);
    assert.equal(admission.refusalOfReturning, undefined, `${count} have returned`);
    admission.noteReturning();
  }
  assert.match(admission.refusalOfReturning ?? "", /has reached its call limit/);
  clock.advance(10_000);
  assert.equal(admission.refusalOfReturning, undefined);
  load.calls = 30;
  assert.match(admission.refusalOfReturning ?? "", /has reached its call limit/);
  load.calls = 19;
  assert.equal(admission.refusalOfReturning, undefined);
});

test("audio that waits for the pool closes the door as well", () => {
  const { admission, clock, load } = box();
  load.audioPoolWaitMs = 60;
  clock.advance(2_000);
  assert.match(admission.refusal ?? "", /too busy/);
});

test("an operator can switch the look at the event loop off", () => {
  const { admission, clock, load } = box({ eventLoopDelayMaxMs: 0 });
  Object.assign(load, { eventLoopDelayMs: 5_000, audioPoolWaitMs: 5_000 });
  clock.advance(10_000);
  assert.equal(admission.refusal, undefined);
  assert.equal(load.looks, 10, "the metrics show it all the same");
});

test("nothing is looked at any more once it is closed", () => {
  const { admission, clock } = box();
  admission.close();
  assert.equal(clock.pendingTimerCount, 0);
});

test("what is exactly as late as allowed is not too late", () => {
  const { admission, clock, load } = box();
  Object.assign(load, { eventLoopDelayMs: 50, audioPoolWaitMs: 40 });
  clock.advance(10_000);
  assert.equal(admission.refusal, undefined);
  load.audioPoolWaitMs = 41;
  clock.advance(2_000);
  assert.match(admission.refusal ?? "", /too busy/);
  load.audioPoolWaitMs = 40;
  clock.advance(3_000);
  assert.equal(admission.refusal, undefined);
  load.eventLoopDelayMs = 51;
  clock.advance(2_000);
  assert.match(admission.refusal ?? "", /too busy/);
});

test("a late process refuses no call while another one of the server accepts calls", () => {
  const { admission, clock, load } = box();
  load.eventLoopDelayMs = 80;
  clock.advance(2_000);
  load.othersAccept = true;
  assert.deepEqual([admission.isOverloaded, admission.refusal], [true, undefined]);
  load.othersAccept = false;
  assert.match(admission.refusal ?? "", /too busy/);
});

test("bad seconds that do not follow each other close nothing", () => {
  const { admission, clock, load } = box();
  for (const eventLoopDelayMs of [80, 2, 80, 2, 80]) {
    load.eventLoopDelayMs = eventLoopDelayMs;
    clock.advance(1_000);
    assert.equal(admission.refusal, undefined);
  }
});

test("good seconds that do not follow each other open nothing", () => {
  const { admission, clock, load } = box();
  load.eventLoopDelayMs = 80;
  clock.advance(2_000);
  for (const eventLoopDelayMs of [2, 2, 80, 2, 2]) {
    load.eventLoopDelayMs = eventLoopDelayMs;
    clock.advance(1_000);
    assert.equal(admission.isOverloaded, true);
  }
  clock.advance(1_000);
  assert.equal(admission.isOverloaded, false);
});

test("a server that an operator drains takes no call, though it carries none", () => {
  const { admission, load } = box({ callsMax: 2 });
  load.isDrained = true;
  assert.equal(admission.refusal, "the server takes no new calls");
  load.isDrained = false;
  assert.equal(admission.refusal, undefined);
});
