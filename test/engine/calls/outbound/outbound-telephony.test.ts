import assert from "node:assert/strict";
import { test } from "node:test";
import {
  type OutboundOrder,
  OutboundTelephony,
} from "../../../../engine/calls/outbound/outbound-telephony.js";
import type { CallToPlace } from "../../../../engine/telephony/call-control.js";
import { installationApis, NO_OWN_NUMBERS } from "../../../doubles/installation-apis.js";

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
    verify: () => Promise.resolve(),
    hangUp: (callRef: string, state?: string) => {
      asked.push([name, callRef, state]);
      return Promise.resolve();
    },
  };
}

test("an order goes to the vendor that it names, or to the first that has an account", async () => {
  const asked: unknown[] = [];
  const apis = { plivo: api("plivo", asked), telnyx: api("telnyx", asked) };
  const telephony = new OutboundTelephony({
    apis: installationApis(apis),
    ...NO_OWN_NUMBERS,
    baseUrl,
  });
  for (const wanted of [undefined, "plivo"] as const) {
    const placing = await telephony.vendorFor("org", { from: ORDER.from, vendor: wanted });
    assert.ok("vendor" in placing);
    assert.equal(placing.vendor, wanted ?? "telnyx");
    assert.equal(await placing.place(ORDER, "token", 60), `${placing.vendor}-1`);
    await telephony.hangUp({ vendor: placing.vendor, orgId: "org" }, "ref");
  }
  const answerUrl = "https://voice.example.com/api/telephony/answer?token=token";
  const statusUrl = "https://voice.example.com/api/telephony/status?token=token";
  assert.deepEqual(asked, [
    ["telnyx", answerUrl, statusUrl, 60],
    ["telnyx", "ref", "ringingOrAnswered"],
    ["plivo", answerUrl, statusUrl, 60],
    ["plivo", "ref", "ringingOrAnswered"],
  ]);
});

test("the settings that are missing are named, and only those of the vendor in question", async () => {
  const hangUp = () => Promise.resolve();
  const verify = hangUp;
  const apis = installationApis({ telnyx: { hangUp, verify } });
  const none = new OutboundTelephony({ apis, ...NO_OWN_NUMBERS, baseUrl: undefined });
  const { from } = ORDER;
  const missing = {
    undefined: ["TWILIO_ACCOUNT_SID", "TWILIO_AUTH_TOKEN", "PUBLIC_BASE_URL"],
    telnyx: ["TELNYX_API_KEY", "TELNYX_TEXML_APP_ID", "PUBLIC_BASE_URL"],
    vonage: ["VONAGE_APPLICATION_ID", "VONAGE_PRIVATE_KEY", "PUBLIC_BASE_URL"],
    audiosocket: ["PUBLIC_BASE_URL"],
  };
  assert.deepEqual(await none.vendorFor("org", { from }), { missing: missing.undefined });
  for (const vendor of ["telnyx", "vonage", "audiosocket"] as const) {
    assert.deepEqual(await none.vendorFor("org", { from, vendor }), { missing: missing[vendor] });
  }
  const plivo = installationApis({ plivo: api("plivo", []) });
  const there = new OutboundTelephony({ apis: plivo, ...NO_OWN_NUMBERS, baseUrl: undefined });
  assert.deepEqual(await there.vendorFor("org", { from, vendor: "plivo" }), {
    missing: ["PUBLIC_BASE_URL"],
  });
});

test("what an account of an organization lacks to place calls is named, and not the platform's settings", async () => {
  const [hangUp, verify] = [() => Promise.resolve(), () => Promise.resolve()];
  const telephony = new OutboundTelephony({
    apis: { of: async ({ ownAccount }) => (ownAccount === true ? { hangUp, verify } : undefined) },
    ownVendorOf: async () => "telnyx",
    baseUrl,
  });
  await assert.rejects(telephony.vendorFor("org", { from: ORDER.from }), {
    code: "invalid_request",
    message: "from: the organization's account at telnyx places no calls before it has texmlAppId",
  });
});

test("a number in an account of its organization is called from with that account alone", async () => {
  const asked: unknown[] = [];
  const own = api("own", asked);
  const telephony = new OutboundTelephony({
    apis: { of: ({ ownAccount }) => (ownAccount === true ? own : api("platform", asked)) },
    ownVendorOf: async (_orgId, number) => (number === ORDER.from ? "telnyx" : undefined),
    baseUrl,
  });
  const placing = await telephony.vendorFor("org", { from: ORDER.from });
  assert.ok("vendor" in placing);
  assert.deepEqual([placing.vendor, placing.ownAccount], ["telnyx", true]);
  assert.equal(await placing.place(ORDER, "token", 60), "own-1");
  const { from } = ORDER;
  await assert.rejects(telephony.vendorFor("org", { from, vendor: "plivo" }), {
    code: "invalid_request",
    message: /^vendor: expected telnyx/,
  });
  const other = await telephony.vendorFor("org", { from: "+15550100000", vendor: "plivo" });
  assert.ok("vendor" in other);
  assert.deepEqual([other.vendor, other.ownAccount], ["plivo", false]);
});
