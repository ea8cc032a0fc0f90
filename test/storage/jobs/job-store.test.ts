import assert from "node:assert/strict";
import { type TestContext, test } from "node:test";
import type { Database } from "../../../storage/database.js";
import { LOST_CLAIMS_FORGIVEN_MAX } from "../../../storage/jobs/job-store.js";
import { callEventId, newEvent } from "../../../storage/webhooks/event-record.js";
import { insertOrganizations, NOON_MS } from "../sample-records.js";
import { temporaryDatabase } from "../temporary-file.js";
import { endpointRecord, webhookEntry } from "../webhooks/sample-endpoint.js";

const job = (id: string, fields: { queue?: string; runAfterMs?: number } = {}) => ({
  id,
  orgId: "org",
  kind: "webhook" as const,
  queue: "webhook:a",
  payload: {},
  runAfterMs: NOON_MS,
  createdAtMs: NOON_MS,
  ...fields,
});

const claimOf = (
  fields: { queue?: string; owner?: string; nowMs?: number; limit?: number } = {},
) => ({
  queue: "webhook:a",
  owner: "me",
  nowMs: NOON_MS,
  limit: 10,
  leaseUntilMs: (fields.nowMs ?? NOON_MS) + 30_000,
  ...fields,
});

async function opened(context: TestContext): Promise<Database> {
  const database = await temporaryDatabase(context);
  await insertOrganizations(database);
  return database;
}

test("due jobs are claimed once, oldest first, and queues are listed by name", async (context) => {
  const { jobs } = await opened(context);
  await jobs.add([
    job("late", { runAfterMs: NOON_MS + 1 }),
    job("one"),
    job("two"),
    job("other", { queue: "webhook:b", runAfterMs: NOON_MS + 9 }),
  ]);
  await jobs.add([job("one")]);
  assert.deepEqual(await jobs.queues("", 10), [
    { queue: "webhook:a", runAfterMs: NOON_MS },
    { queue: "webhook:b", runAfterMs: NOON_MS + 9 },
  ]);
  assert.deepEqual(await jobs.queues("webhook:a", 10), [
    { queue: "webhook:b", runAfterMs: NOON_MS + 9 },
  ]);
  const [first, second] = await Promise.all([jobs.claim(claimOf()), jobs.claim(claimOf())]);
  assert.deepEqual(
    [...first, ...second].map(({ id }) => id),
    ["one", "two"],
  );
  const times = { queuedAtMs: NOON_MS + 1, leaseUntilMs: NOON_MS + 30_000 };
  assert.deepEqual(await jobs.nextTimes(), times);
});

test("an expired lease is taken over, and its former owner can change nothing", async (context) => {
  const { jobs } = await opened(context);
  await jobs.add([job("one")]);
  const [mine] = await jobs.claim(claimOf());
  assert.ok(mine);
  assert.deepEqual(await jobs.heartbeat([mine], NOON_MS + 60_000), new Set(["one"]));
  assert.equal(await jobs.takeOver(NOON_MS + 40_000), 0);
  assert.equal(await jobs.takeOver(NOON_MS + 60_001), 1);
  const [theirs] = await jobs.claim(claimOf({ owner: "they", nowMs: NOON_MS + 70_000 }));
  assert.ok(theirs);
  assert.deepEqual(await jobs.heartbeat([mine], NOON_MS + 200_000), new Set());
  assert.deepEqual(await jobs.finish([mine], NOON_MS), { count: 0, isNextDue: false });
  await jobs.fail(mine, "late", NOON_MS);
  assert.deepEqual(await jobs.list("org", { state: "failed", skip: 0, limit: 9 }), []);
  assert.deepEqual(await jobs.finish([theirs], NOON_MS), { count: 1, isNextDue: false });
});

test("a claim that was lost with its process does not count as an attempt, up to a limit", async (context) => {
  const { jobs } = await opened(context);
  await jobs.add([job("one")]);
  const attempts: number[] = [];
  for (let nowMs = NOON_MS; attempts.length < LOST_CLAIMS_FORGIVEN_MAX + 3; nowMs += 31_000) {
    const [claimed] = await jobs.claim(claimOf({ nowMs }));
    attempts.push(claimed?.attempts ?? 0);
    assert.equal(await jobs.takeOver(nowMs + 30_001), 1);
  }
  assert.deepEqual(attempts, [...Array(LOST_CLAIMS_FORGIVEN_MAX + 1).fill(1), 2, 3]);
});

