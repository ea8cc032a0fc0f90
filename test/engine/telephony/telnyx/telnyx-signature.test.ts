import assert from "node:assert/strict";
import { test } from "node:test";
import { isTelnyxSignature } from "../../../../engine/telephony/telnyx/telnyx.js";

const WEBHOOK_AGE_MAX_MS = 300_000;

/** Taken by `TelnyxWebhook.verify` of telnyx 7.24.0; the seed of the private key is 32 times the byte 7. */
const PUBLIC_KEY = "6kpsY+KcUgq+9VB7Ey7F+ZVHdq6+vnuSQh7qaRRG0iw=";
const SIGNED = {
  body: Buffer.from("CallSid=v3%3Aex&From=%2B15550001111"),
  timestamp: "1795290000",
  signature:
    "aStAUYFrMJJkQQ8gQlVl8+lxmdRJupDzDFcLSJUD5yDVl2eDWeZZjbNcSGVQyq+wvQha6UVxpdUugqAs93iLBQ==",
  nowMs: 1_795_290_000_000,
};

test("what the vendor's library takes is right, for five minutes", () => {
  assert.ok(isTelnyxSignature(PUBLIC_KEY, SIGNED));
  for (const byMs of [-WEBHOOK_AGE_MAX_MS, WEBHOOK_AGE_MAX_MS]) {
    assert.ok(isTelnyxSignature(PUBLIC_KEY, { ...SIGNED, nowMs: SIGNED.nowMs + byMs }));
    const later = { ...SIGNED, nowMs: SIGNED.nowMs + byMs + Math.sign(byMs) };
    assert.ok(!isTelnyxSignature(PUBLIC_KEY, later));
  }
});

test("another key, time, body or signature is not what was signed", () => {
  const otherKey = Buffer.alloc(32, 9).toString("base64");
  assert.ok(!isTelnyxSignature(otherKey, SIGNED));
  for (const wrong of [
    { timestamp: "1795290001" },
    { timestamp: "" },
    { timestamp: "now" },
    { timestamp: "1795290000.0" },
    { body: Buffer.from("CallSid=v3%3Aother") },
    { body: Buffer.alloc(0) },
    { signature: "" },
    { signature: "nonsense" },
    { signature: Buffer.alloc(64).toString("base64") },
  ]) {
    assert.ok(!isTelnyxSignature(PUBLIC_KEY, { ...SIGNED, ...wrong }), JSON.stringify(wrong));
  }
});

test("a key of another length is an error of the operator", () => {
  assert.throws(() => isTelnyxSignature("AAAA", SIGNED), RangeError);
});
