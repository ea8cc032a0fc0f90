import assert from "node:assert/strict";
import { createHmac } from "node:crypto";
import { test } from "node:test";
import { isPlivoSignature } from "../../../../engine/telephony/plivo/plivo.js";

const AUTH_TOKEN = "12345";
const BASE = "https://example.com/api/telephony/voice";

/** Each taken by `validateV3Signature` of plivo 4.79.0, with the nonce `n1`. */
const VECTORS: readonly (readonly [
  url: string,
  fields: readonly (readonly [string, string])[],
  signature: string,
])[] = [
  [
    `${BASE}?vendor=plivo&api_key=k1`,
    [
      ["To", "+15550002222"],
      ["CallUUID", "c1"],
      ["From", "+15550001111"],
    ],
    "AYeTwD7NF4KI0uHprO+dJg928Uwu2BNfVKw0QM07PkM=",
  ],
  [`${BASE}?api_key=k1&vendor=plivo`, [], "jIbpTNJnJuoW9lXDf/6fWLOlO7zK41348IKNCn7UTcI="],
  [BASE, [["CallUUID", "c1"]], "kBj5OHZS6O5a3T+BpPH6Lhbt4ko95NaXIHPEZIUUmpg="],
  [
    `${BASE}?vendor=plivo&api_key=a%20b`,
    [["CallerName", "Zoë & Co"]],
    "iWdaxQdEVzCE+4DhXrffvkW2SBmKEQfAmZdL2+41zdg=",
  ],
  [
    "https://example.com:8443/api/telephony/voice?x=2&x=1",
    [
      ["Event", "b"],
      ["CallUUID", "c1"],
      ["Event", "a"],
    ],
    "mQIISi22QUpXxgIcNIzEcdUKtZEl8M11sqN/emOh21o=",
  ],
];

test("what the vendor's library takes is right", () => {
  for (const [url, fields, signatures] of VECTORS) {
    assert.ok(isPlivoSignature(AUTH_TOKEN, { url, fields, nonce: "n1", signatures }), url);
  }
});

test("one of several signatures is enough", () => {
  const [url, fields, right] = VECTORS[0] ?? assert.fail();
  for (const signatures of [`nonsense,${right}`, `${right}, nonsense`, `,${right}`]) {
    assert.ok(isPlivoSignature(AUTH_TOKEN, { url, fields, nonce: "n1", signatures }));
  }
  const late = `${"nonsense,".repeat(8)}${right}`;
  assert.ok(!isPlivoSignature(AUTH_TOKEN, { url, fields, nonce: "n1", signatures: late }));
});

test("another token, nonce, address, query or field is not what was signed", () => {
  const [url, fields, signatures] = VECTORS[0] ?? assert.fail();
  const good = { url, fields, nonce: "n1", signatures };
  assert.ok(!isPlivoSignature("54321", good));
  for (const wrong of [
    { nonce: "n2" },
    { nonce: "" },
    { url: url.replace("example", "sample") },
    { url: url.replace("k1", "k2") },
    { url: "no address" },
    { fields: fields.slice(1) },
    { fields: [...fields, ["Extra", "1"]] as const },
    { signatures: "" },
    { signatures: signatures.toLowerCase() },
  ]) {
    assert.ok(!isPlivoSignature(AUTH_TOKEN, { ...good, ...wrong }), JSON.stringify(wrong));
  }
});

test("neither the order of the query nor that of the fields is signed", () => {
  const [url, fields, signatures] = VECTORS[4] ?? assert.fail();
  for (const query of ["?x=2&x=1", "?x=1&x=2"]) {
    for (const order of [fields, fields.toReversed()]) {
      const shown = { url: url.replace(/\?.*/, query), fields: order, nonce: "n1", signatures };
      assert.ok(isPlivoSignature(AUTH_TOKEN, shown), query);
    }
  }
});

test("of a request without a query and without fields the address alone is signed", () => {
  const signatures = createHmac("sha256", AUTH_TOKEN).update(`${BASE}.n1`).digest("base64");
  const request = { url: BASE, nonce: "n1", signatures };
  assert.ok(isPlivoSignature(AUTH_TOKEN, { ...request, fields: [] }));
  assert.ok(!isPlivoSignature(AUTH_TOKEN, { ...request, fields: [["a", "1"]] }));
});
