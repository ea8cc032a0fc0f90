import assert from "node:assert/strict";
import { test } from "node:test";
import { EventFilters } from "../../../engine/calls/event-filters.js";
import { KEPT_MAX_MS } from "../../../engine/tenancy/read-cache.js";
import { EVENT_TYPES, newEvent } from "../../../storage/webhooks/event-record.js";
import { VirtualClock } from "../../doubles/virtual-clock.js";
import { insertOrganizations, NOON_MS } from "../../storage/sample-records.js";
import { temporaryDatabase } from "../../storage/temporary-file.js";
import { endpointRecord, webhookEntry } from "../../storage/webhooks/sample-endpoint.js";

test("changes of active endpoints' filters take effect immediately", async (context) => {
  const database = await temporaryDatabase(context);
  await insertOrganizations(database);
  const { webhooks } = database;
  const wanted = new EventFilters(database, new VirtualClock(NOON_MS));
  const types = async () => {
    const isWanted = await wanted.of("org");
    return EVENT_TYPES.filter(isWanted);
  };
  assert.deepEqual(await types(), []);
  const endpoint = endpointRecord({ eventTypes: ["turn.completed"] });
  await webhooks.insertWithin(endpoint, 10, webhookEntry());
  const second = endpointRecord({ id: "second", eventTypes: ["call.ended", "turn.completed"] });
  await webhooks.insertWithin(second, 10, webhookEntry());
  assert.deepEqual(await types(), ["turn.completed", "call.ended"]);
  await webhooks.update({ ...endpoint, eventTypes: ["tool.completed"] }, webhookEntry());
  assert.deepEqual(await types(), ["turn.completed", "tool.completed", "call.ended"]);
  const disabled = newEvent({
    id: "evt_1",
    orgId: "org",
    type: "endpoint.disabled",
    callId: null,
    atMs: NOON_MS,
    data: { endpointId: "second", reason: "gone" },
  });
  await webhooks.disable(second, "gone", disabled, webhookEntry());
  assert.deepEqual(await types(), ["tool.completed"]);
  await webhooks.remove("org", "endpoint", webhookEntry());
  assert.deepEqual(await types(), []);
});

test("the endpoints are read once for many turns, and again after a second or another server's change", async () => {
  let reads = 0;
  const clock = new VirtualClock(NOON_MS);
  const recordChanges = { count: 0 };
  const webhooks = {
    subscribedTypes: async () => {
      reads += 1;
      return new Set(["call.started"] as const);
    },
  };
  const wanted = new EventFilters({ webhooks, recordChanges }, clock);
  await Promise.all([wanted.of("org"), wanted.of("org")]);
  await wanted.of("org");
  assert.equal(reads, 1);
  recordChanges.count += 1;
  await wanted.of("org");
  assert.equal(reads, 2);
  clock.advance(KEPT_MAX_MS);
  await wanted.of("org");
  assert.equal(reads, 3);
});

test("where the endpoints cannot be read every event is wanted", async () => {
  const webhooks = { subscribedTypes: () => Promise.reject(new Error("away")) };
  const wanted = new EventFilters({ webhooks, recordChanges: { count: 0 } }, new VirtualClock());
  const isWanted = await wanted.of("org");
  assert.ok(EVENT_TYPES.every(isWanted));
});
