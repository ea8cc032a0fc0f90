import assert from "node:assert/strict";
import { test } from "node:test";
import { CALLER_LEFT } from "../../../engine/conversation/call-end.js";
import { NO_WORDS } from "../../../engine/conversation/effects.js";
import { VirtualClock } from "../../doubles/virtual-clock.js";
import { callRecord } from "../../storage/sample-records.js";
import { centerFor, HISTORY_LIFETIME_MS, SAID } from "./center-stand.js";

const SLOT_SWEEP_MS = 30_000;

/** Whether it is settled after everything that is due now. */
async function isSettled(work: Promise<unknown>): Promise<boolean> {
  let settled = false;
  void work.then(() => {
    settled = true;
  });
  for (let n = 0; n < 20; n += 1) await new Promise(setImmediate);
  return settled;
}

test("a server is ready once its audio thread is warm, until it has its calls or stops", async (t) => {
  const { center, liveCall } = await centerFor(t, { callsMax: 1 });
  assert.equal(center.isReady, false);
  await center.warm;
  assert.equal(center.isReady, true);
  liveCall("one");
  assert.equal(center.isReady, false);
  center.liveCalls.remove("one");
  assert.equal(center.isReady, true);
  const page = await center.metrics.text();
  assert.match(page, /^parley_ready 1$/m);
  await center.drain(0);
  assert.deepEqual([center.isReady, center.isStopping], [false, true]);
});

test("a stopping server accepts no call, and ends the remaining ones at the deadline", async (t) => {
  const { center, clock, tenant, liveCall } = await centerFor(t);
  const endings = liveCall("long");
  const drained = center.drain(10_000);
  const refusal = await center.opener.refusal({ tenant, agentId: undefined });
  assert.equal(refusal?.reason, "serverStopping");
  clock.advance(9_999);
  assert.equal(await isSettled(drained), false);
  assert.deepEqual(endings, []);
  clock.advance(1);
  assert.equal(await isSettled(drained), false);
  const ending = { reason: "serverStopping", status: "completed" };
  assert.deepEqual(endings, [{ ...ending, message: "the server is restarting" }]);
  clock.advance(4_999);
  assert.equal(await isSettled(drained), false, "a call has five seconds to end");
  clock.advance(1);
  await drained;
});

test("a stopping server continues immediately when its last call has ended", async (t) => {
  const { center, liveCall } = await centerFor(t);
  const endings = liveCall("short");
  const drained = center.drain(10_000);
  center.liveCalls.remove("short");
  await drained;
  assert.deepEqual(endings, []);
});

test("a closing server waits for the ends of its calls to be stored, but not forever", async (t) => {
  const { center, database, clock, begin, orgId } = await centerFor(t);
  const [first, second] = [await begin("one"), await begin("two")];
  const finish = database.calls.finish.bind(database.calls);
  let goOn = () => {};
  database.calls.finish = async (...input) => {
    await new Promise<void>((resolve) => (goOn = resolve));
    return finish(...input);
  };
  first.ended(CALLER_LEFT, NO_WORDS);
  const closed = center.close();
  assert.equal(await isSettled(closed), false);
  goOn();
  await closed;
  assert.equal((await database.calls.findById(orgId, "one"))?.status, "completed");
  assert.equal(clock.pendingTimerCount, 0, "nothing is kept up any more");

  second.ended(CALLER_LEFT, NO_WORDS);
  const closedAgain = center.close();
  assert.equal(await isSettled(closedAgain), false);
  clock.advance(5_000);
  await closedAgain;
  goOn();
});

