import assert from "node:assert/strict";
import { once } from "node:events";
import { test } from "node:test";
import { WebSocket } from "ws";
import {
  type BackendSocket,
  type HttpBackend,
  REFUSED_MESSAGE,
} from "../../../../api/http/backend/http-backend.js";
import { NodeBackend } from "../../../../api/http/backend/node-backend.js";
import { VirtualClock } from "../../../doubles/virtual-clock.js";
import { LoopbackClient } from "../loopback-client.js";
import { testFronts } from "./both-fronts.js";
import { RecordingDoor, type Visitor } from "./recording-door.js";

const MESSAGE_BYTES_MAX = 1_000;

function doorOn(front: HttpBackend): RecordingDoor {
  const route = new RecordingDoor(MESSAGE_BYTES_MAX);
  routes.set(front, route);
  front.webSocket("/ws/:name", route);
  return route;
}
const routes = new WeakMap<HttpBackend, RecordingDoor>();

function doorOf(front: HttpBackend): RecordingDoor {
  const route = routes.get(front);
  assert.ok(route);
  return route;
}

interface Dialled {
  readonly client: WebSocket;
  readonly socket: BackendSocket<Visitor>;
  /** The close code and the reason. */
  readonly closed: Promise<string>;
}

async function dial(front: HttpBackend, port: number, protocols: string[] = []): Promise<Dialled> {
  const client = new WebSocket(`ws://127.0.0.1:${port}/ws/ann`, protocols);
  client.on("error", () => undefined);
  const closed = new Promise<string>((resolve) => {
    client.once("close", (code, reason) => resolve(`${code} ${reason.toString()}`));
  });
  const [socket] = await Promise.all([doorOf(front).opened(), once(client, "open")]);
  return { client, socket, closed };
}

testFronts("text and binary messages arrive unchanged", doorOn, async ({ front, port }) => {
  const { client, socket } = await dial(front, port);
  const route = doorOf(front);
  client.send("grüße");
  client.send(Uint8Array.of(0, 255));
  client.send("");
  client.send(new Uint8Array(MESSAGE_BYTES_MAX));
  await route.until(() => route.messages.length === 4);
  assert.deepEqual(route.messages.slice(0, 3), ["text grüße", "bytes 00ff", "text "]);
  const received: string[] = [];
  const both = new Promise<void>((resolve) => {
    client.on("message", (data: Buffer, isBinary) => {
      received.push(isBinary ? data.toString("hex") : data.toString());
      if (received.length === 2) resolve();
    });
  });
  socket.send("grüße", false);
  socket.send(Uint8Array.of(0, 255), true);
  await both;
  assert.deepEqual(received, ["grüße", "00ff"]);
  assert.equal(socket.getBufferedAmount(), 0);
});

testFronts("a closed route responds with 503, and can reopen", doorOn, async ({ front, port }) => {
  const route = doorOf(front);
  route.isShut = true;
  const turnedAway = new WebSocket(`ws://127.0.0.1:${port}/ws/ann`);
  turnedAway.on("error", () => undefined);
  const answered = new Promise<string>((resolve) => {
    turnedAway.once("unexpected-response", (_request, response) => {
      const pieces: Buffer[] = [];
      response.on("data", (piece: Buffer) => pieces.push(piece));
      response.once("end", () =>
        resolve(`${response.statusCode} ${Buffer.concat(pieces).toString()}`),
      );
    });
  });
  assert.equal(
    await answered,
    '503 {"error":"this server takes no calls, and another one does","code":"unavailable"}',
  );
  route.isShut = false;
  const { client } = await dial(front, port);
  client.terminate();
});

testFronts("a route gets the client, and a ping is answered", doorOn, async ({ front, port }) => {
  const { client, socket } = await dial(front, port);
  assert.equal(socket.getUserData().told, "ann at 7f000001");
  client.ping("still there");
  const [echo] = await once(client, "pong");
  assert.equal(String(echo), "still there");
});

testFronts("the first of the offered protocols is chosen", doorOn, async ({ front, port }) => {
  assert.equal((await dial(front, port, ["one", "two"])).client.protocol, "one");
  assert.equal((await dial(front, port)).client.protocol, "");
});

testFronts(
  "the server's close is reported at once, and the client gets the reason",
  doorOn,
  async ({ front, port }) => {
    const { socket, closed } = await dial(front, port);
    socket.send("last words", false);
    socket.end(4029, "enough");
    assert.deepEqual(doorOf(front).closes, ["4029 enough"]);
    assert.equal(await closed, "4029 enough");
    assert.equal(doorOf(front).closes.length, 1);
  },
);

testFronts("the client's close is reported and answered", doorOn, async ({ front, port }) => {
  const route = doorOf(front);
  const first = await dial(front, port);
  first.client.close(4000, "bye");
  assert.equal(await first.closed, "4000 bye");
  const second = await dial(front, port);
  second.client.close();
  assert.equal(await second.closed, "1005 ");
  assert.deepEqual(route.closes, ["4000 bye", "1005 "]);
});

testFronts("a client that vanishes is reported as 1006", doorOn, async ({ front, port }) => {
  const { client } = await dial(front, port);
  const route = doorOf(front);
  client.terminate();
  await route.until(() => route.closes.length === 1);
  assert.match(route.closes.join(), /^1006/);
});

