import assert from "node:assert/strict";
import { createHash, createHmac, generateKeyPairSync, sign } from "node:crypto";
import { after, before, describe, test } from "node:test";
import webhooks from "twilio/lib/webhooks/webhooks.js";
import { webhookUrl } from "./telephone-stand.js";
import { type Customer, TestServer } from "./test-server.js";

const BASE = "https://calls.example.com";
const KEY = "what the vendor signs with";
const FORM = new URLSearchParams({ CallSid: "CA1", CallUUID: "c1", From: "+15550001111" });
const JSON_BODY = JSON.stringify({ call_sid: "c1", uuid: "u1", from: "15550001111" });
const telnyx = generateKeyPairSync("ed25519");
const TELNYX_PUBLIC_KEY = telnyx.publicKey
  .export({ format: "der", type: "spki" })
  .subarray(-32)
  .toString("base64");

type Headers = Readonly<Record<string, string>>;

interface Signer {
  readonly body: string;
  readonly sign: (url: string, body: string) => Headers;
}

const seconds = () => String(Math.floor(Date.now() / 1_000));
const base64url = (value: unknown) => Buffer.from(JSON.stringify(value)).toString("base64url");

/** As each vendor's documentation says, apart from the code under test. */
const SIGNERS: Readonly<Record<string, Signer>> = {
  signalwire: {
    body: FORM.toString(),
    sign: (url, body) => ({
      "x-signalwire-signature": webhooks.getExpectedTwilioSignature(
        KEY,
        url,
        Object.fromEntries(new URLSearchParams(body)),
      ),
    }),
  },
  plivo: {
    body: FORM.toString(),
    sign: (url, body) => {
      const query = [...new URL(url).searchParams].map((pair) => pair.join("=")).sort();
      const fields = [...new URLSearchParams(body)].map((pair) => pair.join("")).sort();
      const text = `${url.split("?")[0]}?${query.join("&")}.${fields.join("")}.nonce`;
      return {
        "x-plivo-signature-v3": createHmac("sha256", KEY).update(text).digest("base64"),
        "x-plivo-signature-v3-nonce": "nonce",
      };
    },
  },
  telnyx: {
    body: FORM.toString(),
    sign: (_url, body) => {
      const timestamp = seconds();
      const signature = sign(null, Buffer.from(`${timestamp}|${body}`), telnyx.privateKey);
      return {
        "telnyx-timestamp": timestamp,
        "telnyx-signature-ed25519": signature.toString("base64"),
      };
    },
  },
  vonage: {
    body: JSON_BODY,
    sign: (_url, body) => {
      const payload_hash = createHash("sha256").update(body).digest("hex");
      const claims = base64url({ iat: Number(seconds()), payload_hash });
      const signed = `${base64url({ alg: "HS256" })}.${claims}`;
      const signature = createHmac("sha256", KEY).update(signed).digest("base64url");
      return { authorization: `Bearer ${signed}.${signature}` };
    },
  },
  jambonz: {
    body: JSON_BODY,
    sign: (_url, body) => {
      const timestamp = seconds();
      const digest = createHmac("sha256", KEY).update(`${timestamp}.${body}`).digest("hex");
      return { "jambonz-signature": `t=${timestamp},v1=${digest}` };
    },
  },
};

let server: TestServer;
let customer: Customer;
before(async () => {
  server = await TestServer.start({
    environment: {
      PUBLIC_BASE_URL: BASE,
      SIGNALWIRE_SIGNING_KEY: KEY,
      PLIVO_AUTH_TOKEN: KEY,
      TELNYX_PUBLIC_KEY,
      VONAGE_SIGNATURE_SECRET: KEY,
      JAMBONZ_WEBHOOK_SECRET: KEY,
    },
  });
  customer = await server.customer();
  await server.agent(customer);
});
after(() => server.close());

async function ask(vendor: string, body: string, headersFor: (url: string) => Headers) {
  const url = webhookUrl(server, customer, { vendor });
  const type = body.startsWith("{") ? "application/json" : "application/x-www-form-urlencoded";
  const headers = { "content-type": type, ...headersFor(url.replace(server.url, BASE)) };
  const response = await fetch(url, { method: "POST", headers, body });
  return { status: response.status, text: await response.text() };
}

for (const [vendor, signer] of Object.entries(SIGNERS)) {
  describe(`${vendor}, with its key set`, () => {
    test("is answered when it has signed", async () => {
      const answer = await ask(vendor, signer.body, (url) => signer.sign(url, signer.body));
      assert.equal(answer.status, 200, answer.text);
      assert.match(answer.text, /token/);
    });

    test("is refused without a signature, with a wrong one, and with that of another body", async () => {
      const { body } = signer;
      const others = body.replace("15550001111", "15550009999");
      for (const headersFor of [
        () => ({}),
        (url: string) => spoilt(signer.sign(url, body)),
        (url: string) => signer.sign(url, others),
      ]) {
        const { status, text } = await ask(vendor, body, headersFor);
        assert.equal(status, 403, text);
        assert.match(text, /does not fit the request/);
        assert.ok(!text.includes(KEY));
      }
    });
  });
}

function spoilt(headers: Headers): Headers {
  return Object.fromEntries(Object.entries(headers).map(([name, value]) => [name, `${value}0`]));
}

test("signalwire may send JSON, whose hash stands in the signed address", async () => {
  const body = JSON.stringify({ CallSid: "CA1" });
  const base = webhookUrl(server, customer, { vendor: "signalwire" });
  const post = async (hashed: string) => {
    const url = `${base}&bodySHA256=${webhooks.getExpectedBodyHash(hashed)}`;
    const signed = url.replace(server.url, BASE);
    const signature = webhooks.getExpectedTwilioSignature(KEY, signed, {});
    const headers = { "content-type": "application/json", "x-signalwire-signature": signature };
    return (await fetch(url, { method: "POST", headers, body })).status;
  };
  assert.equal(await post(body), 200);
  assert.equal(await post("{}"), 403);
});
