import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import { bytesOf } from "../../engine/sandbox/telephone/telephone-audio.js";
import { encodeSpeech } from "../../engine/sandbox/telephone/tone-code.js";
import type { CallRecord } from "../../storage/records.js";
import { frontUnderTest } from "../doubles/front-under-test.js";
import { SeededRandom } from "../simulation/seeded-random.js";
import { closeOf, ended, repliesOf, spoke, textOf, understood } from "./events.js";
import { RawClient } from "./raw-client.js";
import { type Customer, TestServer } from "./test-server.js";

const FRAME_BYTES_MAX = 64 * 1024;
const SOCKET_BYTES_MAX = 1024 * 1024;
/** Speech and enough silence after it to end the turn. */
const SAY_OK = Buffer.concat([bytesOf(encodeSpeech("say ok", 16_000)), Buffer.alloc(16_000)]);

let server: TestServer;
before(async () => {
  server = await TestServer.start();
});
after(() => server.close());

async function newCustomer(): Promise<Customer> {
  const customer = await server.customer();
  await server.agent(customer);
  return customer;
}

function endOf({ status, metadata }: CallRecord): string {
  return `${status} ${String(metadata["endReason"])}`;
}

describe("invalid frames", { concurrency: true }, () => {
  test("text frames are ignored, whatever they contain", async () => {
    const customer = await newCustomer();
    const caller = await server.call(customer);
    for (const text of ["", "hello", '{"type":"audioStop"}', "x".repeat(100_000)]) {
      caller.send(text);
    }
    await caller.say("say ok");
    await caller.until(ended);
    assert.deepEqual(repliesOf(caller), ["ok"]);
    await caller.hangUp();
  });

  test("the last byte of a frame of odd length is carried over to the next frame", async () => {
    const customer = await newCustomer();
    const caller = await server.call(customer);
    caller.mute();
    for (let at = 0; at < SAY_OK.length; at += 1_001) caller.send(SAY_OK.subarray(at, at + 1_001));
    await caller.until(ended);
    assert.deepEqual(repliesOf(caller), ["ok"]);
    await caller.hangUp();
  });

  test("audio before `connected` is kept", async () => {
    const customer = await newCustomer();
    const client = new RawClient(server, customer);
    await client.opened();
    assert.deepEqual(client.texts, []);
    client.send(SAY_OK);
    await client.text(/"role":"assistant","text":"ok"/);
    const [first] = client.texts;
    assert.match(first ?? "", /connected/);
    client.drop();
  });

  test("noise and garbage as audio do not end the call", async () => {
    const customer = await newCustomer();
    const caller = await server.call(customer);
    const random = new SeededRandom(1);
    const noise = Uint8Array.from({ length: 32_001 }, () => random.whole(0, 255));
    caller.send(noise);
    caller.send(new Uint8Array(0));
    caller.send(Uint8Array.of(255));
    await caller.play("a pause", Buffer.alloc(16_000));
    await caller.say("say ok");
    await caller.until((event) => understood(event) && /say ok/.test(textOf(event)));
    // Does not wait for the end: if the noise was taken for a word, the reply is a long one.
    await caller.until(spoke);
    await caller.hangUp();
    const call = await server.endedCall(customer);
    assert.equal(endOf(call), "completed callerLeft");
    assert.match(call.transcript.map(({ text }) => text).join(" "), /say ok/);
  });

  test("a frame of 64 KiB is accepted, and one of one byte more closes with 1009", async () => {
    const customer = await newCustomer();
    const caller = await server.call(customer);
    caller.send(Buffer.alloc(FRAME_BYTES_MAX));
    caller.send(Buffer.alloc(FRAME_BYTES_MAX + 1));
    const close = await closeOf(caller);
    const reason = "an audio frame may have at most 65536 bytes";
    assert.deepEqual(close, { code: 1009, reason, error: reason });
    assert.equal(endOf(await server.endedCall(customer)), "failed callerProtocol");
  });

  test("a minute of audio may arrive at once, and more closes with 1008", async () => {
    const customer = await newCustomer();
    const caller = await server.call(customer);
    // Each frame has two seconds of audio, and some time has passed since the first.
    for (let sentMs = 0; sentMs < 120_000; sentMs += 2_000) caller.send(Buffer.alloc(64_000));
    const close = await closeOf(caller);
    const reason = "audio arrived more than 60 s ahead of real time";
    assert.deepEqual(close, { code: 1008, reason, error: reason });
    assert.equal(endOf(await server.endedCall(customer)), "failed callerTooFast");
  });

  test("a frame over 64 KiB before `connected` closes with 1009 too", async () => {
    const customer = await newCustomer();
    const client = new RawClient(server, customer);
    await client.opened();
    client.send(Buffer.alloc(FRAME_BYTES_MAX + 1));
    assert.equal((await client.closed).code, 1009);
    assert.match(client.texts.join(), /at most 65536 bytes/);
  });

  test("a frame of megabytes closes with 1009 if the library supports that, and the record says why", async () => {
    const customer = await newCustomer();
    const caller = await server.call(customer);
    caller.send(Buffer.alloc(SOCKET_BYTES_MAX + 1));
    const reason = "an audio frame may have at most 65536 bytes";
    const close = await closeOf(caller);
    // uWebSockets.js destroys the connection without calling the server's handlers.
    const isClosed = frontUnderTest.choice === "node";
    assert.equal(close.code, isClosed ? 1009 : 1006);
    if (isClosed) assert.deepEqual(close, { code: 1009, reason, error: reason });
    assert.equal(endOf(await server.endedCall(customer)), "failed callerProtocol");
  });

  test("bytes that are not a WebSocket frame end the call", async () => {
    const customer = await newCustomer();
    const client = new RawClient(server, customer);
    await client.text(/connected/);
    client.breakProtocol(Buffer.from("GET / HTTP/1.1\r\n\r\n"));
    await client.closed;
    assert.equal(endOf(await server.endedCall(customer)), "completed callerLeft");
  });
});
