import assert from "node:assert/strict";
import { test } from "node:test";
import { TransferDials } from "../../../engine/calls/transfer-dials.js";
import type { JsonObject, PlanRecord } from "../../../storage/records.js";
import { RecordingLogger } from "../../doubles/recording-logger.js";
import { callRecord, organizationRecord, planRecord } from "../../storage/sample-records.js";

const CLAIMS = {
  vendor: "twilio",
  orgId: "org",
  agentId: "",
  callerRef: "CA1",
  callKey: "key",
  attempt: 0,
};
const CALLED = "+15550102222";
const CALLER = "+15550103333";
const OTHER = "+15550104444";
const PERSON = "+15550101000";
const INBOUND = { direction: "inbound", from: CALLER, to: CALLED };

function dialsOf(metadata: JsonObject | undefined, plan: PlanRecord = planRecord()) {
  const log = new RecordingLogger();
  const dials = new TransferDials({
    continuations: {
      recordOf: async () => metadata && { ...callRecord(), metadata },
      transferTokenFor: () => "token",
    },
    organizations: { find: async () => ({ organization: organizationRecord(), plan }) },
    phoneNumbers: { isAllowed: async (_orgId, number) => number === OTHER },
    log,
  });
  const callerIdFor = async (callerId?: string, vendor = "twilio") =>
    (await dials.of({ ...CLAIMS, vendor }, "https://a.example.com", { to: PERSON, callerId }))
      .callerId;
  return { dials, callerIdFor, log };
}

test("a person sees the account's number of the call, in both directions", async () => {
  assert.equal(await dialsOf(INBOUND).callerIdFor(), CALLED);
  const outbound = { direction: "outbound", from: CALLED, to: CALLER };
  assert.equal(await dialsOf(outbound).callerIdFor(), CALLED);
  assert.equal(await dialsOf({ ...INBOUND, to: CALLED.slice(1) }).callerIdFor(), CALLED);
  for (const metadata of [undefined, {}, { ...INBOUND, to: "sip:desk@a.org" }])
    assert.equal(await dialsOf(metadata).callerIdFor(), undefined);
});

test("another number is shown only if it is the organization's, and the log says so without it", async () => {
  const { callerIdFor, log } = dialsOf(INBOUND);
  assert.equal(await callerIdFor(OTHER), OTHER);
  assert.equal(await callerIdFor(CALLED), CALLED);
  assert.deepEqual(log.lines, []);
  assert.equal(await callerIdFor("+15550105555"), CALLED);
  assert.equal(log.ofLevel("warn").length, 1);
  assert.doesNotMatch(JSON.stringify(log.lines), /1555/);
});

test("the caller's own number is shown of an inbound call from a number, where the vendor shows it", async () => {
  const { callerIdFor } = dialsOf(INBOUND);
  assert.equal(await callerIdFor("caller"), CALLER);
  assert.equal(await callerIdFor("caller", "telnyx"), CALLED);
  const outbound = { direction: "outbound", from: CALLED, to: CALLER };
  assert.equal(await dialsOf(outbound).callerIdFor("caller"), CALLED);
  const bySip = { ...INBOUND, from: "sip:ada@a.org" };
  assert.equal(await dialsOf(bySip).callerIdFor("caller"), CALLED);
});

test("a conversation lasts no longer than the plan's longest call, and four hours", async () => {
  for (const [maxCallDurationSec, expected] of [
    [300, 300],
    [86_400, 14_400],
  ] as const) {
    const plan = planRecord();
    const limits = { ...plan.limits, maxCallDurationSec };
    const { dials } = dialsOf(INBOUND, { ...plan, limits });
    const { talkMaxSec } = await dials.of(CLAIMS, "https://a.example.com", { to: PERSON });
    assert.equal(talkMaxSec, expected);
  }
});
