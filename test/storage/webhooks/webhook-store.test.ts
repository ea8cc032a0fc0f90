import assert from "node:assert/strict";
import { type TestContext, test } from "node:test";
import type { Database } from "../../../storage/database.js";
import type { JsonObject } from "../../../storage/records.js";
import {
  callEventId,
  type NewEvent,
  newEvent,
  terminalEventId,
} from "../../../storage/webhooks/event-record.js";
import type { WebhookEndpointRecord } from "../../../storage/webhooks/webhook-store.js";
import {
  callRecord,
  insertOrganizations,
  METRICS,
  NOON_MS,
  usageRecord,
} from "../sample-records.js";
import { temporaryDatabase } from "../temporary-file.js";
import { endpointRecord, webhookEntry } from "./sample-endpoint.js";

async function stored(
  context: TestContext,
  ...endpoints: readonly Partial<WebhookEndpointRecord>[]
) {
  const database = await temporaryDatabase(context);
  await insertOrganizations(database);
  for (const fields of endpoints) {
    await database.webhooks.insertWithin(endpointRecord(fields), 10, webhookEntry());
  }
  return database;
}

const FACTS = { agentId: "agent", channel: "web", direction: "web", from: null, to: null } as const;

function startOf(callId: string): NewEvent {
  const data = { ...FACTS, startedAt: "2026-01-31T12:00:00.000Z" };
  const id = callEventId(callId, "start");
  return newEvent({ id, orgId: "org", type: "call.started", callId, atMs: NOON_MS, data });
}

function endOf(callId: string): NewEvent {
  const id = terminalEventId(callId);
  const times = { startedAt: "", endedAt: "", durationSec: 1 };
  const data = { ...FACTS, ...times, endReason: "callerLeft", isRefused: false, metrics: null };
  return newEvent({ id, orgId: "org", type: "call.ended", callId, atMs: NOON_MS + 1, data });
}

const callEnd = (callId: string) => ({
  status: "completed" as const,
  endedAtMs: NOON_MS + 1,
  durationSec: 1,
  metrics: METRICS,
  metadata: {},
  messages: [],
  usage: usageRecord(),
  events: [endOf(callId)],
});

const queued = async (database: Database) =>
  (await database.jobs.list("org", { state: "queued", skip: 0, limit: 100 }))
    .map(({ id }) => id)
    .toReversed();

test("an event is stored with the call's commit, with one job for each subscribed endpoint", async (context) => {
  const database = await stored(context, {}, { id: "second", eventTypes: ["call.ended"] });
  await database.calls.start(callRecord(), "run", null, [startOf("call")]);
  await database.calls.finish("call", callEnd("call"));
  assert.equal(await database.calls.finish("call", callEnd("call")), false);
  assert.deepEqual((await queued(database)).toSorted(), [
    "evt_call_end_endpoint",
    "evt_call_end_second",
    "evt_call_start_endpoint",
  ]);
  const events = await database.webhooks.eventsBetween("org", {
    fromMs: NOON_MS,
    toMs: NOON_MS + 1,
    types: ["call.started", "call.ended"],
    limit: 10,
  });
  assert.deepEqual(
    events.map(({ id, callSequence }) => [id, callSequence]),
    [
      ["evt_call_start", 1],
      ["evt_call_end", 2],
    ],
  );
});

test("an event of an annotation is stored by the one writer whose condition was met", async (context) => {
  const database = await stored(context, { eventTypes: ["transfer.completed"] });
  await database.calls.start(callRecord({ metadata: { result: "dialing" } }), "run");
  const outcome = (result: string) => {
    const event = newEvent({
      id: callEventId("call", result),
      orgId: "org",
      type: "transfer.completed",
      callId: "call",
      atMs: NOON_MS,
      data: {
        to: "+1",
        mode: "warm",
        result,
        reason: "",
        acceptedBy: null,
        waitedSec: null,
        durationSec: null,
      },
    });
    const isOpen = (metadata: JsonObject) => metadata["result"] === "dialing";
    return database.calls.annotateIf("call", isOpen, { result }, event);
  };
  const [busy, answered] = await Promise.all([outcome("busy"), outcome("answered")]);
  assert.notEqual(busy, answered);
  assert.deepEqual(await queued(database), [`evt_call_${busy ? "busy" : "answered"}_endpoint`]);
});

