import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { freePort } from "../../api/http/backend/free-port.js";
import { gatherIn } from "../../engine/sandbox/telephone/conferences.js";
import type { PhoneCaller } from "../../engine/sandbox/telephone/phone-caller.js";
import { signatureHeader } from "../../engine/sandbox/telephone/phone-webhook.js";
import { decodeSpeech } from "../../engine/sandbox/telephone/tone-code.js";
import type { TwilioCall } from "../../engine/sandbox/telephone/twilio-simulator.js";
import type { AgentInput } from "../../engine/tenancy/agents/agent-input.js";
import { WARM_TRANSFER_MAX_MS } from "../../storage/jobs/job-record.js";
import { PatientClock } from "../doubles/patient-clock.js";
import { RecordingLogger } from "../doubles/recording-logger.js";
import { eventually } from "./eventually.js";
import { heard } from "./telephone-stand.js";
import { type Customer, newDataDir, TestServer } from "./test-server.js";

import { AUTH_TOKEN, TwilioStand } from "./twilio-stand.js";

const WAV_HEADER_BYTES = 44;
const WAV_RATE_HZ = 8_000;

const log = new RecordingLogger();
let stand: TwilioStand;
let server: TestServer;

before(async () => {
  stand = await TwilioStand.start();
  server = await TestServer.start({ environment: stand.environment, log });
  await stand.leadTo(server.parley.port);
});
after(async () => {
  await server.settled();
  await server.stop();
  stand.close();
});

interface Talk {
  readonly customer: Customer;
  readonly to: string;
  readonly caller: PhoneCaller;
  /** The id of the call. */
  readonly id: string;
}

interface TalkOptions {
  readonly on?: TestServer;
  readonly at?: TwilioStand;
  readonly persona?: AgentInput["persona"];
}

/** The last digits of low numbers decide what the sandbox does. */
let lastNumber = 15_550_220_100;

/** A person who talks to an agent that may transfer to `person`. */
async function talking(
  person: string,
  tools: readonly ReturnType<typeof warmTool>[] = [warmTool(person)],
  { on = server, at = stand, persona = {} }: TalkOptions = {},
): Promise<Talk> {
  lastNumber += 11;
  const to = `+${lastNumber}`;
  const customer = await on.customer();
  const { email, apiKey } = customer;
  await on.tenancy.dialTargets.allow(email, "+1555");
  const agent = await on.agent(customer, {
    sttModelId: "nova-3",
    persona: { greeting: "Hello there.", ...persona },
    tools,
  });
  const from = `+${lastNumber + 90_000}`;
  await on.tenancy.phoneNumbers.allow(email, from);
  const placed = await fetch(`${on.url}/api/dashboard/calls`, {
    method: "POST",
    headers: { "x-api-key": apiKey, "content-type": "application/json" },
    body: JSON.stringify({ agentId: agent.id, to, from }),
  });
  assert.equal(placed.status, 201, await placed.clone().text());
  const caller = await at.of(to, "the answer", (call) => call.caller);
  await heard(caller, "Hello there.");
  const [{ id } = { id: "" }] = await on.calls(customer);
  return { customer, to, caller, id };
}

function warmTool(to: string) {
  return { type: "transfer", mode: "warm", to } as const;
}

async function order(on: TestServer, { apiKey }: Customer, id: string, body: unknown) {
  const response = await fetch(`${on.url}/api/dashboard/calls/${id}/transfer`, {
    method: "POST",
    headers: { "x-api-key": apiKey, "content-type": "application/json" },
    body: JSON.stringify(body),
  });
  return { status: response.status, text: await response.text() };
}

/** What the person was told, from the sounds that the vendor played: the introduction, and the question behind it. */
function briefing({ briefings }: TwilioCall): string | undefined {
  const [introduction, question] = briefings;
  if (introduction === undefined || question === undefined) return undefined;
  return [introduction, question].map(wordsOfSound).join(" ");
}

