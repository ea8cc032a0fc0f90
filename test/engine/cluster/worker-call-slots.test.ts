import assert from "node:assert/strict";
import { test } from "node:test";
import { WorkerCallSlots } from "../../../engine/cluster/worker-ports.js";
import { CALLS_MAX, newCluster, ORG, settled } from "./cluster-in-one-process.js";

test("a process knows which of the server's slots are its own, and frees only those", async () => {
  const { primary, join } = newCluster();
  const [one, other] = [new WorkerCallSlots(join(1)), new WorkerCallSlots(join(2))];
  assert.equal(await one.acquire(ORG, "a", CALLS_MAX), true);
  assert.equal(await other.acquire(ORG, "b", CALLS_MAX), true);
  assert.equal(
    await one.acquire(ORG, "c", 2),
    false,
    "the plan's calls are counted over the server",
  );
  assert.deepEqual([one.count, one.orgIds, one.callsOf(ORG)], [1, [ORG], ["a"]]);
  assert.equal(await one.countOf(ORG), 2);
  one.release("b");
  await settled();
  assert.equal(primary.callCount, 2);
  one.release("a");
  await settled();
  assert.deepEqual([one.count, primary.callCount], [0, 1]);
});

test("a call that continues another takes its slot", async () => {
  const { primary, join } = newCluster();
  const slots = new WorkerCallSlots(join(1));
  await slots.acquire(ORG, "a", 1);
  assert.equal(await slots.acquire(ORG, "b", 1, "a"), true);
  slots.release("a");
  await settled();
  assert.deepEqual([slots.count, primary.callCount], [1, 1]);
});

test("slots of dead calls are returned to the server", async () => {
  const { primary, join } = newCluster();
  const slots = new WorkerCallSlots(join(1));
  for (const [orgId, callId] of [
    [ORG, "a"],
    [ORG, "b"],
    ["other", "c"],
  ] as const) {
    await slots.acquire(orgId, callId, CALLS_MAX);
  }
  assert.equal(
    slots.reconcile((callId) => callId === "a"),
    2,
  );
  await settled();
  assert.deepEqual([slots.callsOf(ORG), slots.count, primary.callCount], [["a"], 1, 1]);
});

test("a call that moves to another process is that one's from then on, and the primary knows it already", async () => {
  const { primary, join } = newCluster();
  const [one, other] = [new WorkerCallSlots(join(1)), new WorkerCallSlots(join(2))];
  await one.acquire(ORG, "a", CALLS_MAX);
  other.adopt(ORG, "a");
  assert.equal(one.forget("a"), true);
  assert.equal(one.forget("a"), false);
  one.release("a");
  await settled();
  assert.deepEqual([one.count, other.count, primary.callCount], [0, 1, 1]);
});
