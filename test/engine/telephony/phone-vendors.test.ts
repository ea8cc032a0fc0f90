import assert from "node:assert/strict";
import { test } from "node:test";
import { phoneVendor, SIGNATURE_HEADERS } from "../../../engine/telephony/phone-vendors.js";
import { PHONE_VENDOR_NAMES } from "../../../engine/telephony/telephony-settings.js";

test("a stream without a call's name is refused of exactly the vendors that always name it", () => {
  const naming = PHONE_VENDOR_NAMES.filter((name) => phoneVendor(name)?.alwaysNamesCall === true);
  assert.deepEqual(new Set(naming), new Set(["twilio", "telnyx", "plivo", "vonage", "jambonz"]));
  assert.equal(phoneVendor("nobody"), undefined);
});

/** By vendor: the field that names the call, the header with the signature, and what kind of document is wanted. */
const WEBHOOKS: Readonly<Record<string, readonly (string | undefined)[]>> = {
  twilio: ["CallSid", "X-Twilio-Signature", "text/xml; charset=utf-8"],
  telnyx: ["CallSid", "telnyx-signature-ed25519", "text/xml; charset=utf-8"],
  signalwire: ["CallSid", "X-SignalWire-Signature", "text/xml; charset=utf-8"],
  plivo: ["CallUUID", "X-Plivo-Signature-V3", "text/xml; charset=utf-8"],
  vonage: ["uuid", "Authorization", "application/json; charset=utf-8"],
  jambonz: ["call_sid", "Jambonz-Signature", "application/json; charset=utf-8"],
  asterisk: [undefined, undefined, "text/plain; charset=utf-8"],
  audiosocket: [undefined, undefined, "text/plain; charset=utf-8"],
};

test("a name that is no vendor's is nobody's, whatever else it names", () => {
  for (const name of ["", "Twilio", "constructor", "toString", "__proto__"]) {
    assert.equal(phoneVendor(name), undefined, name);
  }
});

test("each vendor's webhook is read and answered in its own way", () => {
  const found = PHONE_VENDOR_NAMES.map((name) => {
    const vendor = phoneVendor(name);
    const { contentType } = vendor?.documents ?? {};
    return [name, [vendor?.callIdField, vendor?.signature?.header, contentType]];
  });
  assert.deepEqual(Object.fromEntries(found), WEBHOOKS);
});

test("only dialplans ask to be told what to ask behind their stream", () => {
  const onRequest = PHONE_VENDOR_NAMES.filter((name) => phoneVendor(name)?.namesNextOnRequest);
  assert.deepEqual(onRequest, ["asterisk", "audiosocket"]);
});

test("only Vonage has to be told the call's id, and only Asterisk's address may have a token", () => {
  const having = (trait: "passesCallId" | "hasTokenInAddress") =>
    PHONE_VENDOR_NAMES.filter((name) => phoneVendor(name)?.[trait] === true);
  assert.deepEqual(having("passesCallId"), ["vonage"]);
  assert.deepEqual(having("hasTokenInAddress"), ["asterisk"]);
});

test("a signature is checked with the vendor's own key, by headers that every door keeps", async () => {
  const keys = {
    twilio: "1",
    signalwire: "2",
    plivo: "3",
    telnyx: Buffer.alloc(32).toString("base64"),
    vonage: "5",
    jambonz: "6",
  };
  for (const name of PHONE_VENDOR_NAMES) {
    const signature = phoneVendor(name)?.signature;
    if (signature === undefined) continue;
    const key = signature.keyOf(keys);
    assert.equal(key, Object.entries(keys).find(([vendor]) => vendor === name)?.[1]);
    const asked = new Set<string>();
    const header = (header: string) => {
      asked.add(header);
      return "";
    };
    const webhook = { url: "https://a.example/x", body: Buffer.from("{}"), nowMs: 0, header };
    assert.equal(await signature.check(key ?? "", webhook), false);
    assert.deepEqual(asked, new Set(signature.headerNames), name);
    for (const one of asked) assert.ok(SIGNATURE_HEADERS.includes(one));
    assert.ok(asked.has(signature.header.toLowerCase()), name);
  }
});

test("an agent in a webhook's address counts where the vendor signs the address, and nowhere else", () => {
  const signing = PHONE_VENDOR_NAMES.filter((name) => phoneVendor(name)?.signature?.signsQuery);
  assert.deepEqual(new Set(signing), new Set(["twilio", "signalwire", "plivo"]));
});

/** By what a repetition is known, and whether the vendor never signs the same twice. */
test("a repeated webhook is known by what its vendor signs", () => {
  const headers = new Map([
    ["x-twilio-signature", "signed"],
    ["x-plivo-signature-v3-nonce", "nonce"],
    ["telnyx-timestamp", "12"],
    ["authorization", "Bearer head.claims.signature"],
    ["jambonz-signature", "t=34,v1=00"],
  ]);
  const body = Buffer.from("abc");
  const hash = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad";
  const header = (name: string) => headers.get(name) ?? "";
  const webhook = { url: "https://a.example/x", body, nowMs: 0, header };
  const identities = PHONE_VENDOR_NAMES.flatMap((name) => {
    const signature = phoneVendor(name)?.signature;
    if (signature === undefined) return [];
    const { id, isUnique } = signature.identity(webhook);
    return [[name, id, isUnique]];
  });
  assert.deepEqual(identities, [
    ["twilio", "signed", false],
    ["telnyx", `12|${hash}`, true],
    ["signalwire", "signed", false],
    ["plivo", "nonce", true],
    ["vonage", "head.claims", true],
    ["jambonz", `34|${hash}`, true],
  ]);
});
