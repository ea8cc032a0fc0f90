import assert from "node:assert/strict";
import { test } from "node:test";
import {
  missingSettings,
  type OutboundSettings,
  outboundTelephony,
} from "../../../../engine/calls/outbound/outbound-telephony.js";
import { SystemClock } from "../../../../engine/time/clock.js";
import { Connections } from "../../../../engine/vendors/transport/connections.js";

test("the settings that are missing for placed calls are named, and only those", () => {
  const baseUrl = "https://api.twilio.example";
  const none = { accountSid: undefined, authToken: undefined, baseUrl };
  assert.deepEqual(missingSettings({ twilio: none, publicBaseUrl: undefined }), [
    "TWILIO_ACCOUNT_SID",
    "TWILIO_AUTH_TOKEN",
    "PUBLIC_BASE_URL",
  ]);
  const half = { ...none, accountSid: "account" };
  assert.deepEqual(missingSettings({ twilio: half, publicBaseUrl: "https://voice.example.com" }), [
    "TWILIO_AUTH_TOKEN",
  ]);
  const whole = { ...half, authToken: "token" };
  assert.deepEqual(
    missingSettings({ twilio: whole, publicBaseUrl: "https://voice.example.com" }),
    [],
  );
});

test("calls can be placed with an account and an address of ours, public or on this machine", (t) => {
  const clock = new SystemClock();
  const connections = new Connections({ clock, allowPrivateAddresses: true });
  t.after(() => connections.close());
  const baseUrl = "https://api.twilio.example";
  const canPlace = (settings: OutboundSettings) =>
    outboundTelephony(settings, { clock, connections }) !== undefined;
  const twilio = { accountSid: "account", authToken: "token", baseUrl };
  const publicBaseUrl = "https://voice.example.com";
  const localBaseUrl = () => "http://127.0.0.1:3000";
  assert.equal(canPlace({ twilio, publicBaseUrl }), true);
  assert.equal(canPlace({ twilio, publicBaseUrl: undefined, localBaseUrl }), true);
  assert.equal(canPlace({ twilio, publicBaseUrl: undefined }), false);
  const noToken = { ...twilio, authToken: undefined };
  assert.equal(canPlace({ twilio: noToken, publicBaseUrl, localBaseUrl }), false);
});
