import assert from "node:assert/strict";
import { test } from "node:test";
import { telephonySettings } from "../../../engine/telephony/telephony-settings.js";

const BARE = {
  TWILIO_BASE_URL: "https://twilio.test",
  TELNYX_BASE_URL: "https://telnyx.test",
  PLIVO_BASE_URL: "https://plivo.test",
  VONAGE_BASE_URL: "https://vonage.test",
  JAMBONZ_BASE_URL: "https://jambonz.test",
  AUDIOSOCKET_PORT: 0,
  TELEPHONY_VENDORS: [],
};

test("each account and each key of the environment is its own vendor's", () => {
  const settings = telephonySettings({
    ...BARE,
    TWILIO_ACCOUNT_SID: "twilio account",
    TWILIO_AUTH_TOKEN: "twilio token",
    SIGNALWIRE_PROJECT_ID: "signalwire project",
    SIGNALWIRE_API_TOKEN: "signalwire token",
    SIGNALWIRE_BASE_URL: "https://signalwire.test",
    SIGNALWIRE_SIGNING_KEY: "signalwire key",
    TELNYX_API_KEY: "telnyx API key",
    TELNYX_TEXML_APP_ID: "telnyx application",
    TELNYX_PUBLIC_KEY: "telnyx public key",
    PLIVO_AUTH_ID: "plivo account",
    PLIVO_AUTH_TOKEN: "plivo token",
    VONAGE_APPLICATION_ID: "vonage application",
    VONAGE_PRIVATE_KEY: "vonage\\nkey",
    VONAGE_SIGNATURE_SECRET: "vonage secret",
    JAMBONZ_ACCOUNT_SID: "jambonz account",
    JAMBONZ_API_KEY: "jambonz key",
    ASTERISK_ARI_URL: "http://asterisk.test/ari",
    ASTERISK_ARI_USER: "asterisk user",
    ASTERISK_ARI_PASSWORD: "asterisk password",
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
    signalwire: {
      projectId: "signalwire project",
      apiToken: "signalwire token",
      baseUrl: "https://signalwire.test",
    },
    telnyx: {
      apiKey: "telnyx API key",
      texmlAppId: "telnyx application",
      baseUrl: "https://telnyx.test",
    },
    plivo: { authId: "plivo account", authToken: "plivo token", baseUrl: "https://plivo.test" },
    vonage: {
      applicationId: "vonage application",
      privateKey: "vonage\nkey",
      baseUrl: "https://vonage.test",
    },
    jambonz: {
      accountSid: "jambonz account",
      apiKey: "jambonz key",
      baseUrl: "https://jambonz.test",
    },
    asterisk: {
      user: "asterisk user",
      password: "asterisk password",
      baseUrl: "http://asterisk.test/ari",
    },
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
