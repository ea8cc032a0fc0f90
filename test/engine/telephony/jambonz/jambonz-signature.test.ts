import assert from "node:assert/strict";
import { test } from "node:test";
import { isJambonzSignature } from "../../../../engine/telephony/jambonz/jambonz.js";

const WEBHOOK_AGE_MAX_MS = 300_000;

const SECRET = "wh-12345";
/** Taken by `verifyJambonzSignature` of @jambonz/node-client 0.4.11. */
const DIGEST = "90a9c469d4776bd56d28f1026fa991308886416c22c72a67bb439fabd6e5aef3";
const SIGNED = {
  body: Buffer.from('{"call_sid":"c1","from":"+15550001111"}'),
  signature: `t=1795290000,v1=${DIGEST}`,
  nowMs: 1_795_290_000_000,
};

test("what the vendor's library takes is right, for five minutes", () => {
  assert.ok(isJambonzSignature(SECRET, SIGNED));
  const nowMs = SIGNED.nowMs + WEBHOOK_AGE_MAX_MS;
  assert.ok(isJambonzSignature(SECRET, { ...SIGNED, nowMs }));
  assert.ok(!isJambonzSignature(SECRET, { ...SIGNED, nowMs: nowMs + 1 }));
});

test("one of several digests is enough, and other schemes are passed over", () => {
  const other = "0".repeat(64);
  for (const signature of [
    `v1=${DIGEST},t=1795290000`,
    `t=1795290000,v1=${other},v1=${DIGEST}`,
    `t=1795290000,v0=${other},v1=${DIGEST}`,
    `t=1795290000${",x=1".repeat(6)},v1=${DIGEST}`,
  ]) {
    assert.ok(isJambonzSignature(SECRET, { ...SIGNED, signature }), signature);
  }
});

test("another secret, time, body or form is not what was signed", () => {
  assert.ok(!isJambonzSignature("wh-54321", SIGNED));
  assert.ok(!isJambonzSignature(SECRET, { ...SIGNED, body: Buffer.from("{}") }));
  for (const signature of [
    "",
    DIGEST,
    `v1=${DIGEST}`,
    `t=,v1=${DIGEST}`,
    `t=1795290001,v1=${DIGEST}`,
    `t=1795290000,v0=${DIGEST}`,
    "t=1795290000,v1=",
    `t=1795290000,v1=${DIGEST.slice(2)}`,
    `t=1795290000${",x=1".repeat(7)},v1=${DIGEST}`,
  ]) {
    assert.ok(!isJambonzSignature(SECRET, { ...SIGNED, signature }), signature);
  }
});
