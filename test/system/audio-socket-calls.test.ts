import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import { freePorts } from "../../bench/livestream/free-ports.js";
import { AGENT_HUNG_UP } from "../../engine/conversation/call-end.js";
import type { CancelTimer } from "../../engine/time/clock.js";
import { RecordingLogger } from "../doubles/recording-logger.js";
import { AudioSocketPhone, frame, speechFrames, uuidFrame } from "./audio-socket-phone.js";
import { VendorCall } from "./phone-vendor-call.js";
import { VENDOR_STREAMS } from "./phone-vendor-streams.js";
import { closeServer, PacerWatch, streamUrl, webhookUrl } from "./telephone-stand.js";
import { type Customer, TestServer } from "./test-server.js";

const STREAM_TOKEN_LIFETIME_MS = 60_000;

const UUID = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;
const UUID_MAX_MS = 10_000;
const SECOND_BYTES = 16_000;
const HURRIED_MS = 50;

/** The test can advance the date, and shorten the wait for a UUID. */
class MovableClock extends PacerWatch {
  passedMs = 0;
  isHurried = false;

  override monotonicMs(): number {
    return super.monotonicMs() + this.passedMs;
  }

  override after(delayMs: number, action: () => void): CancelTimer {
    return super.after(this.isHurried && delayMs === UUID_MAX_MS ? HURRIED_MS : delayMs, action);
  }
}

const clock = new MovableClock();
const log = new RecordingLogger();
const givenOut: string[] = [];
let port: number;
let server: TestServer;
before(async () => {
  [port = 0] = await freePorts(1);
  server = await TestServer.start({ clock, log, environment: { AUDIOSOCKET_PORT: String(port) } });
});
after(() => closeServer(server, clock));

async function customerWithAgent(): Promise<Customer> {
  const customer = await server.customer();
  await server.agent(customer, { persona: { greeting: "Hello there." } });
  return customer;
}

/** Requests what the dialplan's CURL() does. */
async function ask(customer: Customer, on = server): Promise<Response> {
  const body = new URLSearchParams({ channel: "1763750400.7" });
  return fetch(webhookUrl(on, customer, { vendor: "audiosocket" }), { method: "POST", body });
}

async function uuidFor(customer: Customer): Promise<string> {
  const response = await ask(customer);
  const uuid = await response.text();
  assert.match(uuid, UUID);
  givenOut.push(uuid);
  assert.match(response.headers.get("content-type") ?? "", /^text\/plain/);
  return uuid;
}

async function begin(customer: Customer): Promise<AudioSocketPhone> {
  const phone = await AudioSocketPhone.connect(port);
  phone.send(uuidFrame(await uuidFor(customer)));
  return phone;
}

/** The server must close the connection and store nothing. */
async function assertTurnedAway(phone: AudioSocketPhone, customer: Customer): Promise<void> {
  assert.equal(await phone.closed, false);
  await server.settled();
  assert.deepEqual(await server.calls(customer), []);
}

test("agent and caller understand each other, and the caller can interrupt and hang up", async () => {
  const customer = await customerWithAgent();
  const phone = await begin(customer);
  await phone.heard("Hello there.");
  phone.say("say thank you");
  await phone.heard("thank you");
  phone.say("count to 20");
  phone.forget();
  await phone.changes.until("the agent to begin", () => phone.heardBytes > SECOND_BYTES);
  phone.say("say bye");
  await phone.heard("bye");
  phone.hangUp();
  await phone.closed;
  const { channel, status, transcript, metrics } = await server.endedCall(customer);
  assert.deepEqual([channel, status], ["phone", "completed"]);
  assert.equal(metrics.interruptions, 1);
  assert.deepEqual(
    transcript.slice(0, 4).map(({ role, text }) => `${role}: ${text}`),
    ["assistant: Hello there.", "user: say thank you", "assistant: thank you", "user: count to 20"],
  );
  assert.deepEqual([...phone.audioBytes], [320], "exact frames of 20 ms");
});

test("a dialplan that requests it gets the address of the next step, until the call is over", async () => {
  const customer = await customerWithAgent();
  const body = new URLSearchParams({ call: "1763750400.7" });
  const next = async (url: string): Promise<readonly string[]> =>
    (await (await fetch(url, { method: "POST", body })).text()).split("|");
  const query = { vendor: "audiosocket", continue: "yes" };
  const [uuid = "", continueUrl = ""] = await next(webhookUrl(server, customer, query));
  const phone = await AudioSocketPhone.connect(port);
  phone.send(uuidFrame(uuid));
  await phone.heard("Hello there.");
  phone.socket.destroy();
  const [otherUuid = "", lastUrl = ""] = await next(continueUrl);
  assert.match(otherUuid, UUID);
  givenOut.push(uuid, otherUuid);
  const again = await AudioSocketPhone.connect(port);
  again.send(uuidFrame(otherUuid));
  await again.heard("I am sorry, the line was interrupted. Where were we?");
  const [live] = server.parley.calls.slots.callsOf(customer.tenant.organization.id);
  server.parley.calls.liveCalls.find(live ?? "")?.end(AGENT_HUNG_UP);
  await again.closed;
  assert.deepEqual(await next(lastUrl), ["over"]);
  await server.settled();
  const [first, second] = await server.calls(customer);
  assert.equal(second?.metadata["continues"], first?.id);
});

