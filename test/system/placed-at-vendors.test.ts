import assert from "node:assert/strict";
import { generateKeyPairSync } from "node:crypto";
import { after, before, describe, test } from "node:test";
import * as v from "valibot";
import {
  PhoneApiSimulator,
  type SimulatedCall,
} from "../../engine/sandbox/telephone/phone-api-simulator.js";
import { RecordingLogger } from "../doubles/recording-logger.js";
import { eventually } from "./eventually.js";
import { VendorCall } from "./phone-vendor-call.js";
import { VENDOR_DOCUMENTS } from "./phone-vendor-documents.js";
import { VENDOR_STREAMS } from "./phone-vendor-streams.js";
import { PublicEntrance, SimulatedVendor } from "./public-entrance.js";
import { streamUrl } from "./telephone-stand.js";
import { type Customer, TestServer } from "./test-server.js";

const { privateKey } = generateKeyPairSync("rsa", {
  modulusLength: 2_048,
  publicKeyEncoding: { type: "spki", format: "pem" },
  privateKeyEncoding: { type: "pkcs8", format: "pem" },
});

const STREAMS = {
  signalwire: "SignalWire in 16-bit samples",
  telnyx: "Telnyx in A-law",
  plivo: "Plivo in µ-law",
  vonage: "Vonage in 16-bit samples",
  jambonz: "Jambonz in 16-bit samples",
  asterisk: "Asterisk in A-law",
} as const;
type Vendor = keyof typeof STREAMS;
const VENDORS: readonly Vendor[] = [
  "signalwire",
  "telnyx",
  "plivo",
  "vonage",
  "jambonz",
  "asterisk",
];

const simulators = {
  signalwire: new PhoneApiSimulator("signalwire"),
  telnyx: new PhoneApiSimulator("telnyx"),
  plivo: new PhoneApiSimulator("plivo"),
  vonage: new PhoneApiSimulator("vonage"),
  jambonz: new PhoneApiSimulator("jambonz"),
  asterisk: new PhoneApiSimulator("asterisk"),
};

const apis = new Map<Vendor, SimulatedVendor>();
let entrance: PublicEntrance;
const log = new RecordingLogger();
let server: TestServer;

before(async () => {
  for (const vendor of VENDORS) {
    apis.set(vendor, await SimulatedVendor.start(simulators[vendor]));
  }
  const urlOf = (vendor: Vendor) => apis.get(vendor)?.url ?? "";
  entrance = await PublicEntrance.open();
  const environment = {
    PUBLIC_BASE_URL: entrance.url,
    SIGNALWIRE_PROJECT_ID: "project",
    SIGNALWIRE_API_TOKEN: "token",
    SIGNALWIRE_BASE_URL: urlOf("signalwire"),
    TELNYX_API_KEY: "key",
    TELNYX_TEXML_APP_ID: "17",
    TELNYX_BASE_URL: urlOf("telnyx"),
    PLIVO_AUTH_ID: "MA1",
    PLIVO_AUTH_TOKEN: "token",
    PLIVO_BASE_URL: urlOf("plivo"),
    VONAGE_APPLICATION_ID: "application",
    VONAGE_PRIVATE_KEY: privateKey.replaceAll("\n", "\\n"),
    VONAGE_BASE_URL: urlOf("vonage"),
    JAMBONZ_ACCOUNT_SID: "account",
    JAMBONZ_API_KEY: "key",
    JAMBONZ_BASE_URL: urlOf("jambonz"),
    ASTERISK_ARI_URL: `${urlOf("asterisk")}/ari`,
    ASTERISK_ARI_USER: "parley",
    ASTERISK_ARI_PASSWORD: "password",
    VENDOR_REQUESTS_PER_MINUTE: "10000",
  };
  server = await TestServer.start({ environment, log });
  entrance.leadTo(server.parley.port);
});
after(async () => {
  await server.settled();
  await server.stop();
  entrance.close();
  for (const api of apis.values()) api.close();
});

const Queued = v.object({ id: v.string(), status: v.literal("queued") });
let lastNumber = 15_550_600_000;

async function customerWithNumber(): Promise<{ customer: Customer; from: string }> {
  const customer = await server.customer();
  lastNumber += 1;
  const from = `+${lastNumber}`;
  await server.tenancy.phoneNumbers.allow(customer.email, from);
  await server.tenancy.dialTargets.allow(customer.email, "+1555");
  return { customer, from };
}

async function post({ apiKey }: Customer, body: unknown) {
  const response = await fetch(`${server.url}/api/dashboard/calls`, {
    method: "POST",
    headers: { "x-api-key": apiKey, "content-type": "application/json" },
    body: JSON.stringify(body),
  });
  const answer: unknown = await response.json();
  return { status: response.status, answer };
}

