import assert from "node:assert/strict";
import { type TestContext, test } from "node:test";
import { ListedCalls, type ListedOrder } from "../../../../engine/calls/lists/listed-calls.js";
import {
  callListEntry,
  callListRecord,
  callListRow,
} from "../../../storage/calls/sample-call-list.js";
import { NOON_MS } from "../../../storage/sample-records.js";
import { NOTHING_LEFT, outboundFor } from "../outbound-stand.js";

/** A running list of one person, and the worker that places its call at a vendor on a socket. */
async function stand(context: TestContext, status: "active" | "pending" = "active") {
  const parts = await outboundFor(context);
  const { database, outbound } = parts;
  await database.organizations.setStatus("org", status, NOON_MS, callListEntry("create"));
  const list = callListRecord({ state: "running" });
  await database.callLists.insertWithin(list, [callListRow(1)], 9, callListEntry("create"));
  const listed = new ListedCalls({ database, outboundCalls: outbound });
  const place = (callId: string, attempts = 0) => {
    const order: ListedOrder = {
      orgId: "org",
      agentId: "agent",
      from: "+15550109999",
      to: "+15550101000",
      detectMachine: true,
      vendor: null,
      variables: { firstName: "Ada" },
      apiKeyId: null,
      row: { listId: "list", position: 1, attempts, callId },
    };
    return listed.placeListedCall(order);
  };
  const row = async () => {
    const [found] = await database.callLists.rows("org", "list", { after: 0, limit: 9 });
    return [found?.state, found?.attempts, found?.callId];
  };
  const outcome = async (callId: string) => {
    await parts.journal.stored();
    return (await database.callLists.outcomes([callId])).get(callId);
  };
  return { ...parts, place, row, outcome };
}

test("the vendor is asked once for a row, whatever asks for its call again", async (context) => {
  const { vendor, place, row, outcome, slots } = await stand(context);
  const placements = await Promise.all([place("a"), place("b")]);
  assert.deepEqual(placements.map(({ kind }) => kind).toSorted(), ["placed", "refused"]);
  const again = await place("c", 1);
  assert.ok(again.kind === "refused");
  assert.equal(again.code, "conflict", "the row has a call already");
  assert.equal(vendor.asked.length, 1);
  const [state, attempts, callId] = await row();
  assert.deepEqual([state, attempts], ["calling", 1]);
  assert.deepEqual(await outcome(String(callId)), { kind: "inProgress" });
  assert.equal(slots.count, 1, "a call that was not placed holds no slot");
});

test("a number that the vendor refuses has no call, and leaves nothing behind", async (context) => {
  const { vendor, place, outcome, left } = await stand(context);
  vendor.refuse(400, { code: 21_211 });
  const placement = await place("wrong number");
  assert.ok(placement.kind === "refused");
  assert.deepEqual([placement.code, placement.retryAfterSec], ["call_rejected", undefined]);
  assert.deepEqual(await outcome("wrong number"), { kind: "notPlaced" });
  assert.deepEqual(left(), NOTHING_LEFT);
});

test("a reply of the vendor that nobody can read counts as a call", async (context) => {
  const { vendor, place } = await stand(context);
  vendor.refuse(200, { code: 20_429, message: "Too many requests" });
  const placement = await place("unread");
  assert.ok(placement.kind === "refused");
  assert.equal(placement.code, "call_rejected");
});

test("a vendor that is down delays the call", async (context) => {
  const { vendor, place } = await stand(context);
  vendor.refuse(503, {});
  const placement = await place("later");
  assert.ok(placement.kind === "refused");
  assert.deepEqual([placement.code, placement.retryAfterSec], ["telephony_unavailable", 10]);
});

test("a lost reply of the vendor leaves the call in progress, until its end is known", async (context) => {
  const { vendor, place, row, outcome } = await stand(context);
  vendor.answer = (response) => void response.destroy();
  assert.deepEqual(await place("lost"), { kind: "placed" });
  assert.deepEqual(await row(), ["calling", 1, "lost"]);
  assert.deepEqual(await outcome("lost"), { kind: "inProgress" });
});

test("a suspended organization calls nobody", async (context) => {
  const { vendor, place, row } = await stand(context, "pending");
  const placement = await place("call");
  assert.ok(placement.kind === "refused");
  assert.deepEqual([placement.code, placement.retryAfterSec], ["organization_pending", undefined]);
  assert.equal(vendor.asked.length, 0);
  assert.deepEqual(await row(), ["waiting", 0, null]);
});
