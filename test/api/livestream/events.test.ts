import assert from "node:assert/strict";
import { connect, type Socket } from "node:net";
import { type TestContext, test } from "node:test";
import { setImmediate as nextTurn } from "node:timers/promises";
import { LISTENER_BACKLOG_BYTES_MAX } from "../../../api/livestream/event-feed.js";
import { StateApi } from "./state-api.js";

const BATCH_MS = 20;

async function until(holds: () => boolean | Promise<boolean>): Promise<void> {
  while (!(await holds())) await nextTurn();
}

/** Asks for the events and never reads what comes. */
function deafListener(t: TestContext, port: number): Socket {
  const socket = connect(port, "127.0.0.1");
  t.after(() => socket.destroy());
  socket.on("error", () => undefined);
  socket.pause();
  socket.write("GET /streams/events HTTP/1.1\r\nhost: x\r\n\r\n");
  return socket;
}

const CROWD = 400;
const ENDED_TOO_SLOW = 'parley_livestream_listeners_ended_total{outcome="tooSlow"} 1';

/** A state API whose snapshot has more megabytes than the system accepts at once. */
async function crowded(t: TestContext): Promise<StateApi> {
  const api = await StateApi.start(t, { publicBaseUrl: `https://${"x".repeat(20_000)}.example` });
  for (let count = 0; count < CROWD; count += 1) {
    await api.publish(`stream-${count}`, { session: "s0" });
  }
  return api;
}

async function gauge(api: StateApi, line: string): Promise<boolean> {
  return (await api.client.get("/metrics")).text.includes(`\n${line}\n`);
}

test("events begin with a snapshot and continue with every change, in order", async (t) => {
  const api = await StateApi.start(t);
  await api.publish("alice", { session: "1" });
  const listener = await api.listen(t);
  assert.deepEqual(
    [listener.status, listener.headers["content-type"], listener.headers["x-accel-buffering"]],
    [200, "text/event-stream; charset=utf-8", "no"],
  );
  assert.equal(listener.headers["access-control-allow-origin"], "*");
  const [alice] = await api.streams();
  assert.deepEqual(await listener.next(), {
    name: "snapshot",
    data: { count: 1, streams: [alice] },
  });

  await api.publish("bob");
  const [, bob] = await api.streams();
  api.clock.advance(5);
  await api.publish("alice", { session: "2" });
  const replaced = (await api.streams()).find(({ streamKey }) => streamKey === "alice");
  await api.publish("alice", { session: "2" });
  await api.unpublish("bob");
  await api.unpublish("bob");
  api.clock.advance(BATCH_MS);
  assert.deepEqual(await listener.next(), { name: "added", data: bob });
  assert.deepEqual(await listener.next(), { name: "replaced", data: replaced });
  assert.deepEqual(await listener.next(), { name: "removed", data: { streamKey: "bob" } });
  assert.notEqual(replaced?.["startedAt"], alice?.["startedAt"]);
});

test("the end of a lease is an event", async (t) => {
  const api = await StateApi.start(t);
  await api.publish("alice", { ttl: "5" });
  const listener = await api.listen(t);
  await listener.next();
  api.clock.advance(5_000 + BATCH_MS);
  assert.deepEqual(await listener.next(), { name: "removed", data: { streamKey: "alice" } });
});

test("the contents of a snapshot are not sent to its listener again", async (t) => {
  const api = await StateApi.start(t);
  const early = await api.listen(t);
  await early.next();
  await api.publish("alice");
  const late = await api.listen(t);
  assert.deepEqual((await late.next()).data["count"], 1);
  assert.equal((await early.next()).name, "added");
  await api.unpublish("alice");
  api.clock.advance(BATCH_MS);
  assert.equal((await late.next()).name, "removed");
  assert.equal((await early.next()).name, "removed");
});

test("silence is broken by heartbeats", async (t) => {
  const api = await StateApi.start(t);
  const listener = await api.listen(t);
  await listener.next();
  for (const _beat of ["one", "two"]) {
    api.clock.advance(15_000);
    await listener.heartbeat();
  }
});

test("the number of listeners is limited, and a place is free again when one leaves", async (t) => {
  const api = await StateApi.start(t, { listenersMax: 1 });
  const first = await api.listen(t);
  await first.next();
  const refused = await api.client.get("/streams/events");
  assert.deepEqual([refused.status, refused.headers["retry-after"]], [503, "5"]);
  assert.equal(refused.headers["access-control-allow-origin"], "*");
  assert.match(refused.text, /too many event listeners/);
  first.close();
  await until(() => gauge(api, 'parley_livestream_listeners_ended_total{outcome="gone"} 1'));
  const second = await api.listen(t);
  assert.equal((await second.next()).name, "snapshot");
});

