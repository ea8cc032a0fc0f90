import assert from "node:assert/strict";
import { type TestContext, test } from "node:test";
import type { CallListRecord } from "../../../storage/calls/call-list-record.js";
import type { Database } from "../../../storage/database.js";
import { placedCallJob } from "../../../storage/jobs/job-record.js";
import { newEvent } from "../../../storage/webhooks/event-record.js";
import { callRecord, insertOrganizations, NOON_MS } from "../sample-records.js";
import { temporaryDatabase } from "../temporary-file.js";
import { endpointRecord, webhookEntry } from "../webhooks/sample-endpoint.js";
import { callListEntry, callListRecord, callListRow } from "./sample-call-list.js";

const START = { from: ["ready"], to: "running", isDue: true } as const;

async function opened(context: TestContext, fields: Partial<CallListRecord> = {}, people = 3) {
  const database = await temporaryDatabase(context);
  await insertOrganizations(database);
  const list = callListRecord(fields);
  const rows = Array.from({ length: people }, (_, index) => callListRow(index + 1));
  await database.callLists.insertWithin(list, rows, 9, callListEntry("create"));
  return { database, list, lists: database.callLists };
}

/** Asks to place the call of a row, as a worker does. */
function place(
  { calls }: Database,
  position: number,
  callId: string,
  attempts = 0,
): Promise<boolean> {
  const job = placedCallJob({ orgId: "org", callId, runId: "run" }, {}, NOON_MS);
  return calls.place(job, callId, { listId: "list", position, attempts });
}

const statesOf = async ({ callLists }: Database) =>
  (await callLists.rows("org", "list", { after: 0, limit: 9 })).map(
    ({ position, state, attempts, callId, reason }) => [position, state, attempts, callId, reason],
  );

const jobIds = async ({ jobs }: Database) =>
  (await jobs.list("org", { state: "queued", skip: 0, limit: 9 })).map(({ id }) => id).sort();

test("a list is stored with its rows, and belongs to its organization", async (context) => {
  const { database, lists, list } = await opened(context);
  const found = await lists.find("org", "list");
  const { counts, ...stored } = found ?? assert.fail();
  assert.deepEqual(stored, list);
  assert.deepEqual(counts, {
    waiting: 3,
    calling: 0,
    completed: 0,
    failed: 0,
    skipped: 0,
    cancelled: 0,
  });
  const rows = await lists.rows("org", "list", { after: 1, limit: 1 });
  assert.deepEqual(rows, [
    {
      ...callListRow(2),
      listId: "list",
      position: 2,
      state: "waiting",
      attempts: 0,
      callId: null,
      calledAtMs: null,
      reason: null,
      nextAtMs: 0,
      refusals: 0,
    },
  ]);
  assert.equal(await lists.find("other", "list"), undefined);
  assert.deepEqual(await lists.rows("other", "list", { after: 0, limit: 9 }), []);
  assert.deepEqual(await lists.list("other"), []);
  const theirs = { ...list, orgId: "other" };
  assert.equal(await lists.change(theirs, START, callListEntry("start")), false);
  assert.equal(await lists.remove("other", "list", callListEntry("delete")), false);
  assert.deepEqual(
    (await database.audit.list("org", { skip: 0, limit: 9 })).items.map(({ action }) => action),
    ["callList.create"],
  );
});

test("an organization that has as many lists as it can gets no row of another one", async (context) => {
  const { lists } = await opened(context);
  const more = callListRecord({ id: "more" });
  assert.equal(await lists.insertWithin(more, [callListRow(1)], 1, callListEntry("create")), false);
  assert.deepEqual(await lists.rows("org", "more", { after: 0, limit: 9 }), []);
});

test("a list changes only from the states that allow it, with the job that places its calls", async (context) => {
  const { database, lists, list } = await opened(context);
  assert.equal(await lists.change(list, START, callListEntry("start")), true);
  assert.equal(await lists.change(list, START, callListEntry("start")), false);
  assert.deepEqual(await jobIds(database), ["callList_list"]);
  assert.equal(await lists.remove("org", "list", callListEntry("delete")), false, "it is running");
  const cancel = { from: ["running"], to: "cancelled", cancelsRows: true } as const;
  assert.equal(await lists.change(list, cancel, callListEntry("cancel")), true);
  assert.deepEqual((await lists.find("org", "list"))?.counts.cancelled, 3);
  assert.equal(await lists.remove("org", "list", callListEntry("delete")), true);
  assert.deepEqual(await statesOf(database), [], "its rows go with it");
});

