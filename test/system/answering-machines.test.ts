import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { heard } from "./telephone-stand.js";
import { type Customer, TestServer } from "./test-server.js";
import { TwilioStand } from "./twilio-stand.js";

const MESSAGE = "Hello {{name|there}}, please call Acme back.";
const MESSAGE_FOR_ADA = "Hello Ada, please call Acme back.";

let stand: TwilioStand;
let server: TestServer;

before(async () => {
  stand = await TwilioStand.start();
  server = await TestServer.start({ environment: stand.environment });
  await stand.leadTo(server.parley.port);
});
after(async () => {
  await server.settled();
  await server.stop();
  stand.close();
});

let lastNumber = 15_550_700_000;

interface Order {
  readonly to: string;
  readonly greeting?: string;
  readonly voicemailMessage?: string | null;
  readonly screeningAnswer?: string | null;
  readonly whileDetecting?: "greet" | "wait";
}

async function placed({ to, greeting = "hello there", ...outbound }: Order) {
  const customer = await server.customer();
  const agent = await server.agent(customer, {
    persona: { greeting, outbound: outboundOf(outbound) },
  });
  lastNumber += 1;
  const from = `+${lastNumber}`;
  await server.tenancy.phoneNumbers.allow(customer.email, from);
  await server.tenancy.dialTargets.allow(customer.email, "+1555");
  const response = await fetch(`${server.url}/api/dashboard/calls`, {
    method: "POST",
    headers: { "x-api-key": customer.apiKey, "content-type": "application/json" },
    body: JSON.stringify({ agentId: agent.id, to, from, variables: { name: "Ada" } }),
  });
  assert.equal(response.status, 201, await response.text());
  const caller = await stand.of(to, "the answer", (call) => call.caller);
  return { customer, caller, call: await stand.of(to, "the call", (call) => call) };
}

function outboundOf({ voicemailMessage, screeningAnswer, whileDetecting }: Omit<Order, "to">) {
  return {
    voicemailMessage: voicemailMessage ?? null,
    screeningAnswer: screeningAnswer ?? null,
    whileDetecting: whileDetecting ?? "greet",
  };
}

async function ended(customer: Customer) {
  const { status, metadata, metrics } = await server.endedCall(customer);
  const { endReason, outcome, voicemail } = metadata;
  return { status, endReason, outcome, voicemail, turnCount: metrics.turnCount };
}

test("a message is left after the beep, and nothing but it and the greeting is said to the machine", async () => {
  const to = "+15550140011";
  const { customer, caller, call } = await placed({ to, voicemailMessage: MESSAGE });
  assert.equal(call.form.get("MachineDetection"), "DetectMessageEnd");
  await heard(caller, MESSAGE_FOR_ADA);
  assert.deepEqual(await ended(customer), {
    status: "completed",
    endReason: "machine",
    outcome: "machine",
    voicemail: { messageLeft: true, text: MESSAGE_FOR_ADA },
    turnCount: 0,
  });
});

test("a machine of which the vendor says nothing is known by its beep", async () => {
  const { customer, caller } = await placed({ to: "+15550140014", voicemailMessage: MESSAGE });
  await heard(caller, MESSAGE_FOR_ADA);
  const { outcome, voicemail, turnCount } = await ended(customer);
  assert.deepEqual([outcome, turnCount], ["machine", 0]);
  assert.deepEqual(voicemail, { messageLeft: true, text: MESSAGE_FOR_ADA });
});

test("a greeting that holds a value of the call is not said to a machine", async () => {
  const to = "+15550150011";
  const greeting = "Hello {{name|there}}, this is private.";
  const { customer, caller } = await placed({
    to,
    greeting,
    voicemailMessage: "Please call back.",
  });
  await heard(caller, "Please call back.");
  assert.deepEqual((await ended(customer)).voicemail, {
    messageLeft: true,
    text: "Please call back.",
  });
  assert.doesNotMatch(caller.said(), /private|Ada/);
});

test("without a message, a machine that speaks is hung up", async () => {
  const { customer, caller, call } = await placed({ to: "+15550160011" });
  assert.equal(call.form.get("MachineDetection"), "Enable");
  assert.deepEqual(await ended(customer), {
    status: "failed",
    endReason: "machine",
    outcome: "machine",
    voicemail: { messageLeft: false, text: "" },
    turnCount: 0,
  });
  assert.doesNotMatch(caller.said(), /Ada/);
});

test("a call screener hears who is calling, and the person behind it is answered", async () => {
  const screeningAnswer = "This is the workshop, about your bicycle.";
  const { customer, caller } = await placed({ to: "+15550140012", screeningAnswer });
  await heard(caller, screeningAnswer);
  const { length } = caller.playedText();
  const isAnswered = () => caller.playedText().length > length + 5;
  while (!isAnswered()) await caller.until(() => true);
  await caller.hangUp();
  const { endReason, outcome, turnCount } = await ended(customer);
  assert.deepEqual([endReason, outcome], ["callerLeft", "answered"]);
  assert.ok(turnCount >= 1);
});

test("a greeting that waits for a person answers the hello", async () => {
  const to = "+15550141000";
  const { customer, caller } = await placed({ to, greeting: "Hello {{name|there}}." });
  await heard(caller, "Hello Ada.");
  await caller.hangUp();
  const { outcome, voicemail } = await ended(customer);
  assert.deepEqual([outcome, voicemail], ["answered", undefined]);
});
