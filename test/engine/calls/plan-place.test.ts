import assert from "node:assert/strict";
import { test } from "node:test";
import { CallSlots, takePlace } from "../../../engine/calls/admission.js";

const BACK = { orgId: "org", callId: "back", callsMax: 2 };

/** A plan of two calls with these in it. */
function newPlan(live: readonly string[]) {
  const slots = new CallSlots();
  for (const callId of live) slots.acquire("org", callId, 2);
  const ended: string[] = [];
  const endCall = (callId: string) => {
    ended.push(callId);
    return live.includes(callId);
  };
  return { slots, ended, endCall };
}

test("a caller who returns next to their own call gets another slot if there is one", async () => {
  const plan = newPlan(["own"]);
  assert.ok(await takePlace(plan, BACK, { beside: "own" }));
  assert.deepEqual([plan.ended, plan.slots.callsOf("org")], [[], ["own", "back"]]);
});

test("if the plan is full, a caller who returns to a live call gets its slot, and it ends", async () => {
  const plan = newPlan(["own", "another"]);
  assert.ok(await takePlace(plan, BACK, { beside: "own" }));
  assert.deepEqual([plan.ended, plan.slots.callsOf("org")], [["own"], ["another", "back"]]);
});

test("if it is full of others' calls, or the own one cannot be ended, the caller is refused", async () => {
  const plan = newPlan(["one", "another"]);
  assert.equal(await takePlace(plan, BACK, {}), false);
  assert.deepEqual(plan.ended, []);
  assert.equal(await takePlace(plan, BACK, { beside: "out of reach" }), false);
  assert.deepEqual(plan.slots.callsOf("org"), ["one", "another"]);
});

test("a call that continues another takes its slot, and no call is ended", async () => {
  const plan = newPlan(["before", "another"]);
  assert.ok(await takePlace(plan, BACK, { replaces: "before", beside: "another" }));
  assert.deepEqual([plan.ended, plan.slots.callsOf("org")], [[], ["another", "back"]]);
});

test("the call of a client with one conversation is ended though no process says that it has it, and nobody waits", async () => {
  const { slots } = newPlan([]);
  const ended: string[] = [];
  const endCall = (callId: string) => {
    ended.push(callId);
    return new Promise<boolean>(() => {});
  };
  const perhaps = { perhapsAlive: "silent" };
  assert.ok(await takePlace({ slots, endCall }, { ...BACK, isOneConversation: true }, perhaps));
  assert.deepEqual(ended, ["silent"]);
  assert.ok(await takePlace({ slots, endCall }, { ...BACK, callId: "other" }, perhaps));
  assert.deepEqual(ended, ["silent"], "two clients may continue another conversation");
});