test("a row's call is placed once, whoever asks for it how often", async (context) => {
  const { database, lists, list } = await opened(context);
  assert.equal(await place(database, 1, "early"), false, "the list is not running");
  await lists.change(list, START, callListEntry("start"));
  const asked = ["a", "b", "c", "d"].map((callId) => place(database, 1, callId));
  assert.equal((await Promise.all(asked)).filter(Boolean).length, 1);
  const [[, state, attempts, callId] = []] = await statesOf(database);
  assert.deepEqual([state, attempts], ["calling", 1]);
  assert.deepEqual(await jobIds(database), ["callList_list", `placedCall_${String(callId)}`]);
  assert.equal(await place(database, 2, "late", 1), false, "the row was read at another time");
});

test("a list has no more calls at the same time than it may", async (context) => {
  const { database, lists, list } = await opened(context, { callsMax: 2 });
  await lists.change(list, START, callListEntry("start"));
  const asked = [1, 2, 3].map((position) => place(database, position, `call ${position}`));
  assert.deepEqual((await Promise.all(asked)).filter(Boolean).length, 2);
});

test("a paused list claims no row", async (context) => {
  const { database, lists, list } = await opened(context);
  await lists.change(list, START, callListEntry("start"));
  await lists.change(list, { from: ["running"], to: "paused" }, callListEntry("pause"));
  assert.equal(await place(database, 1, "call"), false);
  assert.deepEqual((await lists.find("org", "list"))?.counts.waiting, 3);
});

test("what is stored of a call says whether it is in progress, over, or was never placed", async (context) => {
  const { database, lists, list } = await opened(context);
  await lists.change(list, START, callListEntry("start"));
  const placed = (id: string) => callRecord({ id, sessionId: id });
  await place(database, 1, "rings");
  await place(database, 2, "talks");
  await database.calls.start(placed("talks"), "run");
  await place(database, 3, "refused");
  await database.calls.failPlaced("refused");
  assert.deepEqual(
    [...(await lists.outcomes(["rings", "talks", "refused"], NOON_MS))],
    [
      ["rings", { kind: "inProgress" }],
      ["talks", { kind: "inProgress" }],
      ["refused", { kind: "notPlaced" }],
    ],
  );
  assert.equal(await database.calls.closePlaced(placed("rings"), "run"), true);
  const ended = await lists.outcomes(["rings"], NOON_MS);
  assert.deepEqual(ended.get("rings"), {
    kind: "ended",
    status: "failed",
    endReason: "the server stopped before the placed call reached its agent",
    messageLeft: false,
    wasConnected: false,
  });
});

test("an outcome changes nothing once the row has another call", async (context) => {
  const { database, lists, list } = await opened(context);
  await lists.change(list, START, callListEntry("start"));
  await place(database, 1, "first");
  const again = { position: 1, state: "waiting", reason: "busy", nextAtMs: 0 } as const;
  await lists.settle("list", [{ ...again, callId: "first" }]);
  assert.deepEqual((await statesOf(database))[0], [1, "waiting", 1, "first", "busy"]);
  assert.equal(await place(database, 1, "second", 1), true);
  await lists.settle("list", [{ ...again, callId: "first", state: "failed" }]);
  assert.deepEqual((await statesOf(database))[0], [1, "calling", 2, "second", null]);
  await lists.settle("list", [{ ...again, callId: "second", reason: null, isUncounted: true }]);
  assert.deepEqual((await statesOf(database))[0], [1, "waiting", 1, null, null]);
});