function callTo<T>(
  vendor: Vendor,
  from: string,
  what: string,
  has: (call: SimulatedCall) => T | undefined,
): Promise<T> {
  return eventually(what, () => {
    const call = simulators[vendor].calls.find((each) => each.from === from);
    return call === undefined ? undefined : has(call);
  });
}

async function placed(
  vendor: Vendor,
  to: string,
  detectMachine = false,
  changes: Parameters<TestServer["agent"]>[1] = {},
) {
  const { customer, from } = await customerWithNumber();
  const greeting = "hello there";
  const agent = await server.agent(customer, { persona: { greeting }, ...changes });
  const order = { agentId: agent.id, to, from, vendor, detectMachine };
  const { status, answer } = await post(customer, order);
  assert.equal(status, 201, JSON.stringify(answer));
  const { id } = v.parse(Queued, answer);
  const call = await callTo(vendor, from, "the call", (each) => each);
  return { customer, id, call, from };
}

/** Returns the media stream that the server's response makes the vendor open, with the call's own id in it. */
async function talk(vendor: Vendor, call: SimulatedCall): Promise<VendorCall> {
  const document = await eventually("the answer", () => call.document);
  const stream = VENDOR_STREAMS[STREAMS[vendor]];
  const bodies = VENDOR_DOCUMENTS[vendor];
  assert.ok(stream && bodies);
  const step = vendor === "vonage" ? vonageStep(document, call.id) : bodies.read(document);
  assert.ok(step !== undefined, document);
  const phone = await VendorCall.connect(step.url ?? streamUrl(server, vendor), stream);
  const start = stream.start(step.parameters["token"] ?? "");
  const placedCall = step.parameters["call"];
  phone.send(withIds(start, call.id, placedCall));
  return phone;
}

/** The vendor's document identifies the call by the id that the vendor gave it. */
function vonageStep(document: string, id: string) {
  const [{ endpoint }] = JSON.parse(document);
  const [{ uri, headers }] = endpoint;
  assert.equal(headers.callId, id);
  return { url: String(uri), parameters: headers as Readonly<Record<string, string>> };
}

/** The stand's start message, whose call has another id and no parameter but the token. */
function withIds(start: string, id: string, placedCall: string | undefined): string {
  const own = start
    .replaceAll('"CA1"', `"${id}"`)
    .replaceAll('"v3:ex"', `"${id}"`)
    .replaceAll('"c1"', `"${id}"`)
    .replaceAll('"u1"', `"${id}"`);
  if (placedCall === undefined) return own;
  return own
    .replace(/X-PH-token: (\w+)/, `X-PH-token: $1, X-PH-call: ${placedCall}`)
    .replace(/"token":"(\w+)"/, `"token":"$1","call":"${placedCall}"`);
}

for (const vendor of VENDORS) {
  describe(vendor, () => {
    test("a placed call is answered, talks over the vendor's stream and is recorded under its id", async () => {
      const { customer, id, call } = await placed(vendor, "+15550101000");
      const phone = await talk(vendor, call);
      assert.match(await phone.said(1), /hello there/i);
      await phone.end();
      await call.end();
      const record = await server.endedCall(customer);
      assert.deepEqual([record.id, record.channel, record.status], [id, "phone", "completed"]);
      const { direction, phoneVendor, phoneCallId } = record.metadata;
      const isNamed = vendor !== "asterisk";
      assert.deepEqual(
        [direction, phoneVendor, isNamed ? phoneCallId : call.id],
        ["outbound", vendor, call.id],
      );
    });

    for (const [to, reason, state] of [
      ["+15550100001", "busy", "busy"],
      ["+15550100002", "noAnswer", "noAnswer"],
      ["+15550100003", "vendorFailed", "failed"],
    ] as const) {
      test(`a call that ends as ${reason} is recorded as such once, however often it is reported`, async () => {
        const { customer, id, call } = await placed(vendor, to);
        const record = await server.endedCall(customer);
        assert.deepEqual(
          [record.id, record.status, record.metadata["endReason"]],
          [id, "failed", reason],
        );
        await call.repeat(state);
        await call.repeat("busy");
        await server.settled();
        const again = await server.calls(customer);
        assert.deepEqual(
          again.map(({ metadata }) => metadata["endReason"]),
          [reason],
        );
      });
    }

    test("a number that the vendor refuses leaves no call, and the request may be repeated", async () => {
      const { customer, from } = await customerWithNumber();
      const { id: agentId } = await server.agent(customer);
      const { status } = await post(customer, { agentId, to: "+15550100009", from, vendor });
      assert.ok(status === 400 || status === 503, String(status));
      assert.equal(simulators[vendor].calls.filter((each) => each.from === from).length, 0);
      await server.settled();
      assert.equal((await server.calls(customer)).length, 0);
    });
  });
}

