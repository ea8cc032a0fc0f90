import assert from "node:assert/strict";
import { connect, type Socket } from "node:net";
import { type TestContext, test } from "node:test";
import { setImmediate as nextTurn } from "node:timers/promises";
import { LAST_ANSWERS_MAX_MS } from "../../../api/livestream/livestream-server.js";
import { StateApi } from "./state-api.js";

const GET_STREAMS = "GET /streams HTTP/1.1\r\nhost: x\r\n\r\n";
const STREAMS = 400;
const DEAF_CLIENTS = 12;

/** A state API whose list has eight megabytes or more: too many for the system to accept at once. */
async function crowded(t: TestContext, addressChars = 20_000): Promise<StateApi> {
  const publicBaseUrl = `https://${"x".repeat(addressChars)}.example`;
  const api = await StateApi.start(t, { publicBaseUrl });
  for (let count = 0; count < STREAMS; count += 1) await api.publish(`stream-${count}`);
  return api;
}

async function deaf(t: TestContext, port: number, request: string): Promise<Socket> {
  const socket = connect(port, "127.0.0.1");
  t.after(() => socket.destroy());
  socket.on("error", () => undefined);
  socket.pause();
  await new Promise<void>((resolve) => {
    socket.once("connect", resolve);
  });
  await new Promise((resolve) => socket.write(request, resolve));
  return socket;
}

test("clients that send requests and never read use none of our memory, and delay no other", async (t) => {
  const api = await crowded(t, 60_000);
  const { text } = await api.client.get("/streams");
  const before = process.memoryUsage();
  for (let count = 0; count < DEAF_CLIENTS; count += 1) await deaf(t, api.port, GET_STREAMS);
  assert.equal((await api.client.get("/health")).status, 200);
  const grownBytes = process.memoryUsage().rss - before.rss;
  // Each would hold a copy of what the system does not take of 24 megabytes.
  assert.ok(grownBytes < (DEAF_CLIENTS / 4) * text.length, `${grownBytes} bytes`);
  assert.equal((await api.client.get("/streams")).text, text);
});

test("a client that reads late gets the list as of its request", async (t) => {
  const api = await crowded(t);
  const { text } = await api.client.get("/streams");
  const socket = await deaf(t, api.port, GET_STREAMS);
  assert.equal((await api.client.get("/health")).status, 200);
  await api.unpublish("stream-3");
  assert.equal((await api.streams()).length, STREAMS - 1);
  const parts: Buffer[] = [];
  let receivedBytes = 0;
  const whole = new Promise<void>((resolve) => {
    socket.on("data", (part) => {
      parts.push(part);
      receivedBytes += part.length;
      if (receivedBytes > text.length) resolve();
    });
  });
  socket.resume();
  await whole;
  const received = Buffer.concat(parts).toString();
  assert.equal(received.slice(received.indexOf("\r\n\r\n") + 4), text);
});

test("a client that asks on and on without reading is cut off", async (t) => {
  const api = await crowded(t);
  const socket = await deaf(t, api.port, GET_STREAMS.repeat(50));
  const closed = new Promise((resolve) => socket.once("close", resolve));
  assert.equal((await api.client.get("/health")).status, 200);
  let receivedBytes = 0;
  socket.on("data", (part) => {
    receivedBytes += part.length;
  });
  socket.resume();
  await closed;
  const { text } = await api.client.get("/streams");
  assert.ok(receivedBytes < 2 * text.length, `${receivedBytes} bytes`);
});

test("a body that arrives byte by byte gets half a minute, and delays no other", async (t) => {
  const api = await StateApi.start(t);
  const socket = connect(api.port, "127.0.0.1");
  t.after(() => socket.destroy());
  const received: string[] = [];
  socket.on("data", (part) => received.push(part.toString()));
  const closed = new Promise((resolve) => socket.once("close", resolve));
  socket.write(
    "POST /webhook/on-publish HTTP/1.1\r\nhost: x\r\ncontent-length: 40\r\n" +
      "content-type: application/x-www-form-urlencoded\r\n\r\nname=al",
  );
  for (let count = 0; count < 29; count += 1) {
    socket.write("x");
    assert.equal((await api.publish("bob")).status, 200);
    api.clock.advance(1_000);
  }
  assert.deepEqual(received, []);
  while (received.length === 0) {
    api.clock.advance(1_000);
    await nextTurn();
  }
  assert.match(received[0] ?? "", /^HTTP\/1\.1 408 /);
  await closed;
  assert.deepEqual(await api.keys(), ["bob"]);
});

test("a head that is too large is refused", async (t) => {
  const api = await StateApi.start(t);
  const answer = await api.client.exchange(
    `GET /streams?${"x".repeat(40_000)} HTTP/1.1\r\nhost: x\r\n\r\n`,
  );
  assert.doesNotMatch(answer, /^HTTP\/1\.1 200/);
  assert.equal((await api.client.get("/health")).status, 200);
});

test("a request for two hosts, or for none, is refused", async (t) => {
  const api = await StateApi.start(t);
  for (const hosts of ["host: x\r\nhost: y\r\n", "host: x\r\nHost: x\r\n", "accept: */*\r\n"]) {
    const answer = await api.client.exchange(`GET /health HTTP/1.1\r\n${hosts}\r\n`);
    assert.match(answer, /^HTTP\/1\.1 400 /, hosts);
  }
});

test("an answer under way is sent whole although the service stops", async (t) => {
  const api = await crowded(t);
  const { text } = await api.client.get("/streams");
  const socket = await deaf(t, api.port, GET_STREAMS);
  assert.equal((await api.client.get("/health")).status, 200);
  const stopped = api.stop();
  let receivedBytes = 0;
  socket.on("data", (part) => {
    receivedBytes += part.length;
  });
  socket.resume();
  await stopped;
  while (receivedBytes <= text.length) await nextTurn();
});

test("a stop does not wait forever for a client that does not read", async (t) => {
  const api = await crowded(t);
  const socket = await deaf(t, api.port, GET_STREAMS);
  assert.equal((await api.client.get("/health")).status, 200);
  const closed = new Promise((resolve) => socket.once("close", resolve));
  const stopped = api.stop();
  api.clock.advance(LAST_ANSWERS_MAX_MS);
  await stopped;
  socket.resume();
  await closed;
});