test("calls of a run that died are closed as failed, and what is too old is forgotten", async (t) => {
  const { center, database, clock, log, orgId } = await centerFor(t);
  const nowMs = clock.epochMs();
  await database.calls.start(
    callRecord({ id: "old", orgId, startedAtMs: nowMs }),
    "an earlier run",
  );
  const savedAt = (key: string, atMs: number) =>
    database.history.replace({ orgId, key }, [], [...SAID], atMs);
  await savedAt("too old", nowMs - HISTORY_LIFETIME_MS - 1);
  await savedAt("young", nowMs - HISTORY_LIFETIME_MS);
  await center.recover();
  assert.equal((await database.calls.findById(orgId, "old"))?.status, "failed");
  const [line] = log.ofLevel("warn");
  assert.deepEqual(
    [line?.message, line?.fields],
    ["calls of an earlier run were closed as failed", { count: 1 }],
  );
  assert.equal(await database.history.load(orgId, "too old", 0), undefined);
  assert.deepEqual(await database.history.load(orgId, "young", 0), SAID);
  await center.recover();
  assert.equal(log.ofLevel("warn").length, 1, "a run that left nothing is not spoken of");
});

test("every five seconds the run says that it lives", async (t) => {
  const { center, database, clock, orgId, begin } = await centerFor(t);
  await center.recover();
  await begin("call");
  const beganAtMs = clock.epochMs();
  clock.advance(4_999);
  clock.advance(1);
  clock.advance(2_000);
  // As another run would find it, had this one died here.
  await database.calls.closeAbandoned("a later run", clock.epochMs());
  const call = await database.calls.findById(orgId, "call");
  assert.equal(call?.endedAtMs, beganAtMs + 5_000);
});

test("calls of an organization that was suspended are ended within two seconds, and no others", async (t) => {
  const { center, database, clock, orgId, liveCall } = await centerFor(t);
  const [theirs, others] = [liveCall("theirs"), liveCall("others")];
  await center.slots.acquire(orgId, "theirs", 9);
  await center.slots.acquire("another", "others", 9);
  await database.organizations.setStatus(orgId, "pending", clock.epochMs());
  clock.advance(1_999);
  // Earlier requests to the database are answered before this one.
  await database.plans.list();
  await new Promise(setImmediate);
  assert.deepEqual(theirs, []);
  clock.advance(1);
  await database.plans.list();
  await new Promise(setImmediate);
  assert.deepEqual([theirs.map(({ reason }) => reason), others], [["suspended"], []]);
});

test("slots of dead calls are freed, and that is logged as an error", async (t) => {
  const { center, clock, log, liveCall } = await centerFor(t);
  liveCall("alive");
  await center.slots.acquire("org", "alive", 9);
  clock.advance(SLOT_SWEEP_MS);
  assert.deepEqual(log.ofLevel("error"), []);
  await center.slots.acquire("org", "dead", 9);
  clock.advance(SLOT_SWEEP_MS - 1);
  assert.equal(center.slots.count, 2);
  clock.advance(1);
  assert.equal(center.slots.count, 1);
  const [line] = log.ofLevel("error");
  assert.deepEqual([line?.message, line?.fields], ["freed the slots of dead calls", { count: 1 }]);
});

test("an upkeep that fails is logged, and breaks nothing", async (t) => {
  const { database, clock, log } = await centerFor(t);
  database.calls.heartbeat = () => Promise.reject(new Error("disk full"));
  clock.advance(5_000);
  while (log.lines.length === 0) await new Promise(setImmediate);
  const [line] = log.lines;
  assert.deepEqual([line?.level, line?.message], ["warn", "database maintenance failed"]);
});

test("a server that lets everybody in says so where it is too busy, once that has passed", async (t) => {
  const { center, clock, tenant, liveCall } = await centerFor(t, { callsMax: 1 });
  const refusal = async () => (await center.opener.refusal({ tenant, agentId: undefined }))?.reason;
  liveCall("one");
  clock.advance(10_000);
  assert.equal(await refusal(), "overloaded");
  center.liveCalls.remove("one");
  assert.equal(await refusal(), "agentNotFound", "the organization has made none yet");
});

test("upkeep comes round every two, five and thirty seconds, and every hour", async (t) => {
  const rounds = t.mock.method(VirtualClock.prototype, "every");
  await centerFor(t);
  const periodsMs = new Set(rounds.mock.calls.map(({ arguments: [periodMs] }) => periodMs));
  for (const periodMs of [2_000, 5_000, 30_000, 3_600_000]) {
    assert.ok(periodsMs.has(periodMs), `${periodMs} ms`);
  }
});