test("rows that are due come in the order of their waiting, and only those of open zones", async (context) => {
  const { database, lists } = await opened(context, { state: "running" }, 4);
  await place(database, 1, "call");
  await lists.settle("list", [
    { position: 1, callId: "call", state: "waiting", reason: "busy", nextAtMs: NOON_MS },
  ]);
  const zones = await lists.waitingZones("list");
  assert.deepEqual(
    zones.toSorted((one, other) => one.timeZones.localeCompare(other.timeZones)),
    [
      { timeZones: "Asia/Tokyo", nextAtMs: 0 },
      { timeZones: "Europe/Berlin", nextAtMs: 0 },
    ],
  );
  const due = async (zone: string, nowMs: number, limit = 9) =>
    (await lists.due("list", [zone], nowMs, limit)).map(({ position }) => position);
  assert.deepEqual(await due("Europe/Berlin", NOON_MS - 1), [3]);
  assert.deepEqual(await due("Europe/Berlin", NOON_MS), [3, 1]);
  assert.deepEqual(await due("Asia/Tokyo", NOON_MS), [2, 4]);
  assert.deepEqual(await due("Asia/Tokyo", NOON_MS, 1), [2]);
});

test("why a list places no calls is told of running lists only, and may pause them", async (context) => {
  const { database, lists } = await opened(context, { state: "running" });
  const ready = callListRecord({ id: "ready" });
  await lists.insertWithin(ready, [callListRow(1)], 9, callListEntry("create"));
  const hold = {
    code: "overloaded",
    reason: "the server is full",
    isPaused: false,
    sinceMs: NOON_MS,
    untilMs: 0,
    vendorRefusals: 3,
  };
  const stateOf = async (id: string) => {
    const list = await lists.findUncounted("org", id);
    return [list?.state, list?.holdCode, list?.holdReason];
  };
  await lists.hold("list", hold, NOON_MS);
  assert.deepEqual(await stateOf("list"), ["running", "overloaded", "the server is full"]);
  const held = await lists.findUncounted("org", "list");
  assert.deepEqual([held?.heldSinceMs, held?.vendorRefusals], [NOON_MS, 3]);
  await lists.endHold("list");
  assert.deepEqual(await stateOf("list"), ["running", null, null]);
  const ended = await lists.findUncounted("org", "list");
  assert.deepEqual([ended?.heldSinceMs, ended?.vendorRefusals], [null, 0]);
  assert.equal(await lists.pauseAll({ code: "conflict", reason: "restored" }, NOON_MS), 1);
  assert.deepEqual(await stateOf("list"), ["paused", "conflict", "restored"]);
  assert.deepEqual(await stateOf("ready"), ["ready", null, null]);
  await lists.hold("list", hold, NOON_MS);
  await lists.complete("list", NOON_MS);
  assert.deepEqual(await stateOf("list"), ["paused", "conflict", "restored"]);
  assert.equal(await place(database, 1, "call"), false);
  await lists.cancelWaiting("list");
  assert.equal((await lists.find("org", "list"))?.counts.cancelled, 3);
});

test("what the organization gets to know of a hold is stored with it, or not at all", async (context) => {
  const { database, lists } = await opened(context, { state: "running" });
  const subscribed = endpointRecord({ eventTypes: ["callList.held"] });
  await database.webhooks.insertWithin(subscribed, 10, webhookEntry());
  const hold = {
    code: "telephony_unavailable",
    reason: "the telephony vendor cannot be reached",
    isPaused: true,
    sinceMs: NOON_MS,
    untilMs: 0,
    vendorRefusals: 30,
  };
  const noticeOf = (id: string) => ({
    entry: callListEntry("pause"),
    event: newEvent({
      id,
      orgId: "org",
      type: "callList.held",
      callId: null,
      atMs: NOON_MS,
      data: {
        callListId: "list",
        name: "Reminders",
        state: "paused",
        code: hold.code,
        reason: hold.reason,
        heldSince: new Date(NOON_MS).toISOString(),
        retryAt: null,
      },
    }),
  });
  await lists.hold("list", hold, NOON_MS, noticeOf("evt_first"));
  await lists.hold("list", hold, NOON_MS, noticeOf("evt_of_a_paused_list"));
  const jobs = await database.jobs.list("org", { state: "queued", skip: 0, limit: 9 });
  assert.deepEqual(
    jobs.filter(({ kind }) => kind === "webhook").map(({ id }) => id),
    ["evt_first_endpoint"],
  );
  const { items } = await database.audit.list("org", { skip: 0, limit: 9 });
  assert.equal(items.filter(({ action }) => action === "callList.pause").length, 1);
});

