import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import { SIGNERS, SIGNING_KEYS } from "../../bench/attack/clients/webhook-signers.js";
import { RecordingLogger } from "../doubles/recording-logger.js";
import type { VendorCall } from "./phone-vendor-call.js";
import { VendorCaller } from "./phone-vendor-caller.js";
import { type DialOutcome, type DialStep, VENDOR_DOCUMENTS } from "./phone-vendor-documents.js";
import { VENDOR_STREAMS } from "./phone-vendor-streams.js";
import { closeServer, PacerWatch, streamUrl, webhookUrl } from "./telephone-stand.js";
import { type Customer, TestServer } from "./test-server.js";

const TRANSFER_TO = "+15550003333";
const BUSY =
  "I am sorry, the line is busy, so I could not put you through. Is there anything else I can do?";
const NO_ANSWER = "I am sorry, nobody answered there. Is there anything else I can do?";
const NOT_REACHED = "I am sorry, I could not put you through. Is there anything else I can do?";

/** The number of sentences, and so of marks, in each of these apologies. */
const SENTENCES = 2;

const clock = new PacerWatch();
const log = new RecordingLogger();
let server: TestServer;
before(async () => {
  server = await TestServer.start({ clock, log, environment: SIGNING_KEYS });
});
after(() => closeServer(server, clock));

interface Talk {
  readonly customer: Customer;
  readonly caller: VendorCaller;
  readonly dial: DialStep;
  /** A number of the customer's besides the called one. */
  readonly own: string;
}

const TITLES = [
  "Twilio in µ-law",
  "SignalWire in 16-bit samples",
  "Telnyx in A-law",
  "Plivo in µ-law",
  "Jambonz in 16-bit samples",
  "Vonage in 16-bit samples",
  "Asterisk in A-law",
];

/** The number that the caller calls. */
const OWN_NUMBER = "+15550002222";
let lastNumber = 15_550_700_000;

interface Transfer {
  readonly mode?: "blind" | "warm";
  readonly callerId?: string;
}

/** `own`: a number of the customer's. */
async function transferred(
  title: string,
  transfer: Transfer | ((own: string) => Transfer) = {},
): Promise<Talk> {
  const stream = VENDOR_STREAMS[title];
  assert.ok(stream, title);
  const customer = await server.customer();
  await server.tenancy.dialTargets.allow(customer.email, TRANSFER_TO);
  lastNumber += 1;
  const own = `+${lastNumber}`;
  await server.tenancy.phoneNumbers.allow(customer.email, own);
  const how = typeof transfer === "function" ? transfer(own) : transfer;
  const tools = [{ type: "transfer", to: TRANSFER_TO, ...how } as const];
  await server.agent(customer, { persona: { greeting: "Hello there." }, tools });
  const { vendor } = stream;
  const caller = new VendorCaller(stream, streamUrl(server, vendor));
  const call = await caller.ring(webhookUrl(server, customer, { vendor, continue: "transfer" }));
  assert.equal(await call.said(1), "Hello there.");
  call.play();
  await transferIn(call, 2);
  const dial = await caller.handedOn();
  assert.deepEqual([dial.to, dial.ringSec], [TRANSFER_TO, 30]);
  // The two talk no longer than the plan's longest call.
  assert.equal(dial.talkMaxSec, customer.tenant.plan.limits.maxCallDurationSec);
  if (how.callerId === undefined) assert.equal(dial.callerId, OWN_NUMBER);
  return { customer, caller, dial, own };
}

async function transferIn(call: VendorCall, turn: number): Promise<void> {
  call.say("transfer me");
  assert.equal(await call.said(turn), "One moment please, I will transfer you.");
  call.play();
  await call.closed;
}

/** A user of the organization requests it over REST. */
async function orderTransfer(customer: Customer): Promise<Response> {
  const [live] = await server.calls(customer);
  return fetch(`${server.url}/api/dashboard/calls/${live?.id}/transfer`, {
    method: "POST",
    headers: { "x-api-key": customer.apiKey, "content-type": "application/json" },
    body: JSON.stringify({ to: TRANSFER_TO }),
  });
}