function wordsOfSound(sound: Uint8Array | string): string {
  assert.ok(typeof sound !== "string", String(sound));
  assert.equal(Buffer.from(sound.subarray(0, 4)).toString("latin1"), "RIFF");
  const samples = sound.slice(WAV_HEADER_BYTES);
  return decodeSpeech(new Int16Array(samples.buffer), WAV_RATE_HZ);
}

function transferOf(customer: Customer, id: string) {
  return eventually("the outcome of the transfer", async () => {
    const call = (await server.calls(customer)).find((each) => each.id === id);
    const transfer = Object(call?.metadata["transfer"]);
    if (call === undefined || call.status === "active") return undefined;
    if (["dialing", undefined].includes(transfer.result)) return undefined;
    return { call, transfer };
  });
}

for (const [person, acceptedBy] of [
  ["+15550211000", "key"],
  ["+15550210008", "voice"],
] as const) {
  test(`a person who accepts by ${acceptedBy} hears what it is about, and is joined with the caller`, async () => {
    stand.faults.twilio = { talkMs: 50 };
    const { customer, to, caller, id } = await talking(person);
    await caller.say("transfer me please");
    const said = await stand.of(person, "the briefing", briefing);
    assert.match(
      said,
      /^A caller would like to speak to you\. The caller said: .*transfer me please.* Press 1 or say yes/i,
    );
    const { call, transfer } = await transferOf(customer, id);
    assert.deepEqual(
      [transfer.mode, transfer.to, transfer.result, transfer.acceptedBy],
      ["warm", person, "answered", acceptedBy],
    );
    assert.equal(call.metadata["endReason"], "transferred");
    assert.equal(typeof transfer.waitedSec, "number");
    await stand.of(to, "the end of the caller's call", ({ isOver }) => isOver || undefined);
    await eventually("the length of the person's call", async () => {
      const [stored] = await server.calls(customer);
      return Object(stored?.metadata["transfer"]).durationSec === undefined ? undefined : true;
    });
    assert.equal((await server.calls(customer)).length, 1, "the agent does not come back");
    const [wait] = await stand.of(to, "the update", ({ updates }) => updates);
    assert.match(
      wait?.get("Twiml") ?? "",
      /<Dial action="[^"]+" method="POST" timeLimit="14400"><Conference beep="false" startConferenceOnEnter="false" endConferenceOnExit="true" maxParticipants="2">[^<]+<\/Conference><\/Dial>/,
    );
  });
}

const NOT_REACHED = "I could not put you through.";
const NO_ANSWER = "nobody answered there.";
const OUTCOMES = [
  ["+15550210001", "busy", "the line is busy"],
  ["+15550210002", "noAnswer", NO_ANSWER],
  ["+15550210003", "failed", NOT_REACHED],
  ["+15550210004", "machine", NO_ANSWER],
  ["+15550210006", "rejected", NOT_REACHED],
  ["+15550210007", "notAccepted", NO_ANSWER],
  ["+15550210010", "notAccepted", NO_ANSWER],
] as const;
for (const [person, result, words] of OUTCOMES) {
  test(`a caller whose warm transfer to ${person} is ${result} is back with the agent, who says so`, async () => {
    const { customer, to, caller, id } = await talking(person);
    await caller.say("transfer me please");
    const again = await stand.of(to, "the next stream", (call) =>
      call.caller === caller ? undefined : call.caller,
    );
    await heard(again, words);
    await again.say("say thank you");
    await heard(again, "thank you");
    const { call, transfer } = await transferOf(customer, id);
    assert.deepEqual([transfer.mode, transfer.result], ["warm", result]);
    assert.equal(call.metadata["endReason"], "transferFailed");
    await again.hangUp();
    const [first, second, ...others] = await server.endedCalls(customer, 2);
    assert.deepEqual(others, []);
    assert.equal(first?.metadata["continuedBy"], second?.id);
    await stand.of(person, "the end of the person's call", ({ isOver }) => isOver || undefined);
  });
}

