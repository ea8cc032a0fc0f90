import assert from "node:assert/strict";
import { test } from "node:test";
import type { Database } from "../../../storage/database.js";
import type { UsageRecord } from "../../../storage/records.js";
import {
  callRecord,
  insertOrganizations,
  METRICS,
  NOON_MS,
  usageRecord,
} from "../sample-records.js";
import { temporaryDatabase } from "../temporary-file.js";

async function endCall({ calls }: Database, id: string, usage: UsageRecord): Promise<void> {
  await calls.start(callRecord({ id, orgId: usage.orgId }), "run");
  await calls.finish(id, {
    status: "completed",
    endedAtMs: NOON_MS,
    durationSec: 0,
    metrics: METRICS,
    metadata: {},
    messages: [],
    usage,
  });
}

test("the usage of a day is the sum of its calls, one record for each organization", async (context) => {
  const database = await temporaryDatabase(context);
  await insertOrganizations(database);
  await endCall(database, "a", usageRecord());
  await endCall(database, "b", usageRecord({ minutes: 0.25, ttsChars: 1 }));
  await endCall(database, "c", usageRecord({ orgId: "other" }));
  assert.deepEqual(await database.usage.list("org", "2026-03-01", "2026-03-01"), [
    usageRecord({ calls: 2, minutes: 1.75, ttsChars: 341, llmTokens: 240, sttSeconds: 160 }),
  ]);
});

test("days are listed oldest first, and a range includes both its ends", async (context) => {
  const database = await temporaryDatabase(context);
  await insertOrganizations(database);
  for (const date of ["2026-03-02", "2026-02-28", "2026-03-01", "2026-03-03"]) {
    await endCall(database, date, usageRecord({ date }));
  }
  const listed = await database.usage.list("org", "2026-02-28", "2026-03-02");
  assert.deepEqual(
    listed.map(({ date }) => date),
    ["2026-02-28", "2026-03-01", "2026-03-02"],
  );
  assert.equal(await database.usage.minutesBetween("org", "2026-03-01", "2026-03-31"), 4.5);
  assert.equal(await database.usage.minutesBetween("org", "2025-01-01", "2025-12-31"), 0);
});