const OUTCOMES: readonly (readonly [DialOutcome, string])[] = [
  ["busy", BUSY],
  ["noAnswer", NO_ANSWER],
  ["rejected", NOT_REACHED],
  ["failed", NOT_REACHED],
];

/** Twilio and SignalWire say of a number that rejects a call that it was busy. */
const saysRejected = (title: string) => !/Twilio|SignalWire/.test(title);

const showsCaller = (title: string) =>
  VENDOR_DOCUMENTS[VENDOR_STREAMS[title]?.vendor ?? ""]?.showsCaller === true;

// Each vendor has one caller at a time.
describe("a transfer by the vendor's document", { concurrency: TITLES.length }, () => {
  for (const title of TITLES) {
    describe(title, { concurrency: 1 }, () => {
      for (const [wanted, wantedWords] of OUTCOMES) {
        const isBusy = wanted === "rejected" && !saysRejected(title);
        const [outcome, words] = isBusy ? ["busy", BUSY] : [wanted, wantedWords];
        test(`a caller whose transfer ends as ${wanted} returns to the agent, who says so`, async () => {
          const { customer, caller, dial } = await transferred(title);
          const again = await caller.dialed(dial, wanted);
          assert.ok(again, "the caller is not lost");
          assert.equal(await again.said(SENTENCES), words);
          again.play();
          again.say("say thank you");
          assert.equal(
            await again.said(SENTENCES + 1),
            "thank you",
            "and the conversation goes on",
          );
          again.play();
          again.drop();
          assert.equal(await caller.goOn("callerGone"), undefined);
          const [first, second, ...others] = await server.endedCalls(customer, 2);
          assert.deepEqual(others, []);
          assert.equal(first?.metadata["endReason"], "transferFailed");
          const { result, to } = Object(first?.metadata["transfer"]);
          assert.deepEqual([result, to], [outcome, TRANSFER_TO]);
          assert.equal(first?.metadata["continuedBy"], second?.id);
          assert.equal(second?.metadata["continues"], first?.id);
          assert.equal(second?.transcript[0]?.text, words);
        });
      }

      test(`an answered transfer ends the call`, async () => {
        const { customer, caller, dial } = await transferred(title);
        assert.equal(await caller.dialed(dial, "answered"), undefined);
        const [call, ...others] = await server.endedCalls(customer, 1);
        assert.deepEqual(others, []);
        assert.equal(call?.metadata["endReason"], "transferred");
        const transfer = Object(call?.metadata["transfer"]);
        assert.equal(transfer.result, "answered");
        if (!/Plivo|Jambonz/.test(title)) assert.equal(transfer.durationSec, 42);
      });

      test(`a caller who hangs up while it rings does not count as transferred`, async () => {
        const { customer, caller, dial } = await transferred(title);
        assert.equal(await caller.dialed(dial, "callerGone"), undefined);
        const [call, ...others] = await server.endedCalls(customer, 1);
        assert.deepEqual(others, []);
        assert.equal(call?.metadata["endReason"], "transferFailed");
      });

      test(`the person sees another number of the organization that the tool names`, async () => {
        const shown = await transferred(title, (own) => ({ callerId: own }));
        assert.equal(shown.dial.callerId, shown.own);
        await shown.caller.dialed(shown.dial, "callerGone");
      });

      test(`the person sees the caller's own number where the vendor shows it`, async () => {
        const { caller, dial } = await transferred(title, { callerId: "caller" });
        assert.equal(dial.callerId, showsCaller(title) ? `+${caller.from}` : OWN_NUMBER);
        await caller.dialed(dial, "callerGone");
      });
    });
  }
});

test("a number that is not the organization's is not shown: the person sees the number of the call", async () => {
  const { caller, dial } = await transferred("Twilio in µ-law", { callerId: "+15550704444" });
  assert.equal(dial.callerId, OWN_NUMBER);
  await caller.dialed(dial, "callerGone");
});

