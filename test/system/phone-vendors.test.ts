import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import { VendorCall } from "./phone-vendor-call.js";
import { VENDOR_STREAMS } from "./phone-vendor-streams.js";
import { closeServer, PacerWatch, streamUrl, webhookUrl } from "./telephone-stand.js";
import { type Customer, TestServer } from "./test-server.js";

const TOKEN = /(?:\btoken(?:="|" value="|":"|=)|^)([0-9a-f]{64,})/;

const clock = new PacerWatch();
let server: TestServer;
before(async () => {
  server = await TestServer.start({ clock });
});
after(() => closeServer(server, clock));

/** The call's id in the vendor's webhook, if the stream uses the same id. */
const CALL_FIELDS: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  twilio: { CallSid: "CA1" },
  signalwire: { CallSid: "CA1" },
  plivo: { CallUUID: "c1" },
  telnyx: { CallSid: "v3:ex" },
  vonage: { uuid: "u1" },
  jambonz: { call_sid: "c1" },
};
const JSON_VENDORS = new Set(["vonage", "jambonz"]);

/** Requests a stream's token from the webhook, as the vendor does. */
async function tokenFor(
  customer: Customer,
  vendor: string,
  fields = CALL_FIELDS[vendor] ?? {},
): Promise<string> {
  const url = webhookUrl(server, customer, { vendor });
  const isJson = JSON_VENDORS.has(vendor);
  const body = isJson ? JSON.stringify(fields) : new URLSearchParams(fields);
  const response = await fetch(url, { method: "POST", body });
  const document = await response.text();
  const token = TOKEN.exec(document)?.[1];
  assert.ok(token, document);
  return token;
}

const FRAME_BYTES = { mulaw: 160, alaw: 160, g722: 160, l16: 320, l16be: 320, l16wide: 640 };

describe("agent and caller understand each other", { concurrency: true }, () => {
  for (const [title, stream] of Object.entries(VENDOR_STREAMS)) {
    test(`over ${title}`, async () => {
      const customer = await server.customer();
      await server.agent(customer, { persona: { greeting: "Hello there." } });
      const token = await tokenFor(customer, stream.vendor);
      const query = stream.inAddress === true ? `?token=${token}` : "";
      const call = await VendorCall.connect(streamUrl(server, stream.vendor) + query, stream);
      call.send(stream.start(token));
      assert.equal(await call.said(1), "Hello there.");
      call.play();
      call.say("say thank you");
      assert.equal(await call.said(2), "thank you");
      call.play();
      call.say("count to 20");
      await call.changes.until("the agent to begin", () => call.marks.length > 2);
      call.say("stop");
      await call.changes.until("the clear", () => call.clears > 0);
      await call.end();
      const { channel, status, transcript, metrics } = await server.endedCall(customer);
      assert.equal(channel, "phone");
      assert.equal(status, "completed");
      assert.deepEqual(
        transcript.slice(0, 4).map(({ role, text }) => `${role}: ${text}`),
        [
          "assistant: Hello there.",
          "user: say thank you",
          "assistant: thank you",
          "user: count to 20",
        ],
      );
      assert.equal(metrics.interruptions, 1);
      const frame = FRAME_BYTES[stream.agentCodec ?? stream.codec];
      assert.deepEqual([...call.pieceBytes], [frame], "exact frames of 20 ms");
    });
  }
});

for (const [title, otherCall] of [
  ["Telnyx in A-law", { CallSid: "v3:other" }],
  ["Jambonz in 16-bit samples", { call_sid: "other" }],
  ["Plivo in µ-law", { CallUUID: "other" }],
] as const) {
  test(`a token for another call opens no stream over ${title}`, async () => {
    const stream = VENDOR_STREAMS[title];
    assert.ok(stream);
    const customer = await server.customer();
    await server.agent(customer);
    const call = await VendorCall.connect(streamUrl(server, stream.vendor), stream);
    call.send(stream.start(await tokenFor(customer, stream.vendor, otherCall)));
    assert.equal(await call.closed, 4001);
    assert.deepEqual(await server.calls(customer), []);
  });
}

for (const [title, named] of [
  ["Twilio in µ-law", '"callSid":"CA1",'],
  ["Telnyx in A-law", '"call_control_id":"v3:ex",'],
  ["Plivo in µ-law", '"callId":"c1",'],
  ["Vonage in 16-bit samples", ',"callId":"u1"'],
] as const) {
  test(`a stolen token opens no stream without a call id over ${title}`, async () => {
    const stream = VENDOR_STREAMS[title];
    assert.ok(stream);
    const customer = await server.customer();
    await server.agent(customer);
    const call = await VendorCall.connect(streamUrl(server, stream.vendor), stream);
    const start = stream.start(await tokenFor(customer, stream.vendor));
    assert.ok(start.includes(named));
    call.send(start.replace(named, ""));
    assert.equal(await call.closed, 4001);
    assert.deepEqual(await server.calls(customer), []);
  });
}

test("Vonage, whose streams contain no call id, gets the id to pass on", async () => {
  const customer = await server.customer();
  await server.agent(customer);
  const url = webhookUrl(server, customer, { vendor: "vonage" });
  const response = await fetch(url, { method: "POST", body: '{"uuid":"u1"}' });
  assert.match(await response.text(), /"headers":\{"token":"[0-9a-f]+","callId":"u1"\}/);
});

test("an unknown vendor is refused", async () => {
  const [stream] = Object.values(VENDOR_STREAMS);
  assert.ok(stream);
  const call = await VendorCall.connect(streamUrl(server, "constructor"), stream);
  assert.equal(await call.closed, 4001);
});

test("audio at a rate that telephone calls do not have is refused", async () => {
  const stream = VENDOR_STREAMS["Vonage in 16-bit samples"];
  assert.ok(stream);
  const call = await VendorCall.connect(streamUrl(server, "vonage"), stream);
  call.send(stream.start("0a").replace("8000", "24000"));
  assert.equal(await call.closed, 1003);
});