test("other verbs on the events", async (t) => {
  const api = await StateApi.start(t);
  const preflight = await api.client.send("OPTIONS", "/streams/events");
  assert.deepEqual(
    [preflight.status, preflight.headers.allow, preflight.headers["access-control-allow-origin"]],
    [204, "GET, HEAD, OPTIONS", "*"],
  );
  assert.equal((await api.client.send("POST", "/streams/events", { body: {} })).status, 405);
});

/** More than the kernel keeps of a connection on loopback: its buffers grow to 4 MiB for sending and 6 MiB for receiving. */
const KERNEL_BYTES_MAX = 12 * 1024 * 1024;

test("a listener that stops reading is dropped, and the others receive everything", async (t) => {
  const api = await crowded(t);
  const deaf = deafListener(t, api.port);
  const listener = await api.listen(t);
  assert.equal((await listener.next()).data["count"], CROWD);
  await until(() => gauge(api, "parley_livestream_listeners 2"));
  const ended = new Promise((resolve) => deaf.once("close", resolve));
  let toldBytes = 0;
  api.clock.advance(1);
  for (let session = 1; !(await gauge(api, ENDED_TOO_SLOW)); session += 1) {
    for (let count = 0; count < 10; count += 1) {
      await api.publish(`stream-${count}`, { session: `s${session}` });
    }
    // Another start, so that the streams have changed.
    api.clock.advance(BATCH_MS);
    for (let count = 0; count < 10; count += 1) {
      const { name, data } = await listener.next();
      assert.deepEqual([name, data["streamKey"]], ["replaced", `stream-${count}`]);
      toldBytes += JSON.stringify(data).length;
    }
    assert.ok(toldBytes < KERNEL_BYTES_MAX + LISTENER_BACKLOG_BYTES_MAX, "no listener was dropped");
  }
  assert.ok(toldBytes > LISTENER_BACKLOG_BYTES_MAX);
  deaf.resume();
  await ended;
  assert.equal(
    api.logger.ofLevel("warn").at(-1)?.message,
    "a listener was dropped: it did not read in time",
  );
  assert.ok(await gauge(api, "parley_livestream_listeners 1"));
});

test("a listener that has not read for half a minute is dropped", async (t) => {
  const api = await crowded(t);
  deafListener(t, api.port);
  await until(() => gauge(api, "parley_livestream_listeners 1"));
  api.clock.advance(29_999);
  assert.ok(await gauge(api, "parley_livestream_listeners 1"));
  api.clock.advance(1);
  await until(() => gauge(api, ENDED_TOO_SLOW));
});

test("a slow listener gets the whole snapshot, and then the later changes", async (t) => {
  const api = await crowded(t);
  const socket = deafListener(t, api.port);
  await until(() => gauge(api, "parley_livestream_listeners 1"));
  await api.unpublish("stream-7");
  api.clock.advance(BATCH_MS);
  const parts: string[] = [];
  const last = new Promise<void>((resolve) => {
    socket.setEncoding("latin1");
    socket.on("data", (part: string) => {
      parts.push(part);
      if (parts.slice(-2).join("").includes('{"streamKey":"stream-7"}\n\n')) resolve();
    });
  });
  socket.resume();
  await last;
  const text = withoutChunks(parts.join(""));
  const snapshot = /^data: (\{"count".*)$/m.exec(text)?.[1] ?? "";
  assert.equal(JSON.parse(snapshot).streams.length, CROWD);
  assert.ok(text.indexOf("event: removed") > text.indexOf(snapshot));
});

test("listeners are notified when the service stops, and their responses end completely", async (t) => {
  const api = await StateApi.start(t);
  const listener = await api.listen(t);
  await listener.next();
  await api.publish("alice");
  await api.stop();
  assert.equal((await listener.next()).name, "added");
  assert.deepEqual(await listener.next(), {
    name: "closing",
    data: { reason: "the service is stopping" },
  });
  await listener.closed;
});

/** The body of an answer in chunked transfer coding; all of it is ASCII. */
function withoutChunks(answer: string): string {
  let rest = answer.slice(answer.indexOf("\r\n\r\n") + 4);
  let body = "";
  for (;;) {
    const head = /^(?:\r\n)?([0-9a-fA-F]+)\r\n/.exec(rest);
    const length = Number.parseInt(head?.[1] ?? "0", 16);
    if (head === null || length === 0) return body;
    body += rest.slice(head[0].length, head[0].length + length);
    rest = rest.slice(head[0].length + length);
  }
}
