import assert from "node:assert/strict";
import { test } from "node:test";
import { PHONE_VENDOR_NAMES, phoneVendor } from "../../../engine/telephony/phone-vendors.js";

test("a stream without a call's name is refused of exactly the vendors that always name it", () => {
  const naming = PHONE_VENDOR_NAMES.filter((name) => phoneVendor(name)?.alwaysNamesCall === true);
  assert.deepEqual(new Set(naming), new Set(["twilio", "telnyx", "plivo", "vonage", "jambonz"]));
  assert.equal(phoneVendor("nobody"), undefined);
});
