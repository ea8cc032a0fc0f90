import assert from "node:assert/strict";
import { after, before, beforeEach, describe, test } from "node:test";
import { PhoneCaller } from "../../engine/sandbox/telephone/phone-caller.js";
import {
  CallRefusedByServerError,
  requestWebhook,
} from "../../engine/sandbox/telephone/phone-webhook.js";
import type { CallRecord } from "../../storage/records.js";
import {
  closeOfPhone,
  closeServer,
  heard,
  PacerWatch,
  ring,
  webhookUrl,
} from "./telephone-stand.js";
import { type Customer, TestServer } from "./test-server.js";

const GREETING = "Hello there.";
const INTERRUPTED = "I am sorry, the line was interrupted. Where were we?";

const clock = new PacerWatch();
let server: TestServer;
before(async () => {
  server = await TestServer.start({ clock });
});
after(() => closeServer(server, clock));

const callSid = `CA${"1".repeat(32)}`;
const RINGING = {
  callSid,
  accountSid: `AC${"1".repeat(32)}`,
  from: "+15550001111",
  to: "+15550002222",
  authToken: undefined,
};

/** Requests the next document for the vendor, for a call whose last document it could not follow. */
function askAgain(action: string | undefined): ReturnType<typeof requestWebhook> {
  assert.ok(action, "the vendor knows the next address");
  return requestWebhook(action, RINGING, "in-progress");
}

/** Returns the customer's first two calls; the second continues the first. */
async function linkedCalls(customer: Customer): Promise<readonly [CallRecord, CallRecord]> {
  const [first, second] = await server.calls(customer);
  assert.ok(first && second);
  assert.equal(first.metadata["continuedBy"], second.id);
  assert.equal(second.metadata["continues"], first.id);
  return [first, second];
}

async function customerWithAgent(): Promise<Customer> {
  const customer = await server.customer();
  await server.agent(customer, { persona: { greeting: GREETING } });
  return customer;
}

test("a caller whose stream breaks continues the same conversation, and both records say so", async () => {
  const customer = await customerWithAgent();
  const caller = await ring(server, customer);
  await heard(caller, "Hello there.");
  await caller.say("say thank you");
  await heard(caller, "thank you");
  caller.drop();
  const again = await caller.continue();
  await heard(again, "Where were we?");
  assert.ok(again.playedText().startsWith(INTERRUPTED), again.playedText());
  await again.say("what was that");
  await heard(again, "like to try");
  await again.hangUp();
  await server.settled();
  const [first, second] = await linkedCalls(customer);
  assert.equal(first.status, "completed");
  assert.match(second.transcript.at(-1)?.text ?? "", /number 2/, "the words before are known");
});

test("a call whose stream the server itself closed continues", async () => {
  const customer = await customerWithAgent();
  const caller = await ring(server, customer);
  await heard(caller, "Hello there.");
  const [live] = server.parley.calls.slots.callsOf(customer.tenant.organization.id);
  server.parley.calls.liveCalls.find(live ?? "")?.end({
    reason: "internalError",
    status: "failed",
    message: "internal error",
  });
  await closeOfPhone(caller);
  const again = await caller.continue();
  await heard(again, "Where were we?");
  await again.hangUp();
});

test("a call is over once the agent ended it or the caller hung up", async () => {
  const customer = await customerWithAgent();
  const ended = await ring(server, customer);
  await heard(ended, "Hello there.");
  const [live] = server.parley.calls.slots.callsOf(customer.tenant.organization.id);
  server.parley.calls.liveCalls.find(live ?? "")?.end({
    reason: "agentHungUp",
    status: "completed",
    message: "the agent ended the call",
  });
  await closeOfPhone(ended);
  await assert.rejects(ended.continue(), /hung up/);
});

test("a call is over after its stream has broken three times", async () => {
  const customer = await customerWithAgent();
  let caller = await ring(server, customer);
  for (let time = 0; time < 3; time += 1) {
    await heard(caller, time === 0 ? "Hello" : "sorry");
    caller.drop();
    caller = await caller.continue();
  }
  await heard(caller, "sorry");
  caller.drop();
  await assert.rejects(caller.continue(), /nothing comes after/);
});

test("a stream that never connected is requested again, and its caller gets the greeting", async () => {
  const customer = await customerWithAgent();
  const unheard = await requestWebhook(webhookUrl(server, customer), RINGING);
  const { url: streamUrl, parameters } = await askAgain(unheard.action);
  const caller = await PhoneCaller.call({ callSid, streamUrl, parameters });
  await heard(caller, GREETING);
  assert.equal(caller.playedText().trim(), GREETING);
  await caller.hangUp();
  await server.settled();
  const [call, ...others] = await server.calls(customer);
  assert.deepEqual(
    [call?.status, call?.metadata["continues"], others],
    ["completed", undefined, []],
  );
});

