import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import * as v from "valibot";
import type { Exchange } from "../../engine/sandbox/exchange.js";
import {
  PHONE_API_WIRES,
  type PlacedState,
} from "../../engine/sandbox/telephone/phone-api-wires.js";
import { phoneVendor } from "../../engine/telephony/phone-vendors.js";
import { PHONE_VENDOR_NAMES } from "../../engine/telephony/telephony-settings.js";
import { PatientClock } from "../doubles/patient-clock.js";
import { RecordingLogger } from "../doubles/recording-logger.js";
import { eventually } from "./eventually.js";
import { UNSUPPORTED_STREAMS } from "./phone-vendor-streams.js";
import { PlacedVendorCall, signedPost } from "./placed-vendor-call.js";
import { PLACING_VENDORS, type PlacingVendorName, PlacingVendors } from "./placing-vendors.js";
import { streamUrl } from "./telephone-stand.js";
import { type Customer, TestServer } from "./test-server.js";

/** A call waits up to six seconds for its verdict; this clock does not stretch that wait. */
const LONGER_THAN_VERDICT_MS = 6_001;

const log = new RecordingLogger();
let vendors: PlacingVendors;
let server: TestServer;

before(async () => {
  vendors = await PlacingVendors.start();
  const clock = new PatientClock(LONGER_THAN_VERDICT_MS);
  server = await TestServer.start({ environment: vendors.environment, log, clock });
  await vendors.leadTo(server.parley.port);
});
after(async () => {
  await server.settled();
  await server.stop();
  vendors.close();
});

test("these are all of the vendors that can place calls", () => {
  const placing = PHONE_VENDOR_NAMES.filter(
    (name) => phoneVendor(name)?.capabilities.place === "rest",
  );
  assert.deepEqual([...PLACING_VENDORS].sort(), [...placing].sort());
});

/** The vendors that say whether a machine has answered. */
const MACHINE_VENDORS = PLACING_VENDORS.filter((name) => name !== "asterisk");

test("these are all of the vendors that detect machines", () => {
  const detecting = PHONE_VENDOR_NAMES.filter(
    (name) => phoneVendor(name)?.capabilities.machineDetection !== "none",
  );
  assert.deepEqual([...MACHINE_VENDORS].sort(), [...detecting].sort());
});

const Queued = v.object({ id: v.string(), status: v.literal("queued") });
let lastNumber = 15_550_600_000;

async function customerWithNumber(at = server): Promise<{ customer: Customer; from: string }> {
  const customer = await at.customer();
  lastNumber += 1;
  const from = `+${lastNumber}`;
  await at.tenancy.phoneNumbers.allow(customer.email, from);
  await at.tenancy.dialTargets.allow(customer.email, "+1555");
  return { customer, from };
}

async function post({ apiKey }: Customer, body: unknown, at = server) {
  const response = await fetch(`${at.url}/api/dashboard/calls`, {
    method: "POST",
    headers: { "x-api-key": apiKey, "content-type": "application/json" },
    body: JSON.stringify(body),
  });
  const answer: unknown = await response.json();
  return { status: response.status, answer };
}

async function placed(
  vendor: PlacingVendorName,
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
  const call = await vendors.callFrom(vendor, from);
  return { customer, id, call, from };
}

/** The call that an order on its way to the vendor asks for, without the vendor's own reports. */
async function placedCallOf(vendor: PlacingVendorName, exchange: Exchange) {
  const wire = PHONE_API_WIRES[vendor];
  const read = wire.read({
    method: exchange.request.method ?? "",
    path: exchange.url.pathname,
    authorization: exchange.header("authorization") ?? "",
    body: (await exchange.readText()) ?? "",
  });
  assert.ok(read?.kind === "place");
  const { statusUrl, ...numbers } = read.order;
  const call = { ...numbers, id: wire.newId() };
  const report = (state: PlacedState) => wire.report(call, state) ?? "";
  return { statusUrl, report, placed: wire.placed(call) };
}

const personAt = (vendor: PlacingVendorName, call: PlacedVendorCall["call"]) =>
  new PlacedVendorCall(vendor, call, streamUrl(server, vendor));

