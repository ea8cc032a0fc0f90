import assert from "node:assert/strict";
import { test } from "node:test";
import { MonthlyMinutes } from "../../../engine/calls/admission.js";
import { RecordChanges } from "../../../storage/statements/record-changes.js";
import { VirtualClock } from "../../doubles/virtual-clock.js";
import {
  callRecord,
  insertOrganizations,
  METRICS,
  usageRecord,
} from "../../storage/sample-records.js";
import { temporaryDatabase } from "../../storage/temporary-file.js";

test("the minutes of a call count from its end on, and are not read again before another ends", async (context) => {
  const database = await temporaryDatabase(context);
  await insertOrganizations(database);
  const clock = new VirtualClock();
  const minutes = new MonthlyMinutes(database, clock);
  const reads = context.mock.method(database.usage, "minutesBetween");
  assert.deepEqual([await minutes.used("org"), await minutes.used("org")], [0, 0]);
  assert.equal(reads.mock.callCount(), 1);
  const date = new Date(clock.epochMs()).toISOString().slice(0, 10);
  await database.calls.start(callRecord({ id: "call", orgId: "org" }), "run", 0);
  await database.calls.finish("call", {
    status: "completed",
    endedAtMs: clock.epochMs(),
    durationSec: 180,
    metrics: METRICS,
    metadata: {},
    messages: [],
    usage: usageRecord({ orgId: "org", date, minutes: 3 }),
  });
  assert.equal(await minutes.used("org"), 3);
});

test("what ends at another process counts within a second", async () => {
  const clock = new VirtualClock();
  let used = 1;
  let readCount = 0;
  const usage = {
    minutesBetween: () => {
      readCount += 1;
      return Promise.resolve(used);
    },
  };
  const minutes = new MonthlyMinutes({ usage, usageChanges: new RecordChanges() }, clock);
  assert.equal(await minutes.used("org"), 1);
  used = 2;
  clock.advance(999);
  assert.equal(await minutes.used("org"), 1);
  clock.advance(1);
  assert.equal(await minutes.used("org"), 2);
  assert.equal(readCount, 2);
});

test("what two thousand organizations have used is known without asking again", async () => {
  const asked: string[] = [];
  const usage = {
    minutesBetween: (orgId: string) => {
      asked.push(orgId);
      return Promise.resolve(1);
    },
  };
  const clock = new VirtualClock();
  const minutes = new MonthlyMinutes({ usage, usageChanges: new RecordChanges() }, clock);
  for (let org = 0; org <= 2_000; org += 1) await minutes.used(`${org}`);
  await minutes.used("1");
  assert.equal(asked.length, 2_001);
  await minutes.used("0");
  assert.equal(asked.length, 2_002);
});