test("a vendor's own reason is stored with a rejected transfer", async () => {
  for (const [title, reason] of [
    ["Jambonz in 16-bit samples", "603"],
    ["Telnyx in A-law", "call_rejected"],
    ["Plivo in µ-law", "CALL_REJECTED"],
    ["Vonage in 16-bit samples", "rejected"],
    ["Asterisk in A-law", "21"],
  ] as const) {
    const { customer, caller, dial } = await transferred(title);
    const again = await caller.dialed(dial, "rejected");
    assert.equal(await again?.said(SENTENCES), NOT_REACHED, title);
    again?.drop();
    await caller.goOn("callerGone");
    await server.settled();
    const [first] = await server.calls(customer);
    const transfer = Object(first?.metadata["transfer"]);
    assert.deepEqual([transfer.result, transfer.reason], ["rejected", reason], title);
  }
});

test("an outcome that is unsigned, or of another call, changes nothing", async () => {
  const { customer, caller, dial } = await transferred("Twilio in µ-law");
  const body = "CallSid=CA1&CallStatus=in-progress&DialCallStatus=completed";
  const headers = { "content-type": "application/x-www-form-urlencoded" };
  const unsigned = await fetch(dial.next, { method: "POST", headers, body });
  assert.equal(unsigned.status, 403);
  const forged = `${dial.next.slice(0, -2)}xx`;
  const signed = SIGNERS["twilio"]?.sign(forged, body);
  const wrong = await fetch(forged, { method: "POST", headers: { ...headers, ...signed }, body });
  assert.equal(wrong.status, 401);
  const again = await caller.dialed(dial, "busy");
  assert.equal(await again?.said(SENTENCES), BUSY);
  again?.drop();
  await server.settled();
  const [first] = await server.calls(customer);
  assert.equal(first?.metadata["endReason"], "transferFailed");
});

for (const title of TITLES.filter((each) => !/Twilio|Asterisk/.test(each)))
  test(`${title}: a transfer requested over REST is announced, and the caller returns when the line is busy`, () =>
    orderedAndBusy(title));

async function orderedAndBusy(title: string): Promise<void> {
  const stream = VENDOR_STREAMS[title];
  assert.ok(stream, title);
  const customer = await server.customer();
  await server.tenancy.dialTargets.allow(customer.email, TRANSFER_TO);
  await server.agent(customer, { persona: { greeting: "Hello there." } });
  const { vendor } = stream;
  const caller = new VendorCaller(stream, streamUrl(server, vendor));
  const call = await caller.ring(webhookUrl(server, customer, { vendor }));
  assert.equal(await call.said(1), "Hello there.");
  call.play();
  assert.equal((await orderTransfer(customer)).status, 200);
  assert.equal(await call.said(2), "One moment please, I will put you through.");
  const second = await orderTransfer(customer);
  assert.equal(second.status, 409, "the first one is announced");
  assert.match(await second.text(), /is ending or transferring the call/);
  call.play();
  await call.closed;
  const dial = await caller.handedOn();
  assert.equal(dial.to, TRANSFER_TO);
  const again = await caller.dialed(dial, "busy");
  assert.equal(await again?.said(SENTENCES), BUSY);
  again?.drop();
  await server.settled();
  const [first] = await server.calls(customer);
  assert.deepEqual(first?.metadata["transferredBy"], { type: "apiKey", id: customer.apiKeyId });
  assert.equal(Object(first?.metadata["transfer"]).result, "busy");
}

test("a tool's warm transfer at a vendor without an account is blind, and so says its record", async () => {
  const title = "Telnyx in A-law";
  const { customer, caller, dial } = await transferred(title, { mode: "warm" });
  const again = await caller.dialed(dial, "busy");
  assert.equal(await again?.said(SENTENCES), BUSY);
  again?.drop();
  await caller.goOn("callerGone");
  await server.settled();
  const [first] = await server.calls(customer);
  const { mode, result, to } = Object(first?.metadata["transfer"]);
  assert.deepEqual([mode, result, to], [undefined, "busy", TRANSFER_TO]);
});

