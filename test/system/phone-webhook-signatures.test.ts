import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import webhooks from "twilio/lib/webhooks/webhooks.js";
import {
  KEY,
  SIGNERS,
  SIGNING_KEYS,
  type SignedHeaders,
} from "../../bench/attack/clients/webhook-signers.js";
import { webhookUrl } from "./telephone-stand.js";
import { type Customer, TestServer } from "./test-server.js";

const BASE = "https://calls.example.com";
let server: TestServer;
let customer: Customer;
let agentId: string;
before(async () => {
  server = await TestServer.start({
    environment: {
      PUBLIC_BASE_URL: BASE,
      ...SIGNING_KEYS,
    },
  });
  customer = await server.customer();
  agentId = (await server.agent(customer)).id;
});
after(() => server.close());

async function ask(
  vendor: string,
  body: string,
  headersFor: (url: string) => SignedHeaders,
  query: Readonly<Record<string, string>> = {},
) {
  const url = webhookUrl(server, customer, { vendor, ...query });
  const type = body.startsWith("{") ? "application/json" : "application/x-www-form-urlencoded";
  const headers = { "content-type": type, ...headersFor(url.replace(server.url, BASE)) };
  const response = await fetch(url, { method: "POST", headers, body });
  return { status: response.status, text: await response.text() };
}

for (const [vendor, signer] of Object.entries(SIGNERS)) {
  describe(`${vendor}, with its key set`, () => {
    test("is answered if it has signed the request", async () => {
      const answer = await ask(vendor, signer.body, (url) => signer.sign(url, signer.body));
      assert.equal(answer.status, 200, answer.text);
      assert.match(answer.text, /token/);
    });

    test("gets the same response, and no second stream, when a signed request is repeated", async () => {
      const body = signer.body.replace("15550001111", "15550007777");
      let signed: SignedHeaders = {};
      const first = await ask(vendor, body, (url) => {
        signed = signer.sign(url, body);
        return signed;
      });
      for (const headers of [signed, respelled(signed)]) {
        const again = await ask(vendor, body, () => headers);
        assert.deepEqual(again, first);
      }
      const other = body.replace("15550007777", "15550008888");
      const next = await ask(vendor, other, (url) => signer.sign(url, other));
      assert.notEqual(next.text, first.text);
    });

    test("selects an agent in the address only if it signs the address", async () => {
      const body = signer.body.replace("15550001111", "15550006666");
      const answer = await ask(vendor, body, (url) => signer.sign(url, body), {
        agent_id: agentId,
      });
      const signsQuery = ["twilio", "signalwire", "plivo"].includes(vendor);
      assert.equal(answer.status, signsQuery ? 200 : 400, answer.text);
      if (!signsQuery) assert.match(answer.text, /agent_id: .* does not sign the address/);
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
        assert.match(text, /does not match the request/);
        assert.ok(!text.includes(KEY));
      }
    });
  });
}

/** Signatures that are also valid by the letter of the vendor's rules. */
function respelled(headers: SignedHeaders): SignedHeaders {
  const { "x-plivo-signature-v3": plivo, "jambonz-signature": jambonz, authorization } = headers;
  return {
    ...headers,
    ...(plivo === undefined ? {} : { "x-plivo-signature-v3": `nothing,${plivo}` }),
    ...(jambonz === undefined ? {} : { "jambonz-signature": `${jambonz},v1=nothing` }),
    ...(authorization === undefined
      ? {}
      : { authorization: authorization.replace("Bearer", "bearer") }),
  };
}

function spoilt(headers: SignedHeaders): SignedHeaders {
  return Object.fromEntries(Object.entries(headers).map(([name, value]) => [name, `${value}0`]));
}

test("SignalWire may send JSON, whose hash is in the signed address", async () => {
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
