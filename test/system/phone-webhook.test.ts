import assert from "node:assert/strict";
import { once } from "node:events";
import { type IncomingMessage, request } from "node:http";
import { after, before, describe, test } from "node:test";
import webhooks from "twilio/lib/webhooks/webhooks.js";
import { PhoneCaller } from "../../engine/sandbox/telephone/phone-caller.js";
import { RecordingLogger } from "../doubles/recording-logger.js";
import { closeServer, heard, PacerWatch, ring, webhookUrl } from "./telephone-stand.js";
import { type Customer, TestServer } from "./test-server.js";

const AUTH_TOKEN = "the account's own token";
const FIELDS = { CallSid: "CA1", From: "+15550001111", To: "+15550002222" };

const clock = new PacerWatch();
const log = new RecordingLogger();
let server: TestServer;
before(async () => {
  server = await TestServer.start({ clock, log });
});
after(() => closeServer(server, clock));

interface WebhookAnswer {
  readonly status: number;
  readonly type: string;
  readonly text: string;
}

async function ask(
  url: string,
  headers: Readonly<Record<string, string>> = {},
): Promise<WebhookAnswer> {
  const response = await fetch(url, { method: "POST", headers, body: new URLSearchParams(FIELDS) });
  const type = response.headers.get("content-type") ?? "";
  return { status: response.status, type, text: await response.text() };
}

/** `fetch` does not allow setting the Host header. */
async function statusWithHost(url: string, host: string): Promise<number | undefined> {
  const asked = request(url, { method: "POST", headers: { host, "content-length": 0 } });
  asked.end();
  const [answer]: IncomingMessage[] = await once(asked, "response");
  answer?.resume();
  return answer?.statusCode;
}

async function customerWithAgent(planSlug?: string): Promise<Customer> {
  const customer = await server.customer(planSlug);
  await server.agent(customer, { persona: { greeting: "Hello there." } }, { tts: "edge" });
  return customer;
}

test("requests of one key, and of clients that guess keys, are limited; others are not affected", async () => {
  const limited = await TestServer.start({ environment: { REQUESTS_PER_MINUTE: "2" } });
  try {
    const [one, other] = [await limited.customer(), await limited.customer()];
    for (const customer of [one, other]) await limited.agent(customer);
    for (let n = 0; n < 2; n += 1) {
      assert.match((await ask(webhookUrl(limited, one))).text, /<Stream /);
      assert.equal((await ask(webhookUrl(limited, { apiKey: "vk_guess" }))).status, 401);
    }
    const spoken = await ask(webhookUrl(limited, one));
    assert.equal(spoken.status, 200);
    assert.match(spoken.text, /<Say>[^<]*too many calls within a minute[^<]*<\/Say><Hangup\/>/);
    const guess = await fetch(webhookUrl(limited, { apiKey: "vk_guess" }), { method: "POST" });
    assert.equal(guess.status, 429);
    assert.match(guess.headers.get("retry-after") ?? "", /^[1-9]\d*$/);
    assert.match((await ask(webhookUrl(limited, other))).text, /<Stream /);
  } finally {
    await limited.close();
  }
});

const DOCUMENTS: Readonly<Record<string, { type: RegExp; stream: RegExp }>> = {
  twilio: {
    type: /^text\/xml/,
    stream:
      /^<\?xml version="1\.0" encoding="UTF-8"\?><Response><Connect action="[^"]+\/api\/telephony\/continue\?token=[\w.-]+"><Stream url="([^"]+)"><Parameter name="token" value="[0-9a-f]+"\/><\/Stream><\/Connect><\/Response>$/,
  },
  signalwire: { type: /^text\/xml/, stream: /<Connect action="[^"]+"><Stream url="([^"]+)">/ },
  telnyx: { type: /^text\/xml/, stream: /<Stream url="([^"]+)"[^>]* bidirectionalMode="rtp"/ },
  plivo: { type: /^text\/xml/, stream: /<Stream [^>]*bidirectional="true"[^>]*>([^<]+)<\/Stream>/ },
  vonage: { type: /^application\/json/, stream: /"type":"websocket","uri":"([^"]+)"/ },
  jambonz: { type: /^application\/json/, stream: /"verb":"listen","url":"([^"]+)"/ },
};