test("released jobs are as they were before their claim, and another process's are not changed", async (context) => {
  const { jobs } = await opened(context);
  await jobs.add([job("one"), job("two"), job("three")]);
  const [one, two, three] = await jobs.claim(claimOf());
  assert.ok(one && two && three);
  await jobs.heartbeat([one, two, three], NOON_MS + 60_000);
  await jobs.takeOver(NOON_MS + 60_001);
  await jobs.claim(claimOf({ owner: "they", nowMs: NOON_MS + 70_000, limit: 1 }));
  await jobs.release([one]);
  const [again, last] = await jobs.claim(claimOf({ nowMs: NOON_MS + 70_000 }));
  assert.ok(again && last);
  await jobs.release([again, last]);
  const final = await jobs.claim(claimOf({ nowMs: NOON_MS + 70_000 }));
  const shape = ({ id, attempts, fence }: (typeof final)[number]) => [id, attempts, fence];
  assert.deepEqual(final.map(shape), [again, last].map(shape));
});

test("a failed job is kept, can be retried by hand, and is purged when it is old", async (context) => {
  const { jobs } = await opened(context);
  await jobs.add([job("one")]);
  const [claimed] = await jobs.claim(claimOf());
  assert.ok(claimed);
  await jobs.fail(claimed, "x".repeat(9_000), NOON_MS);
  const [failed] = await jobs.list("org", { state: "failed", skip: 0, limit: 9 });
  assert.equal(failed?.lastError?.length, 500);
  assert.equal(await jobs.retry("other", "one", NOON_MS), false);
  assert.equal(await jobs.retry("org", "one", NOON_MS), true);
  const [again] = await jobs.claim(claimOf());
  assert.equal(again?.attempts, 1);
  await jobs.fail(again, "no", NOON_MS);
  assert.equal(await jobs.purgeFailed(NOON_MS), 0);
  assert.equal(await jobs.purgeFailed(NOON_MS + 1), 1);
});

test("a later event of a call waits until the earlier one is delivered or given up", async (context) => {
  const database = await opened(context);
  const { jobs, webhooks } = database;
  await webhooks.insertWithin(
    endpointRecord({ id: "a", eventTypes: ["call.transferred"] }),
    9,
    webhookEntry(),
  );
  const add = (callId: string, what: string, atMs = NOON_MS) =>
    webhooks.addEvent(
      newEvent({
        id: callEventId(callId, what),
        orgId: "org",
        type: "call.transferred",
        callId,
        atMs,
        data: { to: "sip:desk@a.org" },
      }),
    );
  await add("one", "x");
  await add("one", "y");
  await add("two", "x");
  const claimed = await jobs.claim(claimOf());
  assert.deepEqual(
    claimed.map(({ id }) => id),
    ["evt_one_x_a", "evt_two_x_a"],
  );
  const [head] = claimed;
  assert.ok(head);
  const later = NOON_MS + 5_000;
  await jobs.postpone(head, { runAfterMs: later, error: "no", isTry: true });
  await add("one", "z");
  assert.deepEqual(await jobs.claim(claimOf()), []);
  const [again] = await jobs.claim(claimOf({ nowMs: later }));
  assert.equal(again?.id, "evt_one_x_a");
  assert.equal(again.lastError, "no");
  await jobs.fail(again, "given up", later);
  const [next] = await jobs.claim(claimOf({ nowMs: later }));
  assert.equal(next?.id, "evt_one_y_a");
});

test("jobs are counted by kind and state", async (context) => {
  const { jobs } = await opened(context);
  await jobs.add([job("one"), job("two")]);
  await jobs.claim(claimOf({ limit: 1 }));
  assert.deepEqual(
    (await jobs.counts())
      .slice(0, 3)
      .map(({ state, count, oldestAtMs }) => [state, count, oldestAtMs]),
    [
      ["queued", 1, NOON_MS],
      ["running", 1, NOON_MS],
      ["failed", 0, null],
    ],
  );
});
