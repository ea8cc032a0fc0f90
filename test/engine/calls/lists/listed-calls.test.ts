import assert from "node:assert/strict";
import { type TestContext, test } from "node:test";
import { ListedCalls } from "../../../../engine/calls/lists/listed-calls.js";
import {
  callListEntry,
  callListRecord,
  callListRow,
} from "../../../storage/calls/sample-call-list.js";
import { NOON_MS } from "../../../storage/sample-records.js";
import { NOTHING_LEFT, outboundFor } from "../outbound-stand.js";
import { listedOrder } from "./listed-order.js";

/** A running list of one person, and the worker that places its call at a vendor on a socket. */
async function stand(
  context: TestContext,
  status: "active" | "pending" = "active",
  onPreCall: () => void = () => undefined,
) {
  const opener = {
    preCall: () => {
      onPreCall();
      return Promise.resolve({});
    },
    refusal: () => Promise.resolve(undefined),
    leavesMessages: () => Promise.resolve(false),
    voiceFault: () => Promise.resolve(undefined),
  };
  const parts = await outboundFor(context, { opener });
  const { database, outbound } = parts;
  await database.organizations.setStatus("org", status, NOON_MS, callListEntry("create"));
  const list = callListRecord({ state: "running" });
  await database.callLists.insertWithin(list, [callListRow(1)], 9, callListEntry("create"));
  const listed = new ListedCalls({ database, outboundCalls: outbound });
  const place = (callId: string, attempts = 0, untilMs = parts.clock.epochMs()) =>
    listed.placeListedCall(listedOrder({ callId, attempts, untilMs }));
  /** The row waits again, as the job leaves it behind a call that was not placed. */
  const settleAgain = (callId: string) =>
    database.callLists.settle("list", [
      { position: 1, callId, state: "waiting", reason: null, nextAtMs: 0, isUncounted: true },
    ]);
  const row = async () => {
    const [found] = await database.callLists.rows("org", "list", { after: 0, limit: 9 });
    return [found?.state, found?.attempts, found?.callId];
  };
  const outcome = async (callId: string) => {
    await parts.journal.stored();
    return (await database.callLists.outcomes([callId], NOON_MS)).get(callId);
  };
  return { ...parts, place, settleAgain, row, outcome };
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
  assert.deepEqual(await place("unread"), { kind: "placed", isReplyLost: true });
});

test("a number that the vendor refuses without a code of its own is not ordered again", async (context) => {
  const { vendor, place, settleAgain } = await stand(context);
  for (const status of [400, 403, 404, 422]) {
    vendor.refuse(status, {});
    const placement = await place(`refused ${status}`);
    assert.ok(placement.kind === "refused");
    assert.deepEqual([placement.code, placement.retryAfterSec], ["call_rejected", undefined]);
    // Its row waits again, as after a run of the job.
    await settleAgain(`refused ${status}`);
  }
});

test("an account that the vendor refuses has to be mended by a person", async (context) => {
  const { vendor, place } = await stand(context);
  vendor.refuse(401, { code: 20_003 });
  const placement = await place("unauthorized");
  assert.ok(placement.kind === "refused");
  assert.deepEqual(
    [placement.code, placement.message, placement.retryAfterSec],
    [
      "telephony_unavailable",
      "the telephony vendor refuses the account, with the status 401",
      undefined,
    ],
  );
});

for (const status of [500, 502, 503, 504]) {
  test(`after a gateway's ${status} the call counts as placed, and a person who answers gets the agent`, async (context) => {
    const { vendor, place, row, outcome, outbound, lastToken } = await stand(context);
    vendor.refuse(status, {});
    assert.deepEqual(await place("unclear"), { kind: "placed", isReplyLost: true });
    // A server that is killed now does not order the call again.
    assert.deepEqual(await row(), ["calling", 1, "unclear"]);
    assert.deepEqual(await outcome("unclear"), { kind: "inProgress" });
    assert.equal(outbound.answering(lastToken())?.callId, "unclear");
  });
}

test("an error that the vendor names as its own delays the call, and counts for its number", async (context) => {
  const { vendor, place, settleAgain } = await stand(context);
  vendor.refuse(503, { code: 20_503 });
  const placement = await place("later");
  assert.ok(placement.kind === "refused");
  assert.deepEqual(
    [placement.code, placement.retryAfterSec, placement.isOfNumber],
    ["telephony_unavailable", 10, true],
  );
  await settleAgain("later");
  vendor.refuse(429, {});
  const limited = await place("too many");
  assert.ok(limited.kind === "refused");
  assert.deepEqual(
    [limited.message, limited.retryAfterSec, limited.isOfVendor, limited.isOfNumber],
    ["the telephony vendor accepts no more calls for now (429)", 10, true, undefined],
  );
});

test("a pause that the vendor asks for reaches the list", async (context) => {
  const { vendor, place, settleAgain } = await stand(context);
  for (const [value, sec] of [
    ["120", 120],
    ["7200", 3_600],
    ["-5", 10],
    ["soon", 10],
  ] as const) {
    vendor.answer = (response) => void response.writeHead(429, { "retry-after": value }).end("{}");
    const placement = await place(`after ${value}`);
    assert.ok(placement.kind === "refused");
    assert.equal(placement.retryAfterSec, sec, value);
    await settleAgain(`after ${value}`);
  }
});

test("an order that its worker gets too late is not placed, and leaves nothing behind", async (context) => {
  const { vendor, clock, place, row, left } = await stand(context);
  const placement = await place("late", 0, clock.epochMs() - 1);
  assert.ok(placement.kind === "refused");
  assert.equal(placement.code, "conflict");
  assert.equal(vendor.asked.length, 0);
  assert.deepEqual(await row(), ["waiting", 0, null]);
  assert.deepEqual(left(), NOTHING_LEFT);
});

test("the organization's service hears of a call only when its row is claimed", async (context) => {
  let requestCount = 0;
  const { place } = await stand(context, "active", () => {
    requestCount += 1;
  });
  await Promise.all([place("a"), place("b")]);
  assert.equal(requestCount, 1);
});

test("a lost reply of the vendor leaves the call in progress, until its end is known", async (context) => {
  const { vendor, place, row, outcome } = await stand(context);
  vendor.answer = (response) => void response.destroy();
  assert.deepEqual(await place("lost"), { kind: "placed", isReplyLost: true });
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