describe("the webhook", { concurrency: true }, () => {
  for (const [vendor, { type, stream }] of Object.entries(DOCUMENTS)) {
    test(`answers ${vendor} with its own document, which contains no API key`, async () => {
      const customer = await customerWithAgent();
      const answer = await ask(webhookUrl(server, customer, { vendor }));
      assert.equal(answer.status, 200);
      assert.match(answer.type, type);
      const path = vendor === "twilio" ? "" : `/${vendor}`;
      const address = `${server.url.replace("http", "ws")}/ws/telephony/stream${path}`;
      assert.equal(stream.exec(answer.text)?.[1], address, answer.text);
      const again = await ask(webhookUrl(server, customer, { vendor }));
      assert.notEqual(again.text, answer.text, "a token can be used once");
      for (const text of [answer.text, again.text]) {
        assert.ok(!text.includes(customer.apiKey) && !text.includes("api_key"), text);
      }
    });

    test(`tells a caller over ${vendor} why a call is refused, and hangs up`, async () => {
      const customer = await customerWithAgent();
      const query = { vendor, agent_id: crypto.randomUUID() };
      const { status, text } = await ask(webhookUrl(server, customer, query));
      assert.equal(status, 200);
      assert.match(text, /This call cannot be taken: there is no such agent\. Goodbye\./);
      assert.match(text, /<Hangup\/>|"verb":"hangup"|"action":"talk"/);
      assert.doesNotMatch(text, /<Stream|websocket|"listen"/);
    });
  }

  test("accepts the key in the header as well", async () => {
    const customer = await customerWithAgent();
    const url = `${server.url}/api/telephony/voice`;
    const { status, text } = await ask(url, { "x-api-key": customer.apiKey });
    assert.equal(status, 200);
    assert.match(text, /<Stream /);
  });

  test("responds with 401 to a key that is missing, wrong or revoked", async () => {
    const customer = await customerWithAgent();
    await server.tenancy.apiKeys.revoke(customer.tenant.organization.id, customer.apiKeyId);
    for (const apiKey of ["", "nonsense", `vk_${"0".repeat(48)}`, customer.apiKey]) {
      const { status, text } = await ask(webhookUrl(server, { apiKey }));
      assert.equal(status, 401, text);
      assert.doesNotMatch(text, /<Response/);
    }
  });

  test("responds with 403 to an organization that is pending and to a key for the dashboard", async () => {
    const customer = await customerWithAgent();
    const { id } = customer.tenant.organization;
    const { rawKey } = await server.tenancy.apiKeys.create(id, {
      name: "Reports",
      scopes: ["dashboard"],
    });
    assert.equal((await ask(webhookUrl(server, { apiKey: rawKey }))).status, 403);
    await server.tenancy.organizations.suspend(customer.email);
    assert.equal((await ask(webhookUrl(server, customer))).status, 403);
  });

  test("responds with 400 to an unknown vendor", async () => {
    const customer = await customerWithAgent();
    for (const vendor of ["nobody", "constructor", ""]) {
      assert.equal((await ask(webhookUrl(server, customer, { vendor }))).status, 400, vendor);
    }
  });

  test("responds with 400 to an invalid host, which the document would contain", async () => {
    const customer = await customerWithAgent();
    for (const host of ["a b", "<x>", "evil.example/path?x=1", "u:p@evil.example", "[::1"]) {
      assert.equal(await statusWithHost(webhookUrl(server, customer), host), 400, host);
    }
    for (const host of ["voice.example.com", "voice.example.com:8443", "[2001:db8::1]:8080"]) {
      assert.equal(await statusWithHost(webhookUrl(server, customer), host), 200, host);
    }
  });

  test("uses the requested agent, but only one of the organization's own", async () => {
    const customer = await customerWithAgent();
    const other = await server.agent(customer, { persona: { greeting: "This is another one." } });
    const url = webhookUrl(server, customer, { agent_id: other.id });
    const caller = await PhoneCaller.call({ webhookUrl: url });
    await heard(caller, "This is another one.");
    await caller.hangUp();
    const stranger = await server.customer();
    const { text } = await ask(webhookUrl(server, stranger, { agent_id: other.id }));
    assert.match(text, /the organization has no active agent|there is no such agent/);
  });

  test("reports that the plan's concurrent calls are in use", async () => {
    const customer = await customerWithAgent("free");
    const { maxConcurrentCalls } = customer.tenant.plan.limits;
    const callers = await Promise.all(
      Array.from({ length: maxConcurrentCalls }, () => ring(server, customer)),
    );
    await Promise.all(callers.map((caller) => heard(caller, "Hello there.")));
    await assert.rejects(
      ring(server, customer),
      /refused: "This call cannot be taken: no further calls are taken at the moment, please try again later\. Goodbye\."/,
    );
    await Promise.all(callers.map((caller) => caller.hangUp()));
    await server.endedCalls(customer, maxConcurrentCalls);
  });

  test("contains no figures of the plan when the month's minutes are used up", async () => {
    const plan = await server.database.plans.findBySlug("free");
    assert.ok(plan);
    const limits = { ...plan.limits, maxMonthlyMinutes: 0 };
    const used = { ...plan, id: crypto.randomUUID(), slug: "used-up", limits };
    await server.database.plans.insertIfAbsent(used);
    const customer = await customerWithAgent(used.slug);
    await assert.rejects(
      ring(server, customer),
      /refused: "This call cannot be taken: no further calls are taken at the moment, please try again later\. Goodbye\."/,
    );
    const { id } = customer.tenant.organization;
    const refused = log.lines.find(
      ({ message, fields }) => /refused/.test(message) && fields["orgId"] === id,
    );
    assert.equal(refused?.fields["detail"], "the plan's 0 minutes of this month are used up");
  });
});

