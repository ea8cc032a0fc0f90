import assert from "node:assert/strict";
import { test } from "node:test";
import { telephonySettings } from "../../../engine/telephony/telephony-settings.js";

const BARE = {
  TWILIO_BASE_URL: "https://twilio.test",
  TELNYX_BASE_URL: "https://telnyx.test",
  PLIVO_BASE_URL: "https://plivo.test",
  AUDIOSOCKET_PORT: 0,
  TELEPHONY_VENDORS: [],
};

test("each account and each key of the environment is its own vendor's", () => {
  const settings = telephonySettings({
    ...BARE,
    TWILIO_ACCOUNT_SID: "twilio account",
    TWILIO_AUTH_TOKEN: "twilio token",
    SIGNALWIRE_SIGNING_KEY: "signalwire key",
    TELNYX_API_KEY: "telnyx API key",
    TELNYX_PUBLIC_KEY: "telnyx public key",
    PLIVO_AUTH_ID: "plivo account",
    PLIVO_AUTH_TOKEN: "plivo token",
    VONAGE_SIGNATURE_SECRET: "vonage secret",
    JAMBONZ_WEBHOOK_SECRET: "jambonz secret",
    AUDIOSOCKET_PORT: 9_092,
    TELEPHONY_VENDORS: ["telnyx"],
  });
  assert.deepEqual(settings, {
    twilio: {
      accountSid: "twilio account",
      authToken: "twilio token",
      baseUrl: "https://twilio.test",
    },
    telnyx: { apiKey: "telnyx API key", baseUrl: "https://telnyx.test" },
    plivo: { authId: "plivo account", authToken: "plivo token", baseUrl: "https://plivo.test" },
    webhookKeys: {
      twilio: "twilio token",
      signalwire: "signalwire key",
      plivo: "plivo token",
      telnyx: "telnyx public key",
      vonage: "vonage secret",
      jambonz: "jambonz secret",
    },
    audioSocketPort: 9_092,
    telephonyVendors: ["telnyx"],
  });
});

test("where no vendor is named, the webhooks of all are taken", () => {
  assert.deepEqual(telephonySettings(BARE).telephonyVendors, [
    "twilio",
    "telnyx",
    "signalwire",
    "plivo",
    "vonage",
    "jambonz",
    "asterisk",
    "audiosocket",
  ]);
});