for (const vendor of PLACING_VENDORS) {
  describe(vendor, () => {
    test("a placed call is answered, talks over the vendor's stream and is recorded under its id", async () => {
      const { customer, id, call } = await placed(vendor, "+15550101000");
      const phone = await personAt(vendor, call).pickUp();
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
      assert.deepEqual(vendors.callsFrom(vendor, from), []);
      await server.settled();
      assert.equal((await server.calls(customer)).length, 0);
    });

    for (const [what, status, body] of [
      ["a 200 with an error inside", 200, { error: "out of order", message: "try again" }],
      ["the error of a gateway", 502, "bad gateway"],
    ] as const) {
      test(`${what} does not ask for a second call: its reports end the call that was placed`, async () => {
        const { customer, from } = await customerWithNumber();
        const { id: agentId } = await server.agent(customer);
        let reportBusy = (): Promise<number> => assert.fail("no order");
        vendors.answerNext(vendor, async (exchange) => {
          const { statusUrl, report } = await placedCallOf(vendor, exchange);
          reportBusy = async () => (await signedPost(vendor, statusUrl, report("busy"))).status;
          exchange.answerJson(status, body);
        });
        const order = { agentId, to: "+15550101000", from, vendor };
        const { status: answered, answer } = await post(customer, order);
        assert.equal(answered, 201, JSON.stringify(answer));
        assert.equal(await reportBusy(), 204);
        const record = await server.endedCall(customer);
        assert.deepEqual(
          [record.id, record.metadata["endReason"]],
          [v.parse(Queued, answer).id, "busy"],
        );
      });
    }

    test("a report that comes before the answer to the order ends the call once, and nobody is called again", async () => {
      const { customer, from } = await customerWithNumber();
      const { id: agentId } = await server.agent(customer);
      const reports: number[] = [];
      vendors.answerNext(vendor, async (exchange) => {
        const { statusUrl, report, placed: answer } = await placedCallOf(vendor, exchange);
        for (let count = 0; count < 2; count += 1) {
          const { status } = await signedPost(vendor, statusUrl, report("busy"));
          reports.push(status);
        }
        const [status, body] = answer;
        exchange.answerJson(status, body);
      });
      const { status, answer } = await post(customer, {
        agentId,
        to: "+15550101000",
        from,
        vendor,
      });
      assert.equal(status, 201, JSON.stringify(answer));
      assert.deepEqual(reports, [204, 204]);
      const record = await server.endedCall(customer);
      assert.equal(record.id, v.parse(Queued, answer).id);
      assert.deepEqual([record.status, record.metadata["endReason"]], ["failed", "busy"]);
      await server.settled();
      assert.equal((await server.calls(customer)).length, 1);
      assert.deepEqual(vendors.callsFrom(vendor, from), [], "it is not ordered again");
    });

    test("a report that comes after the conversation changes nothing", async () => {
      const { customer, call } = await placed(vendor, "+15550101000");
      const phone = await personAt(vendor, call).pickUp();
      assert.match(await phone.said(1), /hello there/i);
      await phone.end();
      const { endedAtMs } = await server.endedCall(customer);
      for (const state of ["ringing", "busy", "completed", "noAnswer"] as const) {
        await call.repeat(state);
      }
      await server.settled();
      const [record, ...others] = await server.calls(customer);
      assert.deepEqual(others, []);
      assert.deepEqual(
        [record?.status, record?.metadata["endReason"], record?.endedAtMs],
        ["completed", "callerLeft", endedAtMs],
      );
    });

    test("numbers that are none, emergency and premium numbers, and forbidden prefixes are not called", async () => {
      const { customer, from } = await customerWithNumber();
      await server.tenancy.dialTargets.allow(customer.email, "+1");
      await server.tenancy.dialTargets.allow(customer.email, "+49");
      const { id: agentId } = await server.agent(customer);
      for (const [to, expected] of [
        ["15550101000", 400],
        ["+0155501010", 400],
        ["+1555", 400],
        ["+1555010100000000", 400],
        ["+1 555 010 1000", 400],
        ["+15550101000;ext=1", 400],
        ["+15550101000@trunk", 400],
        ["+1911", 400],
        ["+49112", 400],
        ["+49110", 400],
        ["+19005550100", 403],
        ["+499001234567", 403],
        ["+4491234567", 403],
        ["+33155501010", 403],
        ["+881612345678", 403],
      ] as const) {
        const { status, answer } = await post(customer, { agentId, to, from, vendor });
        assert.equal(status, expected, `${to}: ${JSON.stringify(answer)}`);
      }
      assert.deepEqual(vendors.callsFrom(vendor, from), []);
      await server.settled();
      assert.deepEqual(await server.calls(customer), []);
    });
  });
}

for (const title of ["Telnyx in OPUS", "Telnyx in AMR-WB"]) {
  test(`${title}: a placed call ends with a sentence, and its record and the log name the format`, async () => {
    log.lines.length = 0;
    const format = title.replace("Telnyx in ", "");
    const { customer, call, id } = await placed("telnyx", "+15550101000");
    const person = personAt("telnyx", call);
    const phone = await person.pickUp(UNSUPPORTED_STREAMS[title]);
    assert.equal(await phone.closed, 1003);
    const record = await server.endedCall(customer);
    assert.deepEqual(
      [record.id, record.status, record.metadata["endReason"]],
      [id, "failed", "unsupportedAudio"],
    );
    assert.ok(String(record.metadata["endMessage"]).includes(format));
    const [line] = log.ofLevel("warn");
    assert.ok(JSON.stringify(line).includes(format), JSON.stringify(line));
    assert.match(await person.next(), /<Say>[^<]*format is not supported[^<]*<\/Say><Hangup\/>/);
    await call.end();
  });
}

