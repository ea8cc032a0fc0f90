import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { SIGNERS, SIGNING_KEYS } from "../../bench/attack/clients/webhook-signers.js";
import { RecordingLogger } from "../doubles/recording-logger.js";
import { VendorCaller } from "./phone-vendor-caller.js";
import { VENDOR_STREAMS } from "./phone-vendor-streams.js";
import { streamUrl, webhookUrl } from "./telephone-stand.js";
import { type Customer, TestServer } from "./test-server.js";

/** The called number as the test's vendors send it, some without the plus. */
const CALLED = "+15550002222";
const log = new RecordingLogger();
let server: TestServer;
before(async () => {
  server = await TestServer.start({ log, environment: SIGNING_KEYS });
});
after(() => server.close());

/** One webhook address for all numbers of the account. */
const accountUrl = (vendor: string) => `${server.url}/api/telephony/voice?vendor=${vendor}`;

/** A customer with two agents; the second one answers the number. */
async function withNumber(vendor?: string): Promise<Customer> {
  const customer = await server.customer();
  await server.agent(customer, { persona: { greeting: "The first agent." } });
  const second = await server.agent(customer, { persona: { greeting: "The second agent." } });
  await server.tenancy.phoneNumbers.allow(customer.email, CALLED, vendor);
  const assigned = await fetch(
    `${server.url}/api/dashboard/phone-numbers/${encodeURIComponent(CALLED)}`,
    {
      method: "PATCH",
      headers: { "x-api-key": customer.apiKey, "content-type": "application/json" },
      body: JSON.stringify({ agentId: second.id }),
    },
  );
  const refused = await fetch(
    `${server.url}/api/dashboard/phone-numbers/${encodeURIComponent(CALLED)}`,
    {
      method: "PATCH",
      headers: { "x-api-key": customer.apiKey, "content-type": "application/json" },
      body: JSON.stringify({ agentId: second.id, accountId: null }),
    },
  );
  assert.equal(refused.status, 403, "only an admin may set the account of a number");
  assert.deepEqual(await assigned.json(), {
    number: CALLED,
    vendor: vendor ?? null,
    agentId: second.id,
    accountId: null,
    isImported: false,
  });
  return customer;
}

const free = () => server.tenancy.phoneNumbers.revoke(CALLED);

function callerOf(title: string): readonly [VendorCaller, string] {
  const stream = VENDOR_STREAMS[title];
  assert.ok(stream, title);
  return [new VendorCaller(stream, streamUrl(server, stream.vendor)), stream.vendor];
}

for (const title of [
  "Twilio in µ-law",
  "SignalWire in 16-bit samples",
  "Telnyx in A-law",
  "Plivo in µ-law",
  "Vonage in 16-bit samples",
  "Jambonz in 16-bit samples",
]) {
  test(`${title}: the called number selects the agent, at one address without a key`, async (t) => {
    const [caller, vendor] = callerOf(title);
    // This vendor's simulator writes numbers without the plus, as some carriers do.
    await withNumber(vendor === "jambonz" ? vendor : undefined);
    t.after(free);
    const call = await caller.ring(accountUrl(vendor));
    assert.equal(await call.said(1), "The second agent.");
    call.drop();
    await caller.goOn("callerGone");
    await server.settled();
  });
}

test("with a key the number selects among that organization's agents, and an agent in the address takes precedence", async (t) => {
  const customer = await withNumber();
  t.after(free);
  const greetingAt = async (url: string) => {
    const [caller] = callerOf("Twilio in µ-law");
    const call = await caller.ring(url);
    const words = await call.said(1);
    call.drop();
    await caller.goOn("callerGone");
    return words;
  };
  assert.equal(await greetingAt(webhookUrl(server, customer)), "The second agent.");
  const agents = await server.tenancy.agents.list(customer.tenant);
  const first = agents.find(({ persona }) => persona.greeting === "The first agent.");
  assert.equal(
    await greetingAt(webhookUrl(server, customer, { agent_id: first?.id ?? "" })),
    "The first agent.",
  );
  const other = await server.customer();
  await server.agent(other, { persona: { greeting: "Another organization." } });
  assert.equal(await greetingAt(webhookUrl(server, other)), "Another organization.");
  await server.settled();
});

test("without a key an unsigned request is refused, and so is an unknown number", async () => {
  const signer = SIGNERS["twilio"];
  assert.ok(signer);
  const ask = async (headers: Readonly<Record<string, string>>, vendor = "twilio") => {
    const response = await fetch(accountUrl(vendor), {
      method: "POST",
      headers: { "content-type": "application/x-www-form-urlencoded", ...headers },
      body: signer.body,
    });
    return [response.status, await response.text()] as const;
  };
  assert.equal((await ask({}))[0], 403);
  assert.equal((await ask({}, "asterisk"))[0], 401, "it signs nothing, so it needs a key");
  const [status, document] = await ask(signer.sign(accountUrl("twilio"), signer.body));
  assert.equal(status, 200);
  assert.match(document, /this number is not in service/);
  assert.doesNotMatch(JSON.stringify(log.lines), /1555\d{7}/);
});
