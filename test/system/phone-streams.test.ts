import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import { WebSocket } from "ws";
import type { CancelTimer } from "../../engine/time/clock.js";
import { VendorCall } from "./phone-vendor-call.js";
import { VENDOR_STREAMS, type VendorStream } from "./phone-vendor-streams.js";
import { closeServer, PacerWatch, streamUrl, webhookUrl } from "./telephone-stand.js";
import { type Customer, TestServer } from "./test-server.js";

const STREAM_TOKEN_LIFETIME_MS = 60_000;

const START_MAX_MS = 10_000;
const HURRIED_MS = 50;

/** The test can advance the date, and shorten the wait for a stream's start. */
class MovableClock extends PacerWatch {
  passedMs = 0;
  isHurried = false;

  override epochMs(): number {
    return super.epochMs() + this.passedMs;
  }

  override after(delayMs: number, action: () => void): CancelTimer {
    return super.after(this.isHurried && delayMs === START_MAX_MS ? HURRIED_MS : delayMs, action);
  }
}

const clock = new MovableClock();
let server: TestServer;
let twilio: VendorStream;
before(async () => {
  server = await TestServer.start({ clock });
  const stream = VENDOR_STREAMS["Twilio in µ-law"];
  assert.ok(stream);
  twilio = stream;
});
after(() => closeServer(server, clock));

async function customerWithAgent(): Promise<Customer> {
  const customer = await server.customer();
  await server.agent(customer, { persona: { greeting: "Hello there." } });
  return customer;
}

async function tokenFor(customer: Customer, callSid = "CA1"): Promise<string> {
  const body = new URLSearchParams({ CallSid: callSid });
  const response = await fetch(webhookUrl(server, customer), { method: "POST", body });
  const token = /value="([0-9a-f]+)"/.exec(await response.text())?.[1];
  assert.ok(token);
  return token;
}

function connect(): Promise<VendorCall> {
  return VendorCall.connect(streamUrl(server), twilio);
}

async function closeAfterStart(token: string): Promise<number> {
  const call = await connect();
  call.send(twilio.start(token));
  return call.closed;
}

async function assertNoCall(customer: Customer): Promise<void> {
  await server.settled();
  assert.deepEqual(await server.calls(customer), []);
}

describe("a stream is closed with 4001", () => {
  test("without a token, with a wrong one, and with an API key in its place", async () => {
    const customer = await customerWithAgent();
    const token = await tokenFor(customer);
    const last = token.endsWith("0") ? "1" : "0";
    for (const wrong of [
      "",
      "nonsense",
      "0".repeat(480),
      "0".repeat(5000),
      token.slice(0, -1) + last,
    ]) {
      assert.equal(await closeAfterStart(wrong), 4001);
    }
    assert.equal(await closeAfterStart(customer.apiKey), 4001);
    await assertNoCall(customer);
  });

  test("with a token that is a minute old", async () => {
    const customer = await customerWithAgent();
    const token = await tokenFor(customer);
    clock.passedMs += STREAM_TOKEN_LIFETIME_MS;
    assert.equal(await closeAfterStart(token), 4001);
    await assertNoCall(customer);
  });

  test("with a token that was stolen for another call; its owner can still use it", async () => {
    const customer = await customerWithAgent();
    const token = await tokenFor(customer, "CAowner");
    assert.equal(await closeAfterStart(token), 4001);
    const call = await connect();
    call.send(twilio.start(token).replace("CA1", "CAowner"));
    assert.equal(await call.said(1), "Hello there.");
    await call.end();
    await server.endedCall(customer);
  });

  test("with a token of another vendor's webhook, which does not verify the call's id", async () => {
    const customer = await customerWithAgent();
    const url = webhookUrl(server, customer, { vendor: "vonage" });
    const response = await fetch(url, { method: "POST", body: '{"uuid":"CA1"}' });
    const token = /"token":"([0-9a-f]+)"/.exec(await response.text())?.[1];
    assert.ok(token);
    assert.equal(await closeAfterStart(token), 4001);
    await assertNoCall(customer);
  });

  test("with a token in its address, where others could read it", async () => {
    const customer = await customerWithAgent();
    const url = `${streamUrl(server)}?token=${await tokenFor(customer)}`;
    const call = await VendorCall.connect(url, twilio);
    call.send(twilio.start("").replace('{"token":""}', "{}"));
    assert.equal(await call.closed, 4001);
    await assertNoCall(customer);
  });

  test("with a token of an organization that was suspended meanwhile", async () => {
    const customer = await customerWithAgent();
    const token = await tokenFor(customer);
    await server.tenancy.organizations.suspend(customer.email);
    assert.equal(await closeAfterStart(token), 4001);
    await assertNoCall(customer);
  });

  test("when it never starts", async () => {
    clock.isHurried = true;
    const call = await connect();
    call.say("nobody hears this");
    assert.equal(await call.closed, 4001);
    clock.isHurried = false;
  });
});

test("if two streams use one token, the first gets the call, and the second is closed with 4001", async () => {
  const customer = await customerWithAgent();
  const token = await tokenFor(customer);
  const first = await connect();
  const second = await connect();
  first.send(twilio.start(token));
  second.send(twilio.start(token));
  const closed = await Promise.race([first.closed, second.closed]);
  assert.equal(closed, 4001);
  assert.equal(await first.said(1), "Hello there.");
  assert.equal(await second.closed, 4001);
  await first.end();
  await server.endedCall(customer);
});

test("the WebSocket protocol that a vendor offers is accepted, or the first of several", async () => {
  for (const offered of [["audio.jambonz.org"], ["audio.drachtio.org", "other"]]) {
    const socket = new WebSocket(streamUrl(server, "jambonz"), offered);
    await new Promise((resolve) => {
      socket.once("open", resolve);
    });
    assert.equal(socket.protocol, offered[0]);
    const closed = new Promise((resolve) => {
      socket.once("close", resolve);
    });
    socket.close();
    await closed;
  }
});

test("a vendor that hangs up while STT is connecting leaves nothing behind", async () => {
  server.sandbox.faults.deepgram = { fault: "stallHandshake" };
  const customer = await customerWithAgent();
  const call = await connect();
  call.send(twilio.start(await tokenFor(customer)));
  await server.changes.until("the call", async () => (await server.calls(customer))[0]);
  call.drop();
  const { metadata, status } = await server.endedCall(customer);
  server.sandbox.faults.deepgram = {};
  assert.equal(status, "completed");
  assert.equal(metadata["endReason"], "callerLeft");
});

test("an STT vendor that refuses ends the call with 1011", async () => {
  server.sandbox.faults.deepgram = { fault: "unauthorized" };
  const customer = await customerWithAgent();
  const code = await closeAfterStart(await tokenFor(customer));
  server.sandbox.faults.deepgram = {};
  assert.equal(code, 1011);
  assert.equal((await server.endedCall(customer)).status, "failed");
});

test("a stopping server tells the calls in progress so and ends them with 1012", async () => {
  const stopping = await TestServer.start();
  const customer = await stopping.customer();
  await stopping.agent(customer, { persona: { greeting: "Hello there." } });
  const response = await fetch(webhookUrl(stopping, customer), { method: "POST" });
  const token = /value="([0-9a-f]+)"/.exec(await response.text())?.[1] ?? "";
  const call = await VendorCall.connect(streamUrl(stopping), twilio);
  call.send(twilio.start(token));
  await call.said(1);
  await stopping.stop();
  assert.equal(await call.closed, 1012);
});