test("a stream that arrives byte by byte is handled the same", async () => {
  const customer = await customerWithAgent();
  const phone = await AudioSocketPhone.connect(port);
  for (const byte of uuidFrame(await uuidFor(customer))) phone.send(Uint8Array.of(byte));
  await phone.heard("Hello there.");
  const speech = speechFrames("say thank you");
  for (let at = 0; at < speech.length; at += 7) phone.send(speech.subarray(at, at + 7));
  await phone.heard("thank you");
  phone.hangUp();
  await server.endedCall(customer);
});

test("DTMF digits arrive; unknown kinds, errors, odd and empty frames are ignored", async () => {
  const customer = await customerWithAgent();
  const phone = await begin(customer);
  await phone.heard("Hello there.");
  phone.send(frame(0x42, Buffer.alloc(65_535, 0x55)));
  phone.send(frame(0xff, Buffer.from([1])));
  phone.send(frame(0x10, Buffer.alloc(0)));
  phone.send(frame(0x10, Buffer.alloc(321)));
  phone.send(frame(0x03, Buffer.from("banana")));
  phone.send(uuidFrame(crypto.randomUUID()));
  phone.press("4");
  phone.press("2");
  await server.changes.until("the reply to the digits", async () => {
    const [call] = await server.calls(customer);
    return call?.transcript.some(({ text }) => text.includes("4") && text.includes("2"));
  });
  phone.socket.destroy();
  assert.equal((await server.endedCall(customer)).status, "completed");
});

test("an agent that hangs up sends a hang-up frame", async () => {
  const customer = await server.customer();
  const tools = [{ type: "hangup" } as const];
  await server.agent(customer, { persona: { greeting: "Hello there." }, tools });
  const phone = await begin(customer);
  await phone.heard("Hello there.");
  phone.say("hang up please");
  assert.equal(await phone.closed, true);
  assert.equal((await server.endedCall(customer)).metadata["endReason"], "agentHungUp");
});

describe("a connection is closed, and no call begins", () => {
  test("with an unknown UUID", async () => {
    const customer = await customerWithAgent();
    const phone = await AudioSocketPhone.connect(port);
    phone.send(uuidFrame(crypto.randomUUID()));
    await assertTurnedAway(phone, customer);
  });

  test("with a UUID that is a minute old", async () => {
    const customer = await customerWithAgent();
    const uuid = await uuidFor(customer);
    clock.passedMs += STREAM_TOKEN_LIFETIME_MS;
    const phone = await AudioSocketPhone.connect(port);
    phone.send(uuidFrame(uuid));
    await assertTurnedAway(phone, customer);
  });

  test("with a UUID of an organization that was suspended meanwhile", async () => {
    const customer = await customerWithAgent();
    const uuid = await uuidFor(customer);
    await server.tenancy.organizations.suspend(customer.email);
    const phone = await AudioSocketPhone.connect(port);
    phone.send(uuidFrame(uuid));
    await assertTurnedAway(phone, customer);
  });

  test("when it does not begin with a UUID", async () => {
    const customer = await customerWithAgent();
    for (const bytes of [
      Buffer.from("GET / HTTP/1.1\r\n\r\n"),
      speechFrames("hello"),
      frame(0x01, Buffer.from("short")),
      frame(0x00),
    ]) {
      const phone = await AudioSocketPhone.connect(port);
      phone.send(bytes);
      await assertTurnedAway(phone, customer);
    }
  });

  test("when it sends nothing, or half of a UUID", async () => {
    const customer = await customerWithAgent();
    clock.isHurried = true;
    const silent = await AudioSocketPhone.connect(port);
    const slow = await AudioSocketPhone.connect(port);
    slow.send(uuidFrame(crypto.randomUUID()).subarray(0, 10));
    await assertTurnedAway(silent, customer);
    await assertTurnedAway(slow, customer);
    clock.isHurried = false;
  });

  test("on the WebSocket, which this vendor does not use", async () => {
    const stream = VENDOR_STREAMS["Vonage in 16-bit samples"];
    assert.ok(stream);
    const call = await VendorCall.connect(streamUrl(server, "audiosocket"), stream);
    assert.equal(await call.closed, 4001);
  });
});

test("if two connections use one UUID, the first gets the call", async () => {
  const customer = await customerWithAgent();
  const uuid = await uuidFor(customer);
  const first = await AudioSocketPhone.connect(port);
  first.send(uuidFrame(uuid));
  await first.heard("Hello there.");
  const second = await AudioSocketPhone.connect(port);
  second.send(uuidFrame(uuid));
  assert.equal(await second.closed, false);
  first.hangUp();
  await server.endedCall(customer);
});

test("an STT vendor that refuses ends the call with a hang-up frame", async () => {
  server.sandbox.faults.deepgram = { fault: "unauthorized" };
  const customer = await customerWithAgent();
  const phone = await begin(customer);
  assert.equal(await phone.closed, true);
  server.sandbox.faults.deepgram = {};
  assert.equal((await server.endedCall(customer)).status, "failed");
});

test("a refused caller gets a message instead of a UUID", async () => {
  const customer = await server.customer();
  const refused = await ask(customer);
  assert.equal(refused.status, 200);
  assert.match(await refused.text(), /^This call cannot be taken: /);
  assert.equal((await ask({ ...customer, apiKey: "vk_wrong" })).status, 401);
});

test("the log contains neither API keys, UUIDs nor spoken words", async () => {
  const lines = JSON.stringify(log.lines);
  assert.match(lines, /AudioSocket connection was closed/);
  assert.doesNotMatch(lines, /vk_|hello there|1763750400/i);
  assert.ok(givenOut.length > 5 && givenOut.every((uuid) => !lines.includes(uuid)));
});
