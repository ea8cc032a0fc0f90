import assert from "node:assert/strict";
import { test } from "node:test";
import * as fc from "fast-check";
import twilio from "twilio";
import {
  isTwilioSignature,
  isTwilioWebhook,
} from "../../../../engine/telephony/twilio/twilio-signature.js";

const {
  getExpectedBodyHash,
  getExpectedTwilioSignature,
  validateRequest,
  validateRequestWithBody,
} = twilio;
const AUTH_TOKEN = "12345";
const CALL_FIELDS = [
  ["To", "+15550002222"],
  ["CallSid", "CA1"],
  ["From", "+15550001111"],
] as const;

test("the vendor's own signatures are right", () => {
  assert.ok(
    isTwilioSignature(AUTH_TOKEN, {
      url: "wss://example.com/ws/telephony/stream",
      signature: "YGS73oKPbmLZEe0w6+mkDzbcvSo=",
    }),
  );
  const url = "https://example.com/api/telephony/voice?api_key=k1";
  const signature = "SZF8Ivc4zw4xf7D1+e2PZ36XCkk=";
  assert.ok(isTwilioSignature(AUTH_TOKEN, { url, fields: CALL_FIELDS, signature }));
  assert.ok(!isTwilioSignature("54321", { url, fields: CALL_FIELDS, signature }));
  assert.ok(!isTwilioSignature(AUTH_TOKEN, { url, signature }));
});

test("the port, the last slash and signs of the query may be written or not", () => {
  const signed = [
    ["https://a.example/x", "https://a.example:443/x"],
    ["https://a.example:8443/x", "https://a.example/x"],
    ["wss://a.example/x", "wss://a.example:443/x"],
    ["wss://a.example/x", "wss://a.example:80/x"],
    ["http://a.example/x", "http://a.example:80/x"],
    ["wss://a.example/ws/stream", "wss://a.example/ws/stream/"],
    ["wss://a.example/ws/stream/", "wss://a.example/ws/stream"],
    ["https://a.example/x?k=1", "https://a.example/x/?k=1"],
    ["https://[::1]:9/x", "https://[::1]/x"],
    ["https://a.example/x?a=%27&b", "https://a.example/x?a='&b="],
  ] as const;
  for (const [url, signedUrl] of signed) {
    const signature = getExpectedTwilioSignature(AUTH_TOKEN, signedUrl, {});
    assert.ok(isTwilioSignature(AUTH_TOKEN, { url, signature }), `${url} of ${signedUrl}`);
  }
});

test("another host, path, query or scheme is another URL", () => {
  const url = "https://a.example/x?k=1";
  for (const other of [
    "https://b.example/x?k=1",
    "https://a.example/y?k=1",
    "https://a.example/x?k=2",
    "https://a.example/x",
    "http://a.example/x?k=1",
  ]) {
    const signature = getExpectedTwilioSignature(AUTH_TOKEN, other, {});
    assert.ok(!isTwilioSignature(AUTH_TOKEN, { url, signature }), other);
  }
});

test("a port that is not the scheme's own is another URL", () => {
  for (const [url, signedUrl] of [
    ["https://a.example/x", "https://a.example:444/x"],
    ["wss://a.example/x", "wss://a.example:444/x"],
    ["wss://a.example/x", "wss://a.example:81/x"],
    ["http://a.example/x", "http://a.example:81/x"],
    ["https://a.example/x", "https://a.example:80/x"],
    ["http://a.example/x", "http://a.example:443/x"],
    ["no address", ":80"],
    ["https://a.example/x", "https://a.example/?https%3A%2F%2Fa.example%2Fx="],
  ] as const) {
    const signature = getExpectedTwilioSignature(AUTH_TOKEN, signedUrl, {});
    assert.ok(!isTwilioSignature(AUTH_TOKEN, { url, signature }), `${url} of ${signedUrl}`);
  }
});

test("a text that is no signature is wrong", () => {
  const url = "https://a.example/x";
  const right = getExpectedTwilioSignature(AUTH_TOKEN, url, {});
  const wrong = [
    "",
    "=",
    right.slice(0, -1),
    `${right}=`,
    ` ${right}`,
    `${right}A`,
    right.slice(4),
  ];
  for (const signature of wrong) assert.ok(!isTwilioSignature(AUTH_TOKEN, { url, signature }));
  assert.ok(isTwilioSignature(AUTH_TOKEN, { url, signature: right }));
});

