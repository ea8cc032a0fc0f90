import assert from "node:assert/strict";
import { test } from "node:test";
import {
  type OutboundOrder,
  OutboundTelephony,
} from "../../../../engine/calls/outbound/outbound-telephony.js";
import type { CallToPlace } from "../../../../engine/telephony/call-control.js";

const baseUrl = () => "https://voice.example.com/";
const ORDER: OutboundOrder = {
  agentId: "agent",
  to: "+15550101000",
  from: "+15550109999",
  detectMachine: true,
};

/** A vendor's API that notes what it places and hangs up. */
function api(name: string, asked: unknown[]) {
  return {
    place: (call: CallToPlace) => {
      asked.push([name, call.answerUrl, call.statusUrl, call.ringTimeoutSec]);
      return Promise.resolve(`${name}-1`);
    },
    hangUp: (callRef: string, state?: string) => {
      asked.push([name, callRef, state]);
      return Promise.resolve();
    },
  };
}

test("an order goes to the vendor that it names, or to the first that has an account", async () => {
  const asked: unknown[] = [];
  const apis = { plivo: api("plivo", asked), telnyx: api("telnyx", asked) };
  const telephony = new OutboundTelephony({ apis, baseUrl });
  for (const wanted of [undefined, "plivo"] as const) {
    const placing = telephony.vendorFor(wanted);
    assert.ok("vendor" in placing);
    assert.equal(placing.vendor, wanted ?? "telnyx");
    assert.equal(await placing.place(ORDER, "token", 60), `${placing.vendor}-1`);
    await telephony.hangUp(placing.vendor, "ref");
  }
  const answerUrl = "https://voice.example.com/api/telephony/answer?token=token";
  const statusUrl = "https://voice.example.com/api/telephony/status?token=token";
  assert.deepEqual(asked, [
    ["telnyx", answerUrl, statusUrl, 60],
    ["telnyx", "ref", "ringing"],
    ["plivo", answerUrl, statusUrl, 60],
    ["plivo", "ref", "ringing"],
  ]);
});

test("the settings that are missing are named, and only those of the vendor in question", () => {
  const hangUp = () => Promise.resolve();
  const none = new OutboundTelephony({ apis: { telnyx: { hangUp } }, baseUrl: undefined });
  const missing = {
    undefined: ["TWILIO_ACCOUNT_SID", "TWILIO_AUTH_TOKEN", "PUBLIC_BASE_URL"],
    telnyx: ["TELNYX_API_KEY", "TELNYX_TEXML_APP_ID", "PUBLIC_BASE_URL"],
    vonage: ["VONAGE_APPLICATION_ID", "VONAGE_PRIVATE_KEY", "PUBLIC_BASE_URL"],
    audiosocket: ["PUBLIC_BASE_URL"],
  };
  assert.deepEqual(none.vendorFor(undefined), { missing: missing.undefined });
  for (const vendor of ["telnyx", "vonage", "audiosocket"] as const) {
    assert.deepEqual(none.vendorFor(vendor), { missing: missing[vendor] });
  }
  const there = new OutboundTelephony({ apis: { plivo: api("plivo", []) }, baseUrl: undefined });
  assert.deepEqual(there.vendorFor("plivo"), { missing: ["PUBLIC_BASE_URL"] });
});