test("a caller whose next stream never connected continues the conversation before it", async () => {
  const customer = await customerWithAgent();
  const told = await requestWebhook(webhookUrl(server, customer), RINGING);
  const caller = await PhoneCaller.call({
    callSid,
    streamUrl: told.url,
    parameters: told.parameters,
  });
  await heard(caller, GREETING);
  caller.drop();
  const unheard = await askAgain(told.action);
  const { url: streamUrl, parameters } = await askAgain(unheard.action);
  const again = await PhoneCaller.call({ callSid, streamUrl, parameters });
  await heard(again, "Where were we?");
  await again.hangUp();
  await server.settled();
  await linkedCalls(customer);
});

test("a call whose stream never connects is over after three attempts", async () => {
  const customer = await customerWithAgent();
  let told = await requestWebhook(webhookUrl(server, customer), RINGING);
  for (let time = 0; time < 3; time += 1) told = await askAgain(told.action);
  assert.equal(told.action, undefined);
});

test("a caller who would be refused gets the reason when the vendor requests the next document", async () => {
  const customer = await server.customer();
  const { id } = await server.agent(customer);
  const { action } = await requestWebhook(webhookUrl(server, customer), RINGING);
  await server.tenancy.agents.remove(customer.tenant, id);
  await assert.rejects(askAgain(action), CallRefusedByServerError);
});

test("an organization that was suspended meanwhile gets no further stream", async () => {
  const customer = await customerWithAgent();
  const { action } = await requestWebhook(webhookUrl(server, customer), RINGING);
  await server.tenancy.organizations.suspend(customer.email);
  await assert.rejects(askAgain(action), /hung up/);
});

test("a token of another server, or no token, opens nothing", async () => {
  const url = `${server.url}/api/telephony/continue`;
  for (const query of ["", "?token=", "?token=a.b", `?token=${"a".repeat(2_000)}`]) {
    const response = await fetch(url + query, { method: "POST", body: "CallStatus=in-progress" });
    assert.equal(response.status, 401, query);
  }
});

describe("a stopping server without another one", () => {
  let customer: Customer;
  let caller: PhoneCaller;
  const pausesSec: number[] = [];
  const options = {
    pause: (lengthSec: number) => {
      pausesSec.push(lengthSec);
      return Promise.resolve();
    },
  };
  before(async () => {
    customer = await customerWithAgent();
    caller = await ring(server, customer, options);
    await heard(caller, GREETING);
    server.parley.calls.opener.stop();
    caller.drop();
  });
  beforeEach(() => {
    pausesSec.length = 0;
  });

  test("makes the vendor hold a caller whose stream broke, for 30 s in total", async () => {
    await assert.rejects(caller.continue(), isToldOfRestart);
    assert.deepEqual(pausesSec, [9, 9, 9, 3]);
  });

  test("makes the vendor hold a new caller, for 30 s in total", async () => {
    await assert.rejects(ring(server, customer, options), isToldOfRestart);
    assert.deepEqual(pausesSec, [9, 9, 9, 3]);
    const webhook = webhookUrl(server, customer, { held: "1" });
    await assert.rejects(PhoneCaller.call({ webhookUrl: webhook, ...options }), isToldOfRestart);
    assert.deepEqual(pausesSec.slice(4), [9, 9, 9], "the proxy has already held the caller");
  });

  test("refuses callers that cannot be put on hold, and those with a forged count", async () => {
    const ask = async (query: Readonly<Record<string, string>>) => {
      const response = await fetch(webhookUrl(server, customer, query), { method: "POST" });
      return response.text();
    };
    const url = `${server.url}/api/telephony/voice?held=`;
    const held = await ask({ vendor: "signalwire", agent_id: "a&b", bodySHA256: "c", held: "2" });
    const query = `api_key=${customer.apiKey}&amp;vendor=signalwire&amp;agent_id=a%26b&amp;held=5`;
    assert.ok(held.includes(`<Redirect method="POST">${url.replace("held=", query)}<`), held);
    assert.match(await ask({ vendor: "plivo" }), /<Wait length="9"\/><Redirect /);
    for (const vendor of ["vonage", "asterisk"]) {
      assert.match(await ask({ vendor }), /the server is restarting\. Goodbye\./);
    }
    for (const wrong of ["", "0", "10", "-1", "1e0", "9&held=9"]) {
      const query = `?api_key=${customer.apiKey}&held=${wrong}`;
      const response = await fetch(`${server.url}/api/telephony/voice${query}`, { method: "POST" });
      assert.match(await response.text(), /restarting\. Goodbye\.<\/Say><Hangup\/>/, wrong);
    }
    const headers = { "x-api-key": customer.apiKey };
    const response = await fetch(`${server.url}/api/telephony/voice`, { method: "POST", headers });
    assert.match(
      await response.text(),
      /<Hangup\/>/,
      "the vendor would send its next request without the key",
    );
  });
});

function isToldOfRestart(error: unknown): boolean {
  return error instanceof CallRefusedByServerError && /the server is restarting/.test(error.words);
}