test("a member of the organization orders a warm transfer, and the agent's LLM writes what the person hears", async () => {
  stand.faults.twilio = { talkMs: 50 };
  const person = "+15550212000";
  const { customer, caller, id } = await talking(person, []);
  await caller.say("say my order is late");
  await heard(caller, "my order is late");
  const { status, text } = await order(server, customer, id, { to: person, mode: "warm" });
  assert.equal(status, 200, text);
  const said = await stand.of(person, "the briefing", briefing);
  assert.match(said, /speak to you\. The caller spoke .*my order is late.* Press 1/i);
  const { call, transfer } = await transferOf(customer, id);
  assert.deepEqual([transfer.mode, transfer.result], ["warm", "answered"]);
  assert.deepEqual(call.metadata["transferredBy"], { type: "apiKey", id: customer.apiKeyId });
});

const GERMAN = {
  languages: ["de-DE"],
  languageTexts: [
    { language: "de-DE", greeting: null, stockPhrases: { briefingGreeting: "Anruf im Laden." } },
  ],
};

for (const [briefingLanguage, expected] of [
  [null, /^Anruf im Laden\. Ada fragt nach Bestellung 12\. .* die 1/i],
  ["en-US", /^A caller would like to speak to you\. Ada fragt .* Press 1/i],
] as const) {
  test(`the person hears the caller's language, unless the agent has one for it: ${briefingLanguage}`, async () => {
    const person = briefingLanguage === null ? "+15550211020" : "+15550211030";
    const persona = { ...GERMAN, briefingLanguage };
    const { customer, caller, id } = await talking(person, [warmTool(person)], { persona });
    await caller.say("Guten Morgen, wie geht es Ihnen?");
    await heard(caller, "Sie sagten");
    await eventually("the language in the record", async () => {
      const [call] = await server.calls(customer);
      return call?.metadata["language"] === "de-DE" || undefined;
    });
    const summary = "Ada fragt nach Bestellung 12.";
    const ordered = await order(server, customer, id, { to: person, mode: "warm", summary });
    assert.equal(ordered.status, 200, ordered.text);
    assert.match(await stand.of(person, "the briefing", briefing), expected);
    await transferOf(customer, id);
  });
}

test("the person hears the summary that the order has", async () => {
  stand.faults.twilio = { talkMs: 50 };
  const person = "+15550213000";
  const { customer, id } = await talking(person, []);
  const summary = "Ada asks about order 12.";
  const ordered = await order(server, customer, id, { to: person, mode: "warm", summary });
  assert.equal(ordered.status, 200, ordered.text);
  const said = await stand.of(person, "the briefing", briefing);
  assert.match(said, /speak to you\. Ada asks about order 12\. Press 1/i);
  await transferOf(customer, id);
});

test("a person still rings when the caller hangs up: the person's telephone stops ringing", async () => {
  stand.faults.twilio = {};
  const person = "+15550220005";
  const { customer, to, caller, id } = await talking(person);
  await caller.say("transfer me please");
  await stand.of(to, "the conference", ({ isInConference }) => isInConference || undefined);
  await stand.of(person, "the ringing", ({ status }) => (status === "ringing" ? true : undefined));
  await stand.of(to, "the caller's call", (call) => call).then((call) => call.hangUp());
  const { call, transfer } = await transferOf(customer, id);
  assert.deepEqual([transfer.result, call.metadata["endReason"]], ["canceled", "transferFailed"]);
  await stand.of(person, "the end of the ringing", ({ status }) =>
    status === "canceled" ? true : undefined,
  );
  assert.equal((await server.calls(customer)).length, 1);
});

test("a person whom the vendor does not call leaves the caller with the agent, who says so", async () => {
  const person = "+15550210009";
  const { customer, caller, id } = await talking(person);
  await caller.say("transfer me please");
  await heard(caller, NOT_REACHED);
  await caller.hangUp();
  const call = await server.endedCall(customer);
  assert.deepEqual([call.id, call.metadata["endReason"]], [id, "callerLeft"]);
  assert.equal(Object(call.metadata["transfer"]).result, "failed");
});