describe("with the vendor's auth token, the webhook", () => {
  const base = "https://calls.example.com";
  let signed: TestServer;
  let customer: Customer;
  before(async () => {
    signed = await TestServer.start({
      environment: { TWILIO_AUTH_TOKEN: AUTH_TOKEN, PUBLIC_BASE_URL: base },
    });
    customer = await signed.customer();
    await signed.agent(customer);
  });
  after(() => signed.close());

  const signature = (url: string, token = AUTH_TOKEN) => ({
    "x-twilio-signature": webhooks.getExpectedTwilioSignature(token, url, FIELDS),
  });

  test("accepts a request that the vendor's own library signed for the public address", async () => {
    const url = webhookUrl(signed, customer);
    const publicUrl = url.replace(signed.url, base);
    assert.ok(
      webhooks.validateRequest(
        AUTH_TOKEN,
        signature(publicUrl)["x-twilio-signature"],
        publicUrl,
        FIELDS,
      ),
    );
    const { status, text } = await ask(url, signature(publicUrl));
    assert.equal(status, 200, text);
    assert.match(text, /<Stream url="wss:\/\/calls\.example\.com\/ws\/telephony\/stream">/);
  });

  test("responds with 403 without a signature, and to one of another token, address or body", async () => {
    const url = webhookUrl(signed, customer);
    const publicUrl = url.replace(signed.url, base);
    const wrong: readonly Readonly<Record<string, string>>[] = [
      {},
      { "x-twilio-signature": "nonsense" },
      signature(publicUrl, "another token"),
      signature(`${publicUrl}&agent_id=other`),
      { "x-twilio-signature": webhooks.getExpectedTwilioSignature(AUTH_TOKEN, publicUrl, {}) },
    ];
    for (const headers of wrong) assert.equal((await ask(url, headers)).status, 403);
  });

  test("does not require it from other vendors, which sign in another way", async () => {
    const url = webhookUrl(signed, customer, { vendor: "vonage" });
    assert.equal((await ask(url)).status, 200);
  });
});
