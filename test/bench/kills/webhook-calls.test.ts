import assert from "node:assert/strict";
import { test } from "node:test";
import { turnedAway } from "../../../api/voice/phone-document.js";
import { promisesEvent } from "../../../bench/kills/webhook-calls.js";
import {
  CallRefusedError,
  eventDelayed,
  type RefusalReason,
} from "../../../engine/calls/call-refused-error.js";
import { phoneVendor } from "../../../engine/telephony/phone-vendors.js";

const heardFor = ({ callerWords }: CallRefusedError) => {
  const twilio = phoneVendor("twilio");
  assert.ok(twilio);
  return String(turnedAway(twilio.documents, callerWords).body);
};

test("a telephone caller who is told to call again later is promised no event", () => {
  const refusal = (reason: RefusalReason) => new CallRefusedError(reason, "the agent is not there");
  assert.equal(promisesEvent(heardFor(refusal("agentNotFound"))), true);
  assert.equal(promisesEvent(heardFor(refusal("storeFailing"))), false);
  assert.equal(promisesEvent(heardFor(eventDelayed())), false);
});
