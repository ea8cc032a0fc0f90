import assert from "node:assert/strict";
import { test } from "node:test";
import { CallSlots } from "../../../engine/calls/admission.js";
import type { Cluster } from "../../../engine/calls/cluster-calls.js";
import { EventLoopDelay } from "../../../engine/metrics/event-loop-delay.js";
import { callRecord } from "../../storage/sample-records.js";
import { centerFor } from "./center-stand.js";

type Changeable<Of> = { -readonly [Key in keyof Of]: Of[Key] };

/** A server whose other processes have no calls, until a test says so. */
function quietBox(): Changeable<Cluster> {
  return {
    slots: new CallSlots(),
    callCount: 0,
    events: {
      hasSubscribers: () => false,
      subscribe: () => {},
      publish: () => {},
      onEvent: () => {},
      onSubscribed: () => {},
    },
    breakers: { publish: () => {}, onEvent: () => {} },
    othersAccept: false,
    isDrained: false,
    hasCall: () => Promise.resolve(false),
    endCall: () => Promise.resolve(false),
  };
}

test("a server is ready while any of its processes accepts calls, and no call is accepted while it is drained", async (t) => {
  const cluster = quietBox();
  const { center, tenant } = await centerFor(t, { cluster, callsMax: 3 });
  const refusal = async () =>
    (await center.opener.refusal({ tenant, agentId: undefined }))?.message;
  cluster.othersAccept = true;
  assert.deepEqual([center.isReady, center.isServing], [true, false], "this one is not warm yet");
  cluster.othersAccept = false;
  assert.equal(center.isReady, false);
  await center.warm;
  assert.deepEqual([center.isReady, center.isServing], [true, true]);
  cluster.callCount = 3;
  assert.deepEqual([center.isReady, center.isServing], [false, true], "the server is full");
  cluster.callCount = 2;
  cluster.isDrained = true;
  assert.deepEqual([center.isReady, center.isServing], [false, false]);
  assert.equal(await refusal(), "the server takes no new calls");
  cluster.isDrained = false;
  cluster.othersAccept = true;
  await center.drain(0);
  assert.deepEqual([center.isReady, center.isServing], [false, false]);
  assert.equal(center.slots, cluster.slots);
});

test("the process reports its current work to watchers", async (t) => {
  const { center, liveCall } = await centerFor(t);
  liveCall("one");
  liveCall("two");
  const told = (await center.metrics.text()).split("\n");
  const free = told.find((line) => line.startsWith("parley_disk_free_bytes "));
  assert.ok(Number(free?.split(" ")[1]) > 0);
  for (const line of [
    "parley_calls_active 2",
    "parley_storage_requests_waiting 0",
    "parley_speech_cache_bytes 0",
  ]) {
    assert.ok(told.includes(line), line);
  }
});

test("a call of this run that no process has is closed at the second check, and a live one is not", async (t) => {
  const { database, clock, log, orgId, liveCall } = await centerFor(t);
  for (const id of ["lost", "alive"]) {
    await database.calls.start(callRecord({ id, orgId, sessionId: id }), "this run");
  }
  liveCall("alive");
  const statusOf = async (id: string) => (await database.calls.findById(orgId, id))?.status;
  clock.advance(30_000);
  await database.plans.list();
  await new Promise(setImmediate);
  assert.equal(await statusOf("lost"), "active");
  clock.advance(30_000);
  while ((await statusOf("lost")) === "active") await new Promise(setImmediate);
  assert.equal(await statusOf("alive"), "active");
  while (log.ofLevel("error").length === 0) await new Promise(setImmediate);
  assert.deepEqual(log.ofLevel("error"), [
    {
      level: "error",
      fields: { count: 1 },
      message: "calls whose end was lost were closed as failed",
    },
  ]);
});

test("a late process refuses no call while another one of the server accepts calls", async (t) => {
  t.mock.method(EventLoopDelay.prototype, "take", () => 51);
  const cluster = quietBox();
  const { center, clock, tenant } = await centerFor(t, { cluster, eventLoopDelayMaxMs: 50 });
  const reason = async () => (await center.opener.refusal({ tenant, agentId: undefined }))?.reason;
  clock.advance(2_000);
  assert.deepEqual([center.isOverloaded, await reason()], [true, "overloaded"]);
  cluster.othersAccept = true;
  assert.equal(await reason(), "agentNotFound", "the organization has made none yet");
});

test("a server that closes waits for its recordings, and gives up what it could not store", async (t) => {
  const { center } = await centerFor(t);
  const recordings = t.mock.method(center.recordings, "close");
  const journal = t.mock.method(center.journal, "close");
  await center.close();
  assert.deepEqual([recordings.mock.callCount(), journal.mock.callCount()], [1, 1]);
});
