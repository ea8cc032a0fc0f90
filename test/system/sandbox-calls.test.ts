import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import * as v from "valibot";
import { readSandboxNote, type SandboxNote } from "../../engine/sandbox/sandbox-note.js";
import { PhoneCaller } from "../../engine/sandbox/telephone/phone-caller.js";
import { SANDBOX_TWILIO } from "../../engine/sandbox/telephone/sandbox-telephony.js";
import { TelephoneConnection } from "../../engine/sandbox/telephone/telephone-connection.js";
import { eventually } from "./eventually.js";
import { type Customer, TestServer } from "./test-server.js";

const FROM = "+15550109999";
const TRANSFER_TO = "+15550103000";

let server: TestServer;
let note: SandboxNote;
before(async () => {
  server = await TestServer.start({
    environment: {
      NODE_ENV: "development",
      SANDBOX: "on",
      VENDOR_REQUESTS_PER_MINUTE: "10000",
    },
  });
  const written = await readSandboxNote(server.dataDir);
  assert.ok(written);
  note = written;
  await setFaults({ deepgram: {}, openai: {}, openaiSpeech: {}, twilio: {} });
});
after(() => server.close());

async function setFaults(faults: object): Promise<void> {
  const answer = await fetch(`${note.deskUrl}/faults`, {
    method: "PUT",
    body: JSON.stringify(faults),
  });
  assert.equal(answer.status, 200, await answer.text());
}

async function post({ apiKey }: Customer, path: string, body: object) {
  const answer = await fetch(`${server.url}/api/dashboard/calls${path}`, {
    method: "POST",
    headers: { "x-api-key": apiKey, "content-type": "application/json" },
    body: JSON.stringify(body),
  });
  return { status: answer.status, text: await answer.text() };
}

function place(customer: Customer, agentId: string, to: string, more: object = {}) {
  return post(customer, "", { agentId, to, from: FROM, ...more });
}

async function placedCall(to: string, transfersTo?: string) {
  const customer = await server.customer();
  const tools = transfersTo === undefined ? [] : [{ type: "transfer", to: transfersTo } as const];
  const agent = await server.agent(customer, { persona: { greeting: "Hello there." }, tools });
  const { status, text } = await place(customer, agent.id, to);
  assert.equal(status, 201, text);
  return { customer, id: v.parse(v.object({ id: v.string() }), JSON.parse(text)).id };
}

test("without an account and a public address, a simulated person answers a placed call, talks and hangs up", async () => {
  const { customer, id } = await placedCall("+15550101000");
  const call = await server.endedCall(customer);
  assert.deepEqual(
    [call.id, call.channel, call.status, call.metadata["endReason"]],
    [id, "phone", "completed", "callerLeft"],
  );
  const said = call.transcript.map(({ role, text }) => `${role}: ${text}`);
  assert.deepEqual(said, [
    "assistant: Hello there.",
    "user: Hello, my name is Ada.",
    "assistant: Nice to meet you, Ada. How can I help you in this sandbox?",
    "user: Say goodbye.",
    "assistant: goodbye.",
  ]);
  await eventually("who answered", async () => {
    const [stored] = await server.calls(customer);
    return stored?.metadata["answeredBy"] === "human" ? true : undefined;
  });
});

test("a simulated person says the given words, and stays until the agent hangs up", async () => {
  const customer = await server.customer();
  const agent = await server.agent(customer, { persona: { greeting: "Hello there." } });
  const { status, text } = await place(customer, agent.id, "+15550101001", { person: "typed" });
  assert.equal(status, 201, text);
  const { id } = v.parse(v.object({ id: v.string() }), JSON.parse(text));
  const sent = await eventually("the call", async () => {
    const answer = await post(customer, `/${id}/person`, { text: "My name is Grace." });
    return answer.status === 200 ? answer : undefined;
  });
  assert.equal(sent.text, JSON.stringify({ success: true }));
  await eventually("the reply", async () => {
    const [call] = await server.calls(customer);
    return call?.transcript.some(({ text: words }) => words.includes("Nice to meet you, Grace"));
  });
  const stranger = await post(await server.customer(), `/${id}/person`, { text: "Hello." });
  assert.equal(stranger.status, 404);
  const ended = await post(customer, `/${id}/end`, {});
  assert.equal(ended.status, 200, ended.text);
  const call = await server.endedCall(customer);
  assert.equal(call.metadata["endReason"], "organizationEnded");
  const late = await post(customer, `/${id}/person`, { text: "Hello?" });
  assert.equal(late.status, 409, late.text);
});