test("a dialplan without a dial instruction gets no transfer", async () => {
  const stream = VENDOR_STREAMS["Asterisk in A-law"];
  assert.ok(stream);
  const customer = await server.customer();
  await server.tenancy.dialTargets.allow(customer.email, TRANSFER_TO);
  const tools = [{ type: "transfer", to: TRANSFER_TO } as const];
  await server.agent(customer, { persona: { greeting: "Hello there." }, tools });
  const { vendor } = stream;
  const caller = new VendorCaller(stream, streamUrl(server, vendor));
  const call = await caller.ring(webhookUrl(server, customer, { vendor, continue: "yes" }));
  assert.equal(await call.said(1), "Hello there.");
  call.play();
  call.say("transfer me");
  assert.doesNotMatch((await call.said(2)) ?? "", /I will transfer you/);
  call.drop();
  await server.settled();
});

test("a transfer requested over REST keeps the caller with the agent if the dialplan dials none", async () => {
  const stream = VENDOR_STREAMS["Asterisk in A-law"];
  assert.ok(stream);
  const customer = await server.customer();
  await server.tenancy.dialTargets.allow(customer.email, TRANSFER_TO);
  await server.agent(customer, { persona: { greeting: "Hello there." } });
  const { vendor } = stream;
  const caller = new VendorCaller(stream, streamUrl(server, vendor));
  const call = await caller.ring(webhookUrl(server, customer, { vendor, continue: "yes" }));
  assert.equal(await call.said(1), "Hello there.");
  call.play();
  await orderTransfer(customer);
  assert.equal(await call.said(2), "One moment please, I will put you through.");
  call.play();
  assert.match(await call.said(3), /^I am sorry, I could not put you through\./);
  call.drop();
  await server.settled();
});

test("the first outcome counts, and a late or repeated one does not return the caller", async () => {
  const { customer, caller, dial } = await transferred("Telnyx in A-law");
  const again = await caller.dialed(dial, "busy");
  assert.equal(await again?.said(SENTENCES), BUSY);
  assert.equal(await caller.dialed(dial, "answered"), undefined);
  assert.equal(await caller.dialed(dial, "noAnswer"), undefined);
  again?.drop();
  await server.settled();
  assert.equal(await caller.dialed(dial, "busy"), undefined, "the call that it led to is over");
  const calls = await server.calls(customer);
  assert.equal(calls.length, 2);
  assert.equal(Object(calls[0]?.metadata["transfer"]).result, "busy");
  assert.equal(calls[0]?.metadata["endReason"], "transferFailed");
});

test("a vendor that repeats its document request dials once, and the caller returns to the agent", async () => {
  const { caller } = await transferred("Jambonz in 16-bit samples");
  const again = await caller.goOn();
  assert.equal(await again?.said(SENTENCES), NOT_REACHED);
  again?.drop();
  await caller.goOn("callerGone");
});

test("a caller returns to the agent at most five times, and the agent has no transfer tool after that", async () => {
  const { customer, caller, dial } = await transferred("SignalWire in 16-bit samples");
  let call = await caller.dialed(dial, "busy");
  for (let time = 1; time < 5; time += 1) {
    assert.equal(await call?.said(SENTENCES), BUSY);
    call?.play();
    assert.ok(call);
    await transferIn(call, SENTENCES + 1);
    call = await caller.dialed(await caller.handedOn(), "busy");
  }
  assert.equal(await call?.said(SENTENCES), BUSY);
  call?.play();
  call?.say("transfer me");
  assert.doesNotMatch((await call?.said(SENTENCES + 1)) ?? "", /I will transfer you/);
  call?.drop();
  await caller.goOn("callerGone");
  await server.settled();
  assert.equal((await server.calls(customer)).length, 6);
});

test("the log contains no telephone number", () => {
  assert.doesNotMatch(JSON.stringify(log.lines), /1555\d{7}/);
});