const fieldArbitrary = fc.tuple(
  fc.oneof(fc.constantFrom("From", "To", "from", "CallSid", "é", "__proto__1"), fc.string()),
  fc.oneof(fc.constantFrom("+1555", " ", "a&b=c", "日本"), fc.string({ unit: "grapheme" })),
);
const urlArbitrary = fc
  .record({
    scheme: fc.constantFrom("https://", "http://", "wss://"),
    host: fc.constantFrom("example.com", "voice.example.com", "127.0.0.1", "[::1]"),
    port: fc.constantFrom("", ":443", ":8080", ":80"),
    path: fc.constantFrom("/", "/api/telephony/voice", "/ws/telephony/stream/", "/a%20b", "/it's"),
    query: fc.constantFrom("", "?api_key=k1", "?a=b&c=d%20e", "?q=it's", "?a=%27&b", "?x=a+b"),
  })
  .map(({ scheme, host, port, path, query }) => scheme + host + port + path + query);

/** As the vendor's library wants them: a repeated field as a list. */
function recordOf(fields: readonly (readonly [string, string])[]): Record<string, string[]> {
  const record: Record<string, string[]> = {};
  for (const [name, value] of fields) (record[name] ??= []).push(value);
  return record;
}

test("the verdict is that of the vendor's library, whatever was signed", () => {
  const fields = fc
    .array(fieldArbitrary, { maxLength: 8 })
    .map((list) => list.filter(([name]) => !(name in Object.prototype)));
  fc.assert(
    fc.property(
      urlArbitrary,
      fields,
      fc.integer({ min: 0, max: 5 }),
      (url, signedFields, change) => {
        const record = recordOf(signedFields);
        const signedUrl =
          [url, new URL(url).toString(), url.replace(/:\d+(?=\/)/, "")][change] ?? url;
        const signature = getExpectedTwilioSignature(AUTH_TOKEN, signedUrl, record);
        const shown = change === 5 ? signedFields.slice(1) : signedFields;
        const expected = validateRequest(AUTH_TOKEN, signature, url, recordOf(shown));
        const found = isTwilioSignature(AUTH_TOKEN, { url, fields: shown, signature });
        assert.equal(found, expected);
      },
    ),
    { numRuns: 500 },
  );
});

/** As the vendor signs a body that is no form: by its hash in the address. */
function signedBody(body: string, url = "https://a.example/x?k=1") {
  const signedUrl = `${url}&bodySHA256=${getExpectedBodyHash(body)}`;
  const signature = getExpectedTwilioSignature(AUTH_TOKEN, signedUrl, {});
  return { url: signedUrl, body: Buffer.from(body), signature };
}

const JSON_BODY = '{"CallSid":"CA1","é":"日本"}';

test("a body in JSON is signed by its hash in the address", () => {
  const webhook = signedBody(JSON_BODY);
  assert.ok(validateRequestWithBody(AUTH_TOKEN, webhook.signature, webhook.url, JSON_BODY));
  assert.ok(isTwilioWebhook(AUTH_TOKEN, webhook));
  assert.ok(!isTwilioWebhook("54321", webhook));
});

test("another body than the one that was hashed is refused, and so is another hash", () => {
  const webhook = signedBody(JSON_BODY);
  for (const other of ["", "{}", `${JSON_BODY} `, "bodySHA256=1&CallSid=CA1"]) {
    const shown = { ...webhook, body: Buffer.from(other) };
    assert.ok(!validateRequestWithBody(AUTH_TOKEN, webhook.signature, webhook.url, other));
    assert.ok(!isTwilioWebhook(AUTH_TOKEN, shown), other);
  }
  const hashOfOther = getExpectedBodyHash("{}");
  const swapped = webhook.url.replace(/bodySHA256=.*/, `bodySHA256=${hashOfOther}`);
  assert.ok(!isTwilioWebhook(AUTH_TOKEN, { ...webhook, url: swapped, body: Buffer.from("{}") }));
});

test("two hashes, or an empty one, are no hash of the body", () => {
  for (const query of [`?bodySHA256=&k=1`, `?bodySHA256=${getExpectedBodyHash("{}")}&k=1`]) {
    assert.ok(!isTwilioWebhook(AUTH_TOKEN, signedBody(JSON_BODY, `https://a.example/x${query}`)));
  }
});

test("a form is signed by its fields, and not without them", () => {
  const url = "https://a.example/x?k=1";
  const body = Buffer.from(new URLSearchParams(Object.fromEntries(CALL_FIELDS)).toString());
  const signature = getExpectedTwilioSignature(AUTH_TOKEN, url, Object.fromEntries(CALL_FIELDS));
  assert.ok(isTwilioWebhook(AUTH_TOKEN, { url, body, signature }));
  assert.ok(!isTwilioWebhook(AUTH_TOKEN, { url, body: Buffer.alloc(0), signature }));
});