test("a person whose words are typed is still that person after a transfer that failed", async () => {
  const customer = await server.customer();
  const tools = [{ type: "transfer", to: "+15550100001" } as const];
  const agent = await server.agent(customer, { persona: { greeting: "Hello there." }, tools });
  const placed = await place(customer, agent.id, "+15550101003", { person: "typed" });
  const { id } = v.parse(v.object({ id: v.string() }), JSON.parse(placed.text));
  const say = (callId: string, text: string) =>
    eventually("the person to speak", async () => {
      const { status } = await post(customer, `/${callId}/person`, { text });
      return status === 200 ? true : undefined;
    });
  await say(id, "Transfer me please.");
  const again = await eventually("the agent to be back", async () =>
    (await server.calls(customer)).find((call) => call.metadata["continues"] === id),
  );
  await say(again.id, "My name is Grace.");
  await eventually("the reply", async () => {
    const call = (await server.calls(customer)).find((each) => each.id === again.id);
    return call?.transcript.some(({ text }) => text.includes("Nice to meet you, Grace"));
  });
  await post(customer, `/${again.id}/end`, {});
  await server.settled();
});

test("special numbers and configured faults determine the outcome of a call", async () => {
  const busy = await placedCall("+15550100001");
  assert.equal((await server.endedCall(busy.customer)).metadata["endReason"], "busy");
  await setFaults({ twilio: { fault: "noAnswer", times: 1 } });
  const unanswered = await placedCall("+15550101001");
  assert.equal((await server.endedCall(unanswered.customer)).metadata["endReason"], "noAnswer");
  await setFaults({ twilio: { fault: "rateLimited", times: 1 } });
  const customer = await server.customer();
  const { id } = await server.agent(customer);
  assert.equal((await place(customer, id, "+15550101002")).status, 503);
});

/** A telephone whose `statuses` are Twilio's call statuses of all numbers, in order. */
async function plugIn(number: string) {
  const statuses: string[] = [];
  const plug = await TelephoneConnection.connect(note.twilioUrl, number, (event) => {
    if (event.event === "status") statuses.push(`${event.number} ${event.status}`);
  });
  return { plug, statuses };
}

function completed(plug: TelephoneConnection, number: string) {
  return plug.until(
    (event) => event.event === "status" && event.number === number && event.status === "completed",
  );
}

test("a call to a connected telephone rings there, and is transferred to another one that answers", async () => {
  const own = "+15550107777";
  const { plug, statuses } = await plugIn(own);
  const { customer } = await placedCall(own, TRANSFER_TO);
  const rings = await plug.until(({ event }) => event === "answer");
  assert.ok(rings.event === "answer");
  const caller = await PhoneCaller.call(rings.call);
  plug.send({ event: "connected" });
  await caller.until(({ type }) => type === "quiet");
  await caller.say("transfer me please");
  await plug.until(({ event }) => event === "leave");
  await caller.hangUp();
  plug.send({ event: "over" });
  await completed(plug, own);
  assert.deepEqual(statuses, [
    `${own} ringing`,
    `${own} in-progress`,
    `${TRANSFER_TO} ringing`,
    `${TRANSFER_TO} in-progress`,
    `${TRANSFER_TO} completed`,
    `${own} completed`,
  ]);
  const call = await server.endedCall(customer);
  assert.deepEqual([call.status, call.metadata["endReason"]], ["completed", "transferred"]);
  plug.close();
});

test("a call that a telephone makes can be transferred too, here to a busy number", async () => {
  const own = "+15550107778";
  const busy = "+15550100001";
  const customer = await server.customer();
  const tools = [{ type: "transfer", to: busy } as const];
  await server.agent(customer, { tools });
  const { plug, statuses } = await plugIn(own);
  const caller = await PhoneCaller.call({
    webhookUrl: `${server.url}/api/telephony/voice?api_key=${customer.apiKey}`,
    authToken: SANDBOX_TWILIO.authToken,
    from: own,
  });
  plug.send({ event: "calling", callSid: caller.callSid, to: "+15550002222" });
  await caller.say("transfer me please");
  await plug.until(({ event }) => event === "leave");
  await caller.hangUp();
  plug.send({ event: "over" });
  await completed(plug, "+15550002222");
  assert.deepEqual(statuses, [`${busy} ringing`, `${busy} busy`, "+15550002222 completed"]);
  const call = await server.endedCall(customer);
  assert.equal(call.metadata["endReason"], "transferred");
  plug.close();
});

test("a number has at most one telephone, and the number must be valid", async () => {
  const plug = await TelephoneConnection.connect(note.twilioUrl, "+15550107779");
  await assert.rejects(TelephoneConnection.connect(note.twilioUrl, "+15550107779"), /409/);
  await assert.rejects(TelephoneConnection.connect(note.twilioUrl, "%zz"), /404/);
  plug.close();
});

test("the sandbox requires no signature, but refuses an invalid one", async () => {
  const customer = await server.customer();
  const url = `${server.url}/api/telephony/voice?api_key=${customer.apiKey}`;
  const body = new URLSearchParams({ CallSid: "CA1" });
  assert.equal((await fetch(url, { method: "POST", body })).status, 200);
  const headers = { "x-twilio-signature": "bm90IHRoZSByaWdodCBvbmU=" };
  assert.equal((await fetch(url, { method: "POST", body, headers })).status, 403);
});