test("nothing is stored for an organization without a subscribed endpoint", async (context) => {
  const database = await stored(
    context,
    { state: "disabled" },
    { id: "b", eventTypes: ["call.failed"] },
  );
  await database.calls.start(callRecord(), "run", null, [startOf("call")]);
  await database.calls.finish("call", callEnd("call"));
  assert.deepEqual(await queued(database), []);
  assert.equal(await database.webhooks.findEvent("org", "evt_call_end"), undefined);
});

test("a call of a dead process has one terminal event", async (context) => {
  const database = await stored(context, {});
  for (const id of ["a", "b"]) await database.calls.start(callRecord({ id }), "dead");
  await database.calls.finish("a", callEnd("a"));
  assert.equal(await database.calls.closeRun("dead", NOON_MS + 5_000), 1);
  assert.equal(await database.calls.closeRun("dead", NOON_MS + 5_000), 0);
  assert.deepEqual(await queued(database), [
    "evt_a_end_endpoint",
    "evt_b_end_endpoint",
    "summary_b",
  ]);
  const event = await database.webhooks.findEvent("org", terminalEventId("b"));
  assert.equal(event?.type, "call.failed");
  assert.equal(event?.data["endReason"], "a process of the server ended during the call");
});

test("a refused call has one event, and a call with a record has none for its refusal", async (context) => {
  const database = await stored(context, {});
  const refused = { ...endOf("refused"), type: "call.failed" as const };
  await database.calls.refuse(refused);
  await database.calls.refuse(refused);
  await database.calls.start(callRecord(), "run");
  await database.calls.refuse(endOf("call"));
  assert.deepEqual(await queued(database), ["evt_refused_end_endpoint"]);
});

test("a delivered event is not delivered again when its commit is repeated", async (context) => {
  const database = await stored(context, {});
  await database.webhooks.addEvent(startOf("call"));
  const claim = { owner: "me", nowMs: NOON_MS, leaseUntilMs: NOON_MS + 1, limit: 4 };
  const [job] = await database.jobs.claim({ ...claim, queue: "webhook:endpoint" });
  assert.ok(job);
  await database.jobs.finish([job], NOON_MS);
  await database.webhooks.addEvent(startOf("call"));
  assert.deepEqual(await queued(database), []);
  await database.webhooks.resend("endpoint", [startOf("call")], "again", NOON_MS);
  assert.deepEqual(await queued(database), ["evt_call_start_again_endpoint"]);
});

test("disabling an endpoint notifies the others once", async (context) => {
  const database = await stored(context, {}, { id: "other", eventTypes: ["endpoint.disabled"] });
  const data = { endpointId: "endpoint", reason: "gone" };
  const event = newEvent({
    id: "evt_1",
    orgId: "org",
    type: "endpoint.disabled",
    callId: null,
    atMs: NOON_MS,
    data,
  });
  const [first, second] = [webhookEntry(), webhookEntry()];
  assert.equal(await database.webhooks.disable(endpointRecord(), "gone", event, first), true);
  assert.equal(await database.webhooks.disable(endpointRecord(), "gone", event, second), false);
  assert.deepEqual(await queued(database), ["evt_1_other"]);
  assert.equal((await database.webhooks.find("org", "endpoint"))?.disabledReason, "gone");
});

test("an organization's endpoints are limited, and another organization's are not found", async (context) => {
  const database = await stored(context, {});
  const second = endpointRecord({ id: "second" });
  assert.equal(await database.webhooks.insertWithin(second, 1, webhookEntry()), false);
  assert.equal(await database.webhooks.find("other", "endpoint"), undefined);
  assert.equal(await database.webhooks.remove("other", "endpoint", webhookEntry()), false);
  assert.equal(await database.webhooks.remove("org", "endpoint", webhookEntry()), true);
});

test("old events and deliveries are purged", async (context) => {
  const database = await stored(context, {});
  await database.webhooks.addEvent(startOf("call"));
  await database.webhooks.addDelivery({
    id: "d",
    orgId: "org",
    endpointId: "endpoint",
    eventId: "evt_call_start",
    type: "call.started",
    attempt: 1,
    atMs: NOON_MS,
    durationMs: 3,
    requestBytes: 10,
    status: 200,
    error: null,
    answer: "",
  });
  assert.equal(await database.webhooks.purge(NOON_MS), 0);
  assert.equal(await database.webhooks.purge(NOON_MS + 1), 2);
});
