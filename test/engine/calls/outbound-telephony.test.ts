import assert from "node:assert/strict";
import { test } from "node:test";
import { missingSettings } from "../../../engine/calls/outbound-telephony.js";

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
