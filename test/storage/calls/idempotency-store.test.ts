import assert from "node:assert/strict";
import { type TestContext, test } from "node:test";
import { type IdempotencyKey, isKeyTaken } from "../../../storage/calls/idempotency-store.js";
import { placedCallJob } from "../../../storage/jobs/job-record.js";
import { insertOrganizations, NOON_MS } from "../sample-records.js";
import { temporaryDatabase } from "../temporary-file.js";
import { callListEntry, callListRecord, callListRow } from "./sample-call-list.js";

const KEY: IdempotencyKey = {
  orgId: "org",
  key: "hash of the key",
  fingerprint: "hash of the body",
  createdAtMs: NOON_MS,
};
const PURGED_PER_STEP = 500;

async function opened(context: TestContext) {
  const database = await temporaryDatabase(context);
  await insertOrganizations(database);
  const { calls, jobs, callLists, idempotencyKeys: keys } = database;
  const placeOnce = (callId: string, key = KEY) => {
    const job = placedCallJob({ orgId: key.orgId, callId, runId: "run" }, {}, NOON_MS);
    const made = { subjectId: callId, answer: { id: callId }, pendingUntilMs: NOON_MS + 1 };
    return calls.placeOnce(job, key, made);
  };
  const jobIds = async () =>
    (await jobs.list("org", { state: "queued", skip: 0, limit: 9 })).map(({ id }) => id);
  const find = async (sinceMs = 0) => (await keys.find("org", KEY.key, sinceMs)).stored;
  return { calls, callLists, keys, placeOnce, jobIds, find };
}

test("a key is stored with the call of the first request, and no second call is", async (context) => {
  const { placeOnce, jobIds, find, keys } = await opened(context);
  await placeOnce("first");
  await assert.rejects(placeOnce("second"), isKeyTaken);
  assert.deepEqual(await jobIds(), ["placedCall_first"]);
  const made = { subjectId: "first", answer: { id: "first" }, pendingUntilMs: NOON_MS + 1 };
  assert.deepEqual(await find(), { ...KEY, ...made });
  await keys.settle(KEY);
  assert.equal((await find())?.pendingUntilMs, 0);
});

test("of ten requests with one key at the same time one stores its call", async (context) => {
  const { placeOnce, jobIds } = await opened(context);
  const outcomes = await Promise.allSettled(
    Array.from({ length: 10 }, (_, index) => placeOnce(`call ${index}`)),
  );
  assert.equal(outcomes.filter(({ status }) => status === "fulfilled").length, 1);
  assert.equal((await jobIds()).length, 1);
});

test("a call that the vendor refuses frees its own key only", async (context) => {
  const { calls, placeOnce, jobIds, find } = await opened(context);
  await placeOnce("first");
  await calls.failPlaced("other", KEY);
  assert.equal((await find())?.subjectId, "first");
  await calls.failPlaced("first", KEY);
  assert.deepEqual([await find(), await jobIds()], [undefined, []]);
  await placeOnce("second");
});

test("a list is stored with its key or not at all, and a list over the limit stores no key", async (context) => {
  const { callLists, find } = await opened(context);
  const store = (id: string, max: number) => {
    const made = { subjectId: id, answer: { id }, pendingUntilMs: 0 };
    const list = callListRecord({ id });
    const entry = callListEntry("create");
    return callLists.insertWithin(list, [callListRow(1)], max, entry, { key: KEY, made });
  };
  assert.equal(await store("over the limit", 0), false);
  assert.equal(await find(), undefined);
  assert.ok(await store("first", 9));
  await assert.rejects(store("second", 9), isKeyTaken);
  assert.deepEqual(
    (await callLists.list("org")).map(({ id }) => id),
    ["first"],
  );
  assert.equal((await find())?.subjectId, "first");
});

test("an old key is free again, does not count, and is purged, with every other one", async (context) => {
  const { keys, placeOnce, find } = await opened(context);
  await placeOnce("first");
  assert.equal((await keys.find("org", "another", NOON_MS)).count, 1);
  assert.equal((await keys.find("org", "another", NOON_MS + 1)).count, 0);
  assert.equal(await find(NOON_MS + 1), undefined);
  await placeOnce("second");
  const others = Array.from({ length: PURGED_PER_STEP + 1 }, (_, index) =>
    placeOnce(`call ${index}`, { ...KEY, key: `key ${index}`, createdAtMs: NOON_MS - 1 }),
  );
  await Promise.all(others);
  assert.equal(await keys.purge(NOON_MS), PURGED_PER_STEP + 1);
  assert.equal((await find())?.subjectId, "second");
});