testFronts(
  "a route is notified when a slow client has read its backlog",
  doorOn,
  async ({ front, port }) => {
    const { client, socket } = await dial(front, port);
    const route = doorOf(front);
    let receivedBytes = 0;
    const whole = new Promise<void>((resolve) => {
      client.on("message", (data: Buffer, isBinary) => {
        if (isBinary) receivedBytes += data.byteLength;
        else resolve();
      });
    });
    client.pause();
    let sentBytes = 0;
    const piece = new Uint8Array(100_000);
    while (socket.getBufferedAmount() < 1_000_000) {
      socket.send(piece, true);
      sentBytes += piece.byteLength;
      await new Promise(setImmediate);
    }
    const drainedBefore = route.drainedCount;
    client.resume();
    await route.until(() => route.drainedCount > drainedBefore && socket.getBufferedAmount() === 0);
    socket.send("that was all", false);
    await whole;
    assert.equal(receivedBytes, sentBytes);
  },
);

testFronts("a message that is too large breaks the connection", doorOn, async ({ front, port }) => {
  const { client, closed } = await dial(front, port);
  client.send(new Uint8Array(MESSAGE_BYTES_MAX + 1));
  assert.equal(await closed, "1006 ");
  assert.deepEqual(doorOf(front).closes, [`1006 ${REFUSED_MESSAGE}`]);
  assert.deepEqual(doorOf(front).messages, []);
});

testFronts("a violation of the protocol breaks the connection", doorOn, async ({ front, port }) => {
  const notUtf8 = Buffer.from("8182000000 00c328".replaceAll(" ", ""), "hex");
  const reserved = Buffer.from("f18100000000 61".replaceAll(" ", ""), "hex");
  for (const bytes of [notUtf8, reserved]) {
    const { client, closed } = await dial(front, port);
    RecordingDoor.writeRaw(client, bytes);
    assert.equal(await closed, "1006 ", bytes.toString("hex"));
  }
  const route = doorOf(front);
  await route.until(() => route.closes.length === 2);
  for (const close of route.closes) assert.match(close, /^1006/);
  assert.deepEqual(route.messages, []);
});

testFronts("late readers get all data, then the reason", doorOn, async ({ front, port }) => {
  const { client, socket, closed } = await dial(front, port);
  let receivedBytes = 0;
  client.on("message", (data: Buffer) => {
    receivedBytes += data.length;
  });
  client.pause();
  const piece = new Uint8Array(64 * 1024);
  let sentBytes = 0;
  while (socket.getBufferedAmount() <= 1024 * 1024) {
    socket.send(piece, true);
    sentBytes += piece.length;
  }
  socket.end(1013, "too slow");
  client.resume();
  assert.equal(await closed, "1013 too slow");
  assert.equal(receivedBytes, sentBytes);
});

testFronts("a backend that closes breaks its sockets", doorOn, async ({ front, port }) => {
  const { closed } = await dial(front, port);
  front.close();
  assert.match(await closed, /^1006/);
  assert.match(doorOf(front).closes.join(), /^1006/);
});

function withDoorAndRoute(front: HttpBackend): void {
  doorOn(front);
  front.handle("any", "/*", (response, request) => {
    response.writeStatus("404 Not Found");
    response.end(request.getMethod());
  });
}

testFronts(
  "only a WebSocket GET request for its path reaches a route",
  withDoorAndRoute,
  async ({ port }, t) => {
    const client = new LoopbackClient(port);
    t.after(() => client.close());
    const wish =
      "host: x\r\nconnection: upgrade\r\nupgrade: websocket\r\n" +
      "sec-websocket-version: 13\r\nsec-websocket-key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n";
    for (const [line, method] of [
      ["GET /elsewhere HTTP/1.1\r\n", "get"],
      ["GET /ws/ HTTP/1.1\r\n", "get"],
      ["POST /ws/ann HTTP/1.1\r\ncontent-length: 0\r\n", "post"],
    ] as const) {
      const answer = await client.exchange(line + wish, /\r\n\r\n(get|post)$/);
      assert.match(answer, /^HTTP\/1\.1 404 /);
      assert.ok(answer.endsWith(method), line);
    }
    assert.equal((await client.get("/ws/ann")).status, 404);
    const accepted = await client.exchange(`GET /ws/ann HTTP/1.1\r\n${wish}`, /\r\n\r\n$/);
    assert.match(accepted, /^HTTP\/1\.1 101 /);
    assert.match(accepted, /sec-websocket-accept: s3pPLMBiTxaQ9kYGzzhZRbK\+xOo=\r\n/i);
  },
);

test("node: a silent client is pinged, and disconnected if it does not respond", async (t) => {
  const clock = new VirtualClock();
  const front = new NodeBackend(clock);
  const route = doorOn(front);
  const port = (await front.listen("127.0.0.1", 0)) ?? 0;
  t.after(() => front.close());
  const { client, closed } = await dial(front, port);
  const reads = once(client, "ping");
  clock.advance(52_000);
  await reads;
  // Its pong has arrived once the response to its later message has.
  client.send("here");
  await route.until(() => route.messages.length === 1);
  clock.advance(60_000);
  assert.deepEqual(route.closes, []);
  client.pause();
  clock.advance(60_000);
  assert.match(route.closes.join(), /^1006/);
  client.resume();
  assert.match(await closed, /^1006/);
});
