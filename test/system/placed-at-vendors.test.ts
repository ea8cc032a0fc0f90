import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import * as v from "valibot";
import { PHONE_API_WIRES } from "../../engine/sandbox/telephone/phone-api-wires.js";
import { phoneVendor } from "../../engine/telephony/phone-vendors.js";
import { PHONE_VENDOR_NAMES } from "../../engine/telephony/telephony-settings.js";
import { RecordingLogger } from "../doubles/recording-logger.js";
import { eventually } from "./eventually.js";
import { UNSUPPORTED_STREAMS } from "./phone-vendor-streams.js";
import { PlacedVendorCall, signedPost } from "./placed-vendor-call.js";
import { PLACING_VENDORS, type PlacingVendorName, PlacingVendors } from "./placing-vendors.js";
import { streamUrl } from "./telephone-stand.js";
import { type Customer, TestServer } from "./test-server.js";

const log = new RecordingLogger();
let vendors: PlacingVendors;
let server: TestServer;

before(async () => {
  vendors = await PlacingVendors.start();
  server = await TestServer.start({ environment: vendors.environment, log });
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

    test("a 200 with an error inside places no call, and the person is called once when it is asked again", async () => {
      const { customer, from } = await customerWithNumber();
      const { id: agentId } = await server.agent(customer);
      const order = { agentId, to: "+15550100001", from, vendor };
      for (const body of [
        { error: "out of order", message: "try again" },
        { errors: [{ code: "x" }] },
      ]) {
        vendors.answerNext(vendor, async (exchange) => exchange.answerJson(200, body));
        const { status, answer } = await post(customer, order);
        assert.equal(status, 503, JSON.stringify(answer));
      }
      await server.settled();
      assert.deepEqual(await server.calls(customer), []);
      const { status } = await post(customer, order);
      assert.equal(status, 201);
      await server.endedCall(customer);
      assert.equal(vendors.callsFrom(vendor, from).length, 1);
    });

    test("a report that comes before the answer to the order ends the call once, and nobody is called again", async () => {
      const { customer, from } = await customerWithNumber();
      const { id: agentId } = await server.agent(customer);
      const reports: number[] = [];
      vendors.answerNext(vendor, async (exchange) => {
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
        const report = wire.report(call, "busy") ?? "";
        for (let count = 0; count < 2; count += 1) {
          const { status } = await signedPost(vendor, statusUrl, report);
          reports.push(status);
        }
        const [status, body] = wire.placed(call);
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

for (const vendor of PLACING_VENDORS.filter((name) => name !== "asterisk")) {
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

for (const vendor of PLACING_VENDORS.filter((name) => name !== "asterisk")) {
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