for (const vendor of MACHINE_VENDORS) {
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

for (const vendor of MACHINE_VENDORS) {
  test(`${vendor}: a message is left on an answering machine`, async () => {
    const voicemailMessage = "Please call Acme back.";
    const outbound = { voicemailMessage, screeningAnswer: null, whileDetecting: "wait" } as const;
    const persona = { greeting: "hello there", outbound };
    const { customer, call } = await placed(vendor, "+15550100004", true, { persona });
    assert.equal(call.order.detectsMessageEnd, vendor !== "plivo" || undefined);
    const phone = await personAt(vendor, call).pickUp();
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

test("a server that stops hangs up what rings and what was answered without a stream, at every vendor", async () => {
  const other = await TestServer.start({ environment: vendors.environment });
  try {
    await vendors.leadTo(other.parley.port);
    const calls = await Promise.all(
      PLACING_VENDORS.map(async (vendor) => {
        const { customer, from } = await customerWithNumber(other);
        const { id: agentId } = await other.agent(customer);
        for (const to of ["+15550110005", "+15550101000"]) {
          const { status } = await post(customer, { agentId, to, from, vendor }, other);
          assert.equal(status, 201);
        }
        const [ringing, answered] = vendors.callsFrom(vendor, from);
        assert.ok(ringing !== undefined && answered !== undefined);
        await eventually("the answer", () => answered.document);
        assert.deepEqual([ringing.isAnswered, answered.isAnswered], [false, true]);
        return { vendor, ringing, answered };
      }),
    );
    other.parley.calls.endAll();
    for (const { vendor, ringing, answered } of calls) {
      await eventually(`the end of what rings at ${vendor}`, () => ringing.isOver || undefined);
      await eventually(
        `the end of what is answered at ${vendor}`,
        () => answered.isOver || undefined,
      );
    }
  } finally {
    await vendors.leadTo(server.parley.port);
    await other.stop();
  }
});

function begunCalls(customer: Customer, count: number): Promise<unknown> {
  return eventually(`${count} calls`, async () => {
    const calls = await server.calls(customer);
    return calls.length === count ? true : undefined;
  });
}

for (const vendor of PLACING_VENDORS.filter((name) => name !== "asterisk")) {
  for (const [when, isSaidMeanwhile] of [
    ["after the break", false],
    ["while the call has no stream", true],
  ] as const) {
    test(`${vendor}: a machine of which the vendor speaks ${when} gets its message, and nothing else`, async () => {
      const voicemailMessage = "Please call Acme back.";
      const outbound = { voicemailMessage, screeningAnswer: null, whileDetecting: "wait" } as const;
      const persona = { greeting: "hello there", outbound };
      const { customer, id, call } = await placed(vendor, "+15550100015", true, { persona });
      const person = personAt(vendor, call);
      const broken = await person.pickUp();
      await begunCalls(customer, 1);
      broken.drop();
      const recognize = async () => {
        await call.recognizeMachine();
        await call.endGreeting();
      };
      await server.endedCall(customer);
      if (isSaidMeanwhile) await recognize();
      const phone = await person.goOn();
      assert.ok(phone);
      await begunCalls(customer, 2);
      if (!isSaidMeanwhile) await recognize();
      assert.equal(await phone.said(1), voicemailMessage);
      phone.play();
      assert.equal(await phone.closed, 1000);
      const calls = await server.endedCalls(customer, 2);
      const last = calls.find(({ metadata }) => metadata["continues"] === id);
      const { endReason, outcome, voicemail } = last?.metadata ?? {};
      assert.deepEqual([endReason, outcome], ["machine", "machine"]);
      assert.deepEqual(voicemail, { messageLeft: true, text: voicemailMessage });
      await call.end();
    });
  }
}

test("the error names a vendor without an API for placing calls, and the settings of a vendor without an account", async () => {
  const { customer, from } = await customerWithNumber();
  const { id: agentId } = await server.agent(customer);
  const order = { agentId, to: "+15550101000", from };
  for (const [vendor, words] of [
    ["audiosocket", /at audiosocket: it has no API for that/],
  ] as const) {
    const { status, answer } = await post(customer, { ...order, vendor });
    assert.equal(status, 503);
    assert.match(JSON.stringify(answer), words);
  }
  const { status } = await post(customer, { ...order, vendor: "acme" });
  assert.equal(status, 400);
});

const TRANSFER_TO = "+15550103333";

for (const [status, outcome, words] of [
  ["busy", "busy", /^I am sorry, the line is busy/],
  ["timeout", "noAnswer", /^I am sorry, nobody answered there/],
  ["rejected", "rejected", /^I am sorry/],
  ["completed", "answered", undefined],
] as const) {
  test(`vonage: a call is transferred over REST, and its leg that ends as ${status} is ${outcome}`, async () => {
    const tools = [{ type: "transfer", to: TRANSFER_TO } as const];
    const { customer, call } = await placed("vonage", "+15550101000", false, { tools });
    const person = personAt("vonage", call);
    const phone = await person.pickUp();
    assert.match(await phone.said(1), /hello there/i);
    phone.play();
    phone.say("transfer me");
    assert.equal(await phone.said(2), "One moment please, I will transfer you.");
    assert.deepEqual(call.transferredTo, [], "the agent's words are heard first");
    phone.play();
    assert.equal(await phone.closed, 1000);
    const dial = await person.handedOn();
    assert.deepEqual([dial.to, dial.ringSec], [TRANSFER_TO, 30]);
    const again = await person.dialed(dial, outcome);
    if (words === undefined) assert.equal(again, undefined);
    else {
      assert.match((await again?.said(2)) ?? "", words);
      again?.drop();
    }
    await call.end();
    await server.settled();
    const [first] = await server.calls(customer);
    const transfer = Object(first?.metadata["transfer"]);
    assert.deepEqual(
      [transfer.result, transfer.reason, transfer.to],
      [outcome, status, TRANSFER_TO],
    );
    const isAnswered = words === undefined;
    const { endReason } = first?.metadata ?? {};
    assert.equal(endReason, isAnswered ? "transferred" : "transferFailed");
    assert.equal(transfer.durationSec, isAnswered ? 42 : undefined);
  });
}

/** The calls of these vendors do not end with their streams. */
const HUNG_UP_BY_REST: ReadonlySet<string> = new Set(["telnyx", "plivo"]);
const UNJUDGED = "+15550100012";

// A call waits for a verdict that the vendor owes, at each vendor at once.
describe("late verdicts", { concurrency: true }, () => {
  for (const vendor of MACHINE_VENDORS) {
    test(`${vendor}: a late verdict that a machine has answered does not end a conversation`, async () => {
      const { customer, call } = await placed(vendor, UNJUDGED, true);
      const phone = await personAt(vendor, call).pickUp();
      assert.match(await phone.said(1), /hello there/i);
      phone.play();
      phone.say("say thank you");
      assert.equal(await phone.said(2), "thank you");
      phone.play();
      await call.reportVerdict("machine");
      phone.say("say good evening");
      assert.equal(await phone.said(3), "good evening");
      phone.play();
      await phone.end();
      await call.end();
      const { metadata } = await server.endedCall(customer);
      assert.deepEqual([metadata["endReason"], metadata["outcome"]], ["callerLeft", "answered"]);
      assert.match(String(metadata["answeredBy"]), /^machine/);
    });

    test(`${vendor}: a call screener hears who is calling, and the person behind it the greeting that waits`, async () => {
      const screeningAnswer = "This is the workshop, about your bicycle.";
      const outbound = { voicemailMessage: null, screeningAnswer, whileDetecting: "wait" } as const;
      const persona = { greeting: "hello there", outbound };
      const { customer, call } = await placed(vendor, UNJUDGED, true, { persona });
      const phone = await personAt(vendor, call).pickUp();
      phone.say("please state your name and the reason for your call");
      assert.equal(await phone.said(1), screeningAnswer);
      await call.reportVerdict("machine");
      phone.play();
      phone.say("ada speaking");
      assert.match(await phone.said(2), /hello there/i);
      phone.play();
      await phone.end();
      await call.end();
      const { metadata } = await server.endedCall(customer);
      assert.deepEqual([metadata["endReason"], metadata["outcome"]], ["callerLeft", "answered"]);
    });
  }
});

for (const vendor of PLACING_VENDORS) {
  test(`${vendor}: a call that the agent hangs up is over at the vendor`, async () => {
    const tools = [{ type: "hangup" } as const];
    const { customer, call } = await placed(vendor, "+15550101000", false, { tools });
    const person = personAt(vendor, call);
    const phone = await person.pickUp();
    assert.match(await phone.said(1), /hello there/i);
    phone.play();
    phone.say("hang up please");
    await phone.said(2);
    phone.play();
    await phone.closed;
    const { metadata } = await server.endedCall(customer);
    assert.equal(metadata["endReason"], "agentHungUp");
    // At the others the call ends with its stream, behind which no document has anything to do.
    if (HUNG_UP_BY_REST.has(vendor))
      await eventually("the hang-up", () => call.isOver || undefined);
    else assert.equal(await person.goOn(), undefined);
  });
}
