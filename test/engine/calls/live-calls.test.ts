import assert from "node:assert/strict";
import { test } from "node:test";
import { LiveCalls } from "../../../engine/calls/live-calls.js";
import { CALLER_LEFT } from "../../../engine/conversation/call-end.js";

test("the callback is called for every call at the moment when it is opened", () => {
  const counts: number[] = [];
  const calls: LiveCalls = new LiveCalls(() => counts.push(calls.count));
  calls.add({ callId: "one", end: () => {} });
  calls.add({ callId: "two", end: () => {} });
  calls.remove("one");
  assert.deepEqual(counts, [1, 2]);
});

test("calls have been ended from here when there were any, and not before", () => {
  const calls = new LiveCalls();
  calls.endAll(CALLER_LEFT);
  assert.equal(calls.wereEnded, false, "there was none");
  calls.add({ callId: "one", end: () => {} });
  assert.equal(calls.wereEnded, false);
  calls.endAll(CALLER_LEFT);
  assert.equal(calls.wereEnded, true);
});

test("a wait for the end of all calls resolves with the last one, and not before", async () => {
  const calls = new LiveCalls();
  for (const callId of ["one", "two"]) calls.add({ callId, end: () => {} });
  const wait = { isOver: false };
  const waited = calls.empty().then(() => (wait.isOver = true));
  calls.remove("one");
  await new Promise(setImmediate);
  assert.equal(wait.isOver, false);
  calls.remove("two");
  await waited;
  assert.deepEqual([calls.count, calls.has("two"), calls.find("two")], [0, false, undefined]);
});
