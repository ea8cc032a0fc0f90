import assert from "node:assert/strict";
import { type TestContext, test } from "node:test";
import { PlacedCallJob } from "../../../../engine/calls/outbound/placed-call-job.js";
import { JobRunner } from "../../../../engine/jobs/job-runner.js";
import { JobMetrics } from "../../../../engine/metrics/job-metrics.js";
import { PLACED_CALL_MAX_MS } from "../../../../storage/jobs/job-record.js";
import { callRecord, NOON_MS } from "../../../storage/sample-records.js";
import { endpointRecord, webhookEntry } from "../../../storage/webhooks/sample-endpoint.js";
import { ORDER, outboundFor } from "../outbound-stand.js";

/** Placed calls of an organization whose endpoint wants their events. */
async function placing(context: TestContext) {
  const parts = await outboundFor(context);
  const { database, clock, log } = parts;
  const eventTypes = ["call.ringing", "call.started", "call.failed"] as const;
  await database.webhooks.insertWithin(endpointRecord({ eventTypes }), 9, webhookEntry());
  /** Types and places of what was sent of a call. */
  const events = async () => {
    const range = { fromMs: 0, toMs: Number.MAX_SAFE_INTEGER, types: eventTypes, limit: 99 };
    const found = await database.webhooks.eventsBetween("org", range);
    return found.map(({ type, callSequence }) => [type, callSequence]);
  };
  /** The runner of a server that starts on this database, or that learns of a process that died. */
  const runJobs = () => {
    const runner = new JobRunner({
      store: database.jobs,
      handlers: { placedCall: new PlacedCallJob({ calls: database.calls, runId: "other", log }) },
      owner: "other",
      isAlone: true,
      meter: new JobMetrics(),
      clock,
      log,
    });
    context.after(async () => {
      const closing = runner.close(0);
      clock.advance(0);
      await closing;
    });
    runner.start();
  };
  const jobs = () => database.jobs.list("org", { state: "queued", skip: 0, limit: 9 });
  const placed = async () =>
    (await jobs())
      .filter(({ kind }) => kind === "placedCall")
      .map(({ payload }) => payload["callId"]);
  const record = async (id: string) => {
    for (;;) {
      const call = await database.calls.findById("org", id);
      if (call !== undefined) return call;
      await new Promise(setImmediate);
    }
  };
  return { ...parts, events, runJobs, placed, record };
}

test("a placed call whose process dies while it rings is recorded as failed by the next start", async (t) => {
  const { place, say, journal, database, events, runJobs, record } = await placing(t);
  const { id } = await place();
  await say("ringing");
  await say("ringing");
  await journal.stored();
  assert.deepEqual(await events(), [["call.ringing", 1]]);
  runJobs();
  assert.equal(await database.calls.closeAbandoned("next run", NOON_MS), 0);
  const call = await record(id);
  assert.deepEqual(
    [call.id, call.sessionId, call.status, call.channel, call.startedAtMs, call.endedAtMs],
    [id, id, "failed", "phone", NOON_MS, NOON_MS],
  );
  assert.equal(call.metadata["to"], ORDER.to);
  assert.match(String(call.metadata["endReason"]), /stopped before the placed call/);
  assert.deepEqual(await events(), [
    ["call.ringing", 1],
    ["call.failed", 2],
  ]);
  await say("no-answer");
  await journal.stored();
  assert.equal((await events()).length, 2, "the vendor's report comes too late");
});

for (const [who, close] of [
  ["another process of its server", "closeRun"],
  ["another server", "closeRunOfLostNode"],
] as const) {
  test(`a placed call whose process dies is recorded as failed by ${who}, and those of others are not`, async (t) => {
    const { place, database, placed, runJobs, record } = await placing(t);
    const { id } = await place();
    runJobs();
    await database.calls[close]("run that has placed nothing", NOON_MS);
    assert.deepEqual(await placed(), [id]);
    await database.calls[close]("run", NOON_MS);
    assert.equal((await record(id)).status, "failed");
  });
}

test("a placed call that nothing was heard of again is recorded as failed when its time is over", async (t) => {
  const { place, database, clock } = await placing(t);
  const { id } = await place();
  const claim = {
    queue: "placedCall:run",
    owner: "me",
    leaseUntilMs: clock.epochMs() + 1,
    limit: 9,
  };
  const early = await database.jobs.claim({ ...claim, nowMs: NOON_MS + PLACED_CALL_MAX_MS - 1 });
  assert.deepEqual(early, []);
  const due = await database.jobs.claim({ ...claim, nowMs: NOON_MS + PLACED_CALL_MAX_MS });
  assert.deepEqual(
    due.map(({ payload }) => payload["callId"]),
    [id],
  );
});

test("the record of a placed call takes the place of its job, and it rings no more", async (t) => {
  const { place, say, journal, database, placed, events } = await placing(t);
  const { id } = await place();
  const start = { ...callRecord({ id, sessionId: id }) };
  await database.calls.start(start, "run");
  assert.deepEqual(await placed(), []);
  await say("ringing");
  await journal.stored();
  assert.deepEqual(await events(), []);
});

test("a call that is over has no job any more, whatever ended it", async (t) => {
  const { place, say, stored, placed, vendor, journal, events } = await placing(t);
  const { id } = await place();
  await say("busy");
  assert.equal((await stored(id))?.status, "failed");
  vendor.refuse(400, { code: 21211, message: "no such number" });
  await assert.rejects(place());
  await journal.stored();
  assert.deepEqual(await placed(), []);
  assert.deepEqual(await events(), [["call.failed", 1]]);
});