test("a person of two lists has one call at a time", async (context) => {
  const { database, lists } = await opened(context, { state: "running" }, 1);
  const other = callListRecord({ id: "other list", state: "running" });
  await lists.insertWithin(other, [callListRow(1)], 9, callListEntry("create"));
  const placeOther = (callId: string) => {
    const job = placedCallJob({ orgId: "org", callId, runId: "run" }, {}, NOON_MS);
    return database.calls.place(job, callId, { listId: "other list", position: 1, attempts: 0 });
  };
  assert.equal(await place(database, 1, "one"), true);
  assert.equal(await placeOther("two"), false);
  const end = { position: 1, callId: "one", reason: "busy", nextAtMs: 0 } as const;
  await lists.settle("list", [{ ...end, state: "failed" }]);
  assert.equal(await placeOther("two"), true);
});

test("a running list is resumed only while it is held, and its next order does not wait", async (context) => {
  const { lists, list } = await opened(context, { state: "running" });
  const resume = { from: ["paused"], to: "running", isDue: true, endsHold: true } as const;
  assert.equal(await lists.change(list, resume, callListEntry("resume")), false);
  const hold = {
    code: "telephony_unavailable",
    reason: "the telephony vendor cannot be reached",
    isPaused: false,
    sinceMs: NOON_MS,
    untilMs: NOON_MS + 600_000,
    vendorRefusals: 9,
  };
  await lists.hold("list", hold, NOON_MS);
  assert.equal(await lists.change(list, resume, callListEntry("resume")), true);
  const resumed = await lists.findUncounted("org", "list");
  assert.deepEqual(
    [resumed?.state, resumed?.holdCode, resumed?.heldUntilMs, resumed?.vendorRefusals],
    ["running", null, 0, 0],
  );
});

test("a list is completed only if it has nobody left, whatever was read before", async (context) => {
  const { database, lists } = await opened(context, { state: "running" }, 1);
  assert.equal(await lists.complete("list", NOON_MS), false, "its person waits");
  await place(database, 1, "call");
  assert.equal(await lists.complete("list", NOON_MS), false, "the person is being called");
  const end = { position: 1, callId: "call", reason: "busy", nextAtMs: 0 } as const;
  await lists.settle("list", [{ ...end, state: "failed" }]);
  assert.equal(await lists.complete("list", NOON_MS), true);
  assert.equal((await lists.findUncounted("org", "list"))?.state, "completed");
});

test("a message that was left is a part of the call's end", async (context) => {
  const { database, lists } = await opened(context);
  const ended = { status: "completed", endedAtMs: NOON_MS, durationSec: 30 } as const;
  const voicemail = { messageLeft: true, text: "Hello." };
  for (const [id, metadata] of [
    ["left", { endReason: "machine", voicemail }],
    ["none", { endReason: "machine" }],
  ] as const) {
    await database.calls.start(callRecord({ id, sessionId: id, ...ended, metadata }), "run");
  }
  const outcomes = await lists.outcomes(["left", "none"], NOON_MS);
  const kind = {
    kind: "ended",
    status: "completed",
    endReason: "machine",
    wasConnected: true,
  } as const;
  assert.deepEqual(outcomes.get("left"), { ...kind, messageLeft: true });
  assert.deepEqual(outcomes.get("none"), { ...kind, messageLeft: false });
});

test("lists of all organizations are counted by their state and by what holds them", async (context) => {
  const { lists } = await opened(context, { state: "running", holdCode: "calls_limit_reached" });
  for (const [id, state] of [
    ["second", "running"],
    ["third", "running"],
    ["fourth", "cancelled"],
  ] as const) {
    await lists.insertWithin(callListRecord({ id, state }), [], 9, callListEntry("create"));
  }
  const counts = (await lists.countByState()).map(({ state, holdCode, count }) =>
    [state, holdCode, count].join(" "),
  );
  assert.deepEqual(counts.sort(), ["cancelled  1", "running  2", "running calls_limit_reached 1"]);
});