for (const vendor of VENDORS.filter((name) => name !== "asterisk")) {
  test(`${vendor}: an answering machine is hung up over REST, and the record says that a machine answered`, async () => {
    const { customer, call } = await placed(vendor, "+15550100004", true);
    const record = await server.endedCall(customer);
    assert.equal(record.metadata["endReason"], "machine");
    await eventually("the hang-up", () => call.isOver || undefined);
    await server.settled();
    const [stored] = await server.calls(customer);
    assert.match(String(stored?.metadata["answeredBy"]), /^machine/);
  });
}

for (const vendor of VENDORS.filter((name) => name !== "asterisk")) {
  test(`${vendor}: a message is left on an answering machine`, async () => {
    const voicemailMessage = "Please call Acme back.";
    const outbound = { voicemailMessage, screeningAnswer: null, whileDetecting: "wait" } as const;
    const persona = { greeting: "hello there", outbound };
    const { customer, call } = await placed(vendor, "+15550100004", true, { persona });
    assert.equal(call.order.detectsMessageEnd, vendor !== "plivo" || undefined);
    const phone = await talk(vendor, call);
    await call.endGreeting();
    assert.equal(await phone.said(1), voicemailMessage);
    phone.play();
    const { status, metadata } = await server.endedCall(customer);
    const { endReason, outcome, voicemail } = metadata;
    assert.deepEqual([status, endReason, outcome], ["completed", "machine", "machine"]);
    assert.deepEqual(voicemail, { messageLeft: true, text: voicemailMessage });
    assert.equal(await phone.closed, 1000);
  });
}

test("the error names a vendor without an API for placing calls, and the settings of a vendor without an account", async () => {
  const { customer, from } = await customerWithNumber();
  const { id: agentId } = await server.agent(customer);
  const order = { agentId, to: "+15550101000", from };
  for (const [vendor, words] of [
    ["audiosocket", /at audiosocket: it has no API for that/],
    ["twilio", /at twilio before the platform sets TWILIO_ACCOUNT_SID, TWILIO_AUTH_TOKEN/],
  ] as const) {
    const { status, answer } = await post(customer, { ...order, vendor });
    assert.equal(status, 503);
    assert.match(JSON.stringify(answer), words);
  }
  const { status } = await post(customer, { ...order, vendor: "acme" });
  assert.equal(status, 400);
});

const TRANSFER_TO = "+15550103333";

for (const [status, result, words] of [
  ["busy", "busy", /^I am sorry, the line is busy/],
  ["timeout", "noAnswer", /^I am sorry, nobody answered there/],
  ["rejected", "rejected", /^I am sorry/],
  ["completed", "answered", undefined],
] as const) {
  test(`vonage: a call is transferred over REST, and its leg that ends as ${status} is ${result}`, async () => {
    const tools = [{ type: "transfer", to: TRANSFER_TO } as const];
    const { customer, call } = await placed("vonage", "+15550101000", false, { tools });
    const phone = await talk("vonage", call);
    assert.match(await phone.said(1), /hello there/i);
    phone.play();
    phone.say("transfer me");
    assert.equal(await phone.said(2), "One moment please, I will transfer you.");
    assert.deepEqual(call.transferredTo, [], "the agent's words are heard first");
    phone.play();
    assert.equal(await phone.closed, 1000);
    const [document = ""] = call.transferredTo;
    const dial = VENDOR_DOCUMENTS["vonage"]?.readDial?.(document);
    assert.deepEqual([dial?.to, dial?.ringSec], [TRANSFER_TO, 30]);
    const event = { uuid: "p1", to: "15550103333", status };
    const body = JSON.stringify({ ...event, ...(status === "completed" && { duration: "42" }) });
    const headers = { "content-type": "application/json" };
    const answer = await fetch(dial?.next ?? "", { method: "POST", headers, body });
    const next = await answer.text();
    if (words === undefined) {
      assert.equal(next, "");
    } else {
      const step = vonageStep(next, call.id);
      const stream = VENDOR_STREAMS[STREAMS.vonage];
      assert.ok(stream);
      const again = await VendorCall.connect(step.url, stream);
      again.send(withIds(stream.start(step.parameters["token"] ?? ""), call.id, undefined));
      assert.match(await again.said(2), words);
      again.drop();
    }
    await call.end();
    await server.settled();
    const [first] = await server.calls(customer);
    const transfer = Object(first?.metadata["transfer"]);
    assert.deepEqual(
      [transfer.result, transfer.reason, transfer.to],
      [result, status, TRANSFER_TO],
    );
    const isAnswered = words === undefined;
    const { endReason } = first?.metadata ?? {};
    assert.equal(endReason, isAnswered ? "transferred" : "transferFailed");
    assert.equal(transfer.durationSec, isAnswered ? 42 : undefined);
  });
}
