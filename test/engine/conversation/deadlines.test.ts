import assert from "node:assert/strict";
import { test } from "node:test";
import {
  DEADLINE_NAMES,
  type DeadlineName,
  dueDeadlines,
  nextDeadline,
  noDeadlines,
  setDeadline,
  takeDueDeadline,
} from "../../../engine/conversation/deadlines.js";
import { DeadlineTimer } from "../../../engine/conversation/runner.js";
import { PLAIN_SETTINGS, RecordedCall } from "../../doubles/recorded-call.js";
import { VirtualClock } from "../../doubles/virtual-clock.js";

test("the next deadline is the earliest, and those that are due come in the order of their times, then of their names", () => {
  const state = { deadlines: noDeadlines() };
  assert.equal(nextDeadline(state), undefined);
  setDeadline(state, "maxDuration", 1_000);
  setDeadline(state, "turnStall", 300);
  setDeadline(state, "idle", 200);
  setDeadline(state, "dtmf", 300);
  assert.equal(nextDeadline(state), 200);
  assert.deepEqual(dueDeadlines(state, 199), []);
  assert.deepEqual(dueDeadlines(state, 300), ["idle", "dtmf", "turnStall"]);
});

test("a deadline is taken once, and not before it is due", () => {
  const state = { deadlines: noDeadlines() };
  setDeadline(state, "idle", 200);
  assert.equal(takeDueDeadline(state, "idle", 199), false);
  assert.equal(takeDueDeadline(state, "idle", 200), true);
  assert.equal(takeDueDeadline(state, "idle", 200), false);
  assert.equal(nextDeadline(state), undefined);
});

test("a call that has ended has no deadline", () => {
  const call = new RecordedCall(PLAIN_SETTINGS);
  call.send({ type: "opened", resumed: false });
  assert.notEqual(nextDeadline(call.actor.state), undefined);
  call.send({
    type: "endRequested",
    ending: { reason: "callerLeft", status: "completed", message: "" },
  });
  assert.deepEqual(call.actor.state.deadlines, noDeadlines());
});

const HARMLESS: readonly DeadlineName[] = DEADLINE_NAMES.filter(
  (name) => name !== "nextWord" && name !== "maxDuration",
);

for (const preemptiveGeneration of [false, true]) {
  const when = preemptiveGeneration ? "where replies are preemptive" : "where they are not";
  test(`a deadline with nothing left to do does nothing, ${when}`, () => {
    for (const name of HARMLESS) {
      const call = new RecordedCall({ ...PLAIN_SETTINGS, preemptiveGeneration });
      call.send({ type: "opened", resumed: true });
      const state = structuredClone(call.actor.state);
      call.takeLines();
      call.reach(name);
      assert.deepEqual(call.takeLines(), [], name);
      assert.deepEqual(call.actor.state, { ...state, deadlines: call.actor.state.deadlines }, name);
    }
  });
}

test("an answer that is being heard is left alone by deadlines of what was before it", () => {
  for (const name of [
    "falseInterruption",
    "outputPause",
    "dtmf",
    "filler",
    "sentenceFlush",
    "overlapBeforeReply",
    "idle",
    "transfer",
  ] as const) {
    const call = new RecordedCall({
      ...PLAIN_SETTINGS,
      preemptiveGeneration: true,
      idleTimeoutMs: 5_000,
    });
    call.send({ type: "opened", resumed: true });
    call.send({ type: "written", text: "what time is it" });
    call.send({ type: "replyToken", turnId: 1, text: "It is ten." });
    call.send({ type: "replyDone", turnId: 1, tokens: 5 });
    call.send({ type: "sentenceWhole", turnId: 1, index: 0, durationMs: 2_000, firstByteAtMs: 0 });
    call.clock.advance(500);
    const state = structuredClone(call.actor.state);
    call.takeLines();
    call.reach(name);
    assert.deepEqual(call.takeLines(), [], name);
    assert.deepEqual(call.actor.state, { ...state, deadlines: call.actor.state.deadlines }, name);
  }
});

test("a deadline that the thread was too busy for lets what has arrived meanwhile be read first", () => {
  const clock = new VirtualClock(0);
  const firedAtMs: number[] = [];
  const timer = new DeadlineTimer(clock, () => firedAtMs.push(clock.monotonicMs()));
  timer.arm(350);
  clock.stall(401);
  assert.deepEqual(firedAtMs, []);
  clock.advance(50);
  timer.arm(360);
  clock.advance(50);
  assert.deepEqual(firedAtMs, [501], "the event that was read has moved the deadline");
  timer.arm(600);
  clock.advance(99);
  assert.deepEqual(firedAtMs, [501, 600]);
});

test("a deadline that is as late as timers often are waits for nothing", () => {
  const clock = new VirtualClock(0);
  const firedAtMs: number[] = [];
  const timer = new DeadlineTimer(clock, () => firedAtMs.push(clock.monotonicMs()));
  timer.arm(350);
  clock.stall(400);
  assert.deepEqual(firedAtMs, [400]);
  assert.equal(clock.pendingTimerCount, 0);
});

test("a deadline that is set again while events are read is not waited for once more", () => {
  const clock = new VirtualClock(0);
  const firedAtMs: number[] = [];
  const timer = new DeadlineTimer(clock, () => firedAtMs.push(clock.monotonicMs()));
  timer.arm(350);
  clock.stall(401);
  clock.stall(300);
  assert.deepEqual(firedAtMs, [701]);
});
