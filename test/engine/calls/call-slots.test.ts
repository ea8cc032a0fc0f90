import assert from "node:assert/strict";
import { test } from "node:test";
import { CallSlots } from "../../../engine/calls/admission.js";
import { LiveCalls } from "../../../engine/calls/live-calls.js";

test("an organization has as many slots as its plan allows, whatever others use", () => {
  const slots = new CallSlots();
  assert.ok(slots.acquire("a", "call-1", 2));
  assert.ok(slots.acquire("a", "call-2", 2));
  assert.equal(slots.acquire("a", "call-3", 2), false);
  assert.ok(slots.acquire("b", "call-4", 1));
  assert.equal(slots.count, 3);
});

test("a slot is freed once: a second release does not free another call's", () => {
  const slots = new CallSlots();
  slots.acquire("a", "call-1", 2);
  slots.acquire("a", "call-2", 2);
  slots.release("call-1");
  slots.release("call-1");
  slots.release("never there");
  assert.equal(slots.count, 1);
  assert.ok(slots.acquire("a", "call-3", 2));
  assert.equal(slots.acquire("a", "call-4", 2), false);
});

test("one call does not get two slots", () => {
  const slots = new CallSlots();
  assert.ok(slots.acquire("a", "call-1", 5));
  assert.equal(slots.acquire("a", "call-1", 5), false);
  assert.equal(slots.count, 1);
});

test("a plan without calls gives none", () => {
  assert.equal(new CallSlots().acquire("a", "call-1", 0), false);
});

test("slots of dead calls are found and freed", () => {
  const slots = new CallSlots();
  for (const id of ["dead-1", "alive", "dead-2"]) slots.acquire("a", id, 3);
  assert.equal(
    slots.reconcile((id) => id === "alive"),
    2,
  );
  assert.equal(slots.count, 1);
  assert.ok(slots.acquire("a", "next", 2));
});

test("waiting for the last call ends with it, and at once when there is none", async () => {
  const calls = new LiveCalls();
  await calls.empty();
  calls.add({ callId: "one", end: () => undefined });
  calls.add({ callId: "two", end: () => undefined });
  const order: string[] = [];
  const waited = Promise.all([
    calls.empty().then(() => order.push("empty")),
    calls.empty().then(() => order.push("empty too")),
  ]);
  calls.remove("one");
  order.push("one left");
  await Promise.resolve();
  calls.remove("two");
  await waited;
  assert.deepEqual(order, ["one left", "empty", "empty too"]);
});

test("all calls can be ended though each leaves the list as it ends", () => {
  const calls = new LiveCalls();
  const endedIds: string[] = [];
  for (const callId of ["one", "two", "three"]) {
    const end = () => {
      endedIds.push(callId);
      calls.remove(callId);
    };
    calls.add({ callId, end });
  }
  calls.endAll({ reason: "serverStopping", status: "completed", message: "bye" });
  assert.deepEqual(endedIds, ["one", "two", "three"]);
  assert.equal(calls.count, 0);
});

test("a call that continues another takes its slot, within the same organization", () => {
  const slots = new CallSlots();
  assert.ok(slots.acquire("a", "first", 1));
  assert.equal(slots.acquire("b", "theirs", 0, "first"), false);
  assert.equal(slots.countOf("a"), 1);
  assert.ok(slots.acquire("a", "next", 1, "first"));
  slots.release("first");
  assert.equal(slots.countOf("a"), 1);
});
