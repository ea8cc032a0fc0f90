import assert from "node:assert/strict";
import { type TestContext, test } from "node:test";
import {
  callRecord,
  insertOrganizations,
  METRICS,
  NOON_MS,
  organizationRecord,
  usageRecord,
  userRecord,
} from "../sample-records.js";
import { temporaryDatabase } from "../temporary-file.js";

const MARCH = { fromDate: "2026-03-01", toDate: "2026-03-31" };
const PAGE = { ...MARCH, skip: 0, limit: 10 };

/** `org` has one call in progress, two ended ones of March and one of February; `other` has one in progress. */
async function stand(context: TestContext) {
  const database = await temporaryDatabase(context);
  await insertOrganizations(database);
  const { calls, organizations } = database;
  const newest = organizationRecord({
    id: "newest",
    name: "Müller & 100%",
    ownerEmail: "ada@mueller.test",
    status: "active",
    createdAtMs: NOON_MS + 1,
  });
  const owner = { id: "newest owner", orgId: "newest", email: "ada@mueller.test" };
  await organizations.insertWithOwner(newest, userRecord(owner));
  for (const id of ["march 1", "march 31", "february", "now"]) {
    await calls.start(callRecord({ id }), "run");
  }
  await calls.start(callRecord({ id: "theirs", orgId: "other" }), "run");
  const dates = { "march 1": "2026-03-01", "march 31": "2026-03-31", february: "2026-02-28" };
  for (const [id, date] of Object.entries(dates)) {
    await calls.finish(id, {
      status: "completed",
      endedAtMs: NOON_MS,
      durationSec: 90,
      metrics: METRICS,
      metadata: {},
      messages: [],
      usage: usageRecord({ date }),
    });
  }
  return database.organizationOverviews;
}

test("operators see every organization's calls in progress and minutes, the newest first", async (context) => {
  const overviews = await stand(context);
  const { items, total } = await overviews.list(PAGE);
  assert.deepEqual(
    items.map(({ organization, plan, calls, minutes }) => [
      organization.id,
      plan.slug,
      calls,
      minutes,
    ]),
    [
      ["newest", "free", 0, 0],
      ["other", "free", 1, 0],
      ["org", "free", 1, 3],
    ],
  );
  assert.deepEqual([total, await overviews.countCalls()], [3, 2]);
  const found = await overviews.find("org", { fromDate: "2026-02-01", toDate: "2026-02-28" });
  assert.deepEqual([found?.calls, found?.minutes], [1, 1.5]);
  assert.equal(await overviews.find("nobody", MARCH), undefined);
});

test("pages, and filters by words and status, have the same totals", async (context) => {
  const overviews = await stand(context);
  const seen = async (asked: Partial<Parameters<typeof overviews.list>[0]>) => {
    const { items, total } = await overviews.list({ ...PAGE, ...asked });
    return [...items.map(({ organization }) => organization.id), total];
  };
  assert.deepEqual(await seen({ skip: 1, limit: 1 }), ["other", 3]);
  assert.deepEqual(await seen({ words: "FLORIST" }), ["other", 1]);
  assert.deepEqual(await seen({ words: "müller" }), ["newest", 1]);
  assert.deepEqual(await seen({ words: "0%" }), ["newest", 1]);
  assert.deepEqual(await seen({ words: "_" }), [0]);
  assert.deepEqual(await seen({ status: "active" }), ["newest", 1]);
  assert.deepEqual(await seen({ status: "pending", words: "owner@" }), ["other", "org", 2]);
});