for (const [what, answer] of [
  ["accepts: the caller is joined", { Digits: "1" }],
  ["does not answer: the caller is back with the agent", undefined],
] as const) {
  test(`a server is gone while the person rings, and the next one hears that the person ${what}`, async (context) => {
    const vendor = await TwilioStand.start();
    const dataDir = await newDataDir();
    const environment = vendor.environment;
    const first = await TestServer.start({ environment, dataDir });
    await vendor.leadTo(first.parley.port);
    context.after(() => vendor.close());
    const person = answer === undefined ? "+15550230005" : "+15550240005";
    const talk = await talking(person, [warmTool(person)], { on: first, at: vendor });
    await talk.caller.say("transfer me please");
    await vendor.of(talk.to, "the conference", ({ isInConference }) => isInConference || undefined);
    await first.endedCall(talk.customer);
    await first.settled();
    await first.stop();
    const second = await TestServer.start({ environment, dataDir });
    context.after(() => second.stop());
    await vendor.leadTo(second.parley.port);
    const form = await vendor.of(person, "the person's call", (call) => call.form);
    const tell = async (url: string, fields: Readonly<Record<string, string>>) => {
      const headers = signatureHeader(url, fields, AUTH_TOKEN);
      const response = await fetch(url, {
        method: "POST",
        headers,
        body: new URLSearchParams(fields),
      });
      return response.text();
    };
    const callSid = { CallSid: "CA1" };
    if (answer === undefined) {
      await tell(form.get("StatusCallback") ?? "", { ...callSid, CallStatus: "no-answer" });
      const again = await vendor.of(talk.to, "the next stream", (call) =>
        call.caller === talk.caller ? undefined : call.caller,
      );
      await heard(again, NO_ANSWER);
      await again.hangUp();
      return;
    }
    const asked = await tell(form.get("Url") ?? "", { ...callSid, CallStatus: "in-progress" });
    const action = gatherIn(asked)?.action;
    assert.ok(action !== undefined, asked);
    assert.match(await tell(action, { ...callSid, ...answer }), /<Conference/);
    assert.doesNotMatch(
      await tell(form.get("Url") ?? "", { ...callSid, CallStatus: "in-progress" }),
      /<Gather/,
      "an outcome is final",
    );
  });
}

/** A server that starts when the time of a warm transfer is over. */
class LaterClock extends PatientClock {
  override epochMs(): number {
    return super.epochMs() + WARM_TRANSFER_MAX_MS;
  }
}

test("a server is gone and no one hears of the person: the next server's job brings the caller back", async (context) => {
  const vendor = await TwilioStand.start();
  const dataDir = await newDataDir();
  const { environment } = vendor;
  const first = await TestServer.start({ environment, dataDir });
  await vendor.leadTo(first.parley.port);
  context.after(() => vendor.close());
  const person = "+15550250005";
  const { customer, caller, to } = await talking(person, [warmTool(person)], {
    on: first,
    at: vendor,
  });
  await caller.say("transfer me please");
  await vendor.of(to, "the conference", ({ isInConference }) => isInConference || undefined);
  await first.endedCall(customer);
  await first.settled();
  await first.stop();
  const port = await freePort("127.0.0.1", 0);
  await vendor.leadTo(port);
  const second = await TestServer.start({
    environment: { ...environment, PORT: String(port) },
    dataDir,
    clock: new LaterClock(),
  });
  context.after(() => second.stop());
  const again = await vendor.of(to, "the next stream", (call) =>
    call.caller === caller ? undefined : call.caller,
  );
  await heard(again, NO_ANSWER);
  await again.hangUp();
  await vendor.of(person, "the end of the ringing", ({ status }) =>
    status === "canceled" ? true : undefined,
  );
});

test("no telephone number and no word of a call is in the log", () => {
  assert.doesNotMatch(JSON.stringify(log.lines), /1555\d{7}|transfer me please/);
});
