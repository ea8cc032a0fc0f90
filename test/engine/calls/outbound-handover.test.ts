import assert from "node:assert/strict";
import { test } from "node:test";
import { OutboundTelephony } from "../../../engine/calls/outbound/outbound-telephony.js";
import { WorkerCallSlots, WorkerPlacedCalls } from "../../../engine/cluster/worker-ports.js";
import { OutboundTokens } from "../../../engine/security/outbound-token.js";
import { NOTHING_LEFT, outboundFor, slowOrder } from "./outbound-stand.js";

const OUTCOME_MAX_MS = 5 * 60 * 1_000;
const CALL_REF = `CA${"1".padStart(32, "0")}`;

test("a call moves to another process with its slot and the vendor's reports", async (t) => {
  const { outbound, clock, place, say, left, vendor, endOf, stored } = await outboundFor(t);
  const { id } = await place();
  await say("in-progress", "human");
  assert.equal(outbound.handOver(id, "other"), undefined);
  const handed = outbound.handOver(id, "org");
  assert.ok(handed);
  assert.deepEqual([handed.callRef, handed.answeredBy], [CALL_REF, "human"]);
  assert.deepEqual([outbound.holds(id), outbound.isRinging(id)], [false, false]);
  assert.equal(outbound.handOver(id, "org"), undefined, "it is given once");
  assert.deepEqual(left(), [1, 0, 0, 0]);
  outbound.adopt(handed);
  assert.deepEqual([outbound.holds(id), outbound.isRinging(id)], [true, true]);
  assert.deepEqual(left(), [1, 1, 1, 1]);
  clock.advance(OUTCOME_MAX_MS);
  const hangUp = await vendor.request(2);
  assert.ok(hangUp.path.endsWith(`${CALL_REF}.json`), hangUp.path);
  assert.deepEqual(left(), NOTHING_LEFT);
  assert.equal((await endOf(id))[1], "outcomeUnknown");
  assert.equal((await stored(id))?.metadata["answeredBy"], "human");
});

test("a call that went to another process before the vendor took it is not hung up when it does", async (t) => {
  const hangUps = t.mock.method(OutboundTelephony.prototype, "hangUp");
  const { outbound, accept } = await slowOrder(t);
  const handed = outbound.handOver("id-1", "org");
  assert.deepEqual([handed?.callRef, handed?.answeredBy], [undefined, ""]);
  assert.deepEqual(await accept(), { id: "id-1", agentId: "agent", status: "queued" });
  assert.equal(hangUps.mock.callCount(), 0);
});

test("what comes right before the order to hand a call over goes with it", async (t) => {
  const { outbound: own, clock, place, lastToken } = await outboundFor(t);
  const { id: callId } = await place();
  const tokens = new OutboundTokens({ secret: "s".repeat(32), clock });
  const primary = { request: () => assert.fail("nobody is asked"), notify() {} };
  const placed = new WorkerPlacedCalls({
    own,
    tokens,
    slots: new WorkerCallSlots(primary),
    primary,
  });
  const { report, handOver } = placed.handlers;
  const claims = tokens.verify(lastToken());
  assert.ok(claims);
  const taken = report({ claims, report: { status: "in-progress", answeredBy: "human" } });
  const handed = await handOver({ callId, orgId: "org" });
  await taken;
  assert.equal(handed?.answeredBy, "human");
});
