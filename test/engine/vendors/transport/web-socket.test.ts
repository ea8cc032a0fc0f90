import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { getEventListeners, once } from "node:events";
import type { Duplex } from "node:stream";
import { afterEach, beforeEach, describe, it } from "node:test";
import { type Clock, SystemClock } from "../../../../engine/time/clock.js";
import { VendorError } from "../../../../engine/vendors/contracts.js";
import { Connections } from "../../../../engine/vendors/transport/connections.js";
import {
  openSocket,
  type RefusedUpgrade,
} from "../../../../engine/vendors/transport/web-socket.js";
import { VirtualClock } from "../../../doubles/virtual-clock.js";
import { eventually, never } from "../sandboxed-vendors.js";
import { ScriptedSocketServer } from "../scripted-socket-server.js";
import { authority, ScriptedTlsServer } from "../scripted-tls-server.js";

/** What a server answers the key of an upgrade with, and how it says that it is going away (RFC 6455). */
const ACCEPT_ID = "258EAFA5-E914-47DA-95CA-C5AB0DC85B11";
const GOING_AWAY = Buffer.from([0x88, 2, 0x03, 0xe9]);
/** The same from a client, which masks it. */
const ANSWER_BYTES = GOING_AWAY.length + 4;
const REFUSAL_MAX_BYTES = 4 * 1024;
const EARLY_MESSAGES_MAX = 16;

describe("a WebSocket to a vendor", () => {
  let server: ScriptedSocketServer;
  let connections: Connections;
  let refused: RefusedUpgrade | undefined;

  beforeEach(async () => {
    server = new ScriptedSocketServer();
    await server.start();
    connections = new Connections({ clock: new SystemClock(), allowPrivateAddresses: true });
    refused = undefined;
  });

  afterEach(async () => {
    await connections.close();
    await server.close();
  });

  function open(
    signal = never(),
    clock: Clock = new SystemClock(),
    { offersCompression } = { offersCompression: false },
  ) {
    const { url } = server;
    const connect = connections.forSocket(false);
    const refuse = (answer: RefusedUpgrade) => {
      refused = answer;
      return new VendorError("acme", "refused", "acme: no");
    };
    const means = { connect, clock, openTimeoutMs: 5_000, offersCompression, refuse };
    return openSocket({ vendor: "acme", url, headers: {}, ...means }, signal);
  }

  /** So often whoever waits on this machine has read what was written before. */
  async function turns(count: number): Promise<void> {
    for (let turn = 0; turn < count; turn += 1) await new Promise(setImmediate);
  }

  it("says nothing more once it was broken from here", async () => {
    const socket = await open();
    const told: string[] = [];
    socket.listen({
      onText: (text) => told.push(text),
      onBinary: () => told.push("binary"),
      onClosed: () => told.push("closed"),
    });
    const peer = await server.peer(0);
    peer.socket.send("before");
    await eventually(() => told.length === 1, "a message");
    socket.destroy();
    await eventually(() => peer.isClosed && !socket.isOpen, "the end");
    await turns(5);
    assert.deepEqual(told, ["before"]);
  });

  it("is sent nothing more once the vendor has said that it goes, nor once it was broken from here", async () => {
    const upgraded = new Promise<Duplex>((resolve) => {
      server.onUpgrade = (socket, { headers }) => {
        const key = `${headers["sec-websocket-key"]}${ACCEPT_ID}`;
        const accept = createHash("sha1").update(key).digest("base64");
        socket.write(
          "HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n" +
            `Sec-WebSocket-Accept: ${accept}\r\n\r\n`,
        );
        resolve(socket);
      };
    });
    const socket = await open();
    const connection = await upgraded;
    let receivedBytes = 0;
    connection.on("data", ({ length }: Buffer) => {
      receivedBytes += length;
    });
    connection.write(GOING_AWAY);
    await once(connection, "data");
    socket.sendBinary(Uint8Array.of(1, 2, 3));
    socket.destroy();
    socket.sendBinary(Uint8Array.of(4, 5, 6));
    await once(connection, "end");
    assert.equal(receivedBytes, ANSWER_BYTES);
  });

  it("is not one when the vendor upgrades without knowing the protocol", async () => {
    server.onUpgrade = (socket) => {
      socket.write(
        "HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n" +
          "Sec-WebSocket-Accept: wrong\r\n\r\n",
      );
    };
    await assert.rejects(open(), VendorError);
  });

  it("is refused as soon as enough of the reason is known, if the vendor continues it forever", async () => {
    server.onUpgrade = (socket) => {
      socket.write(`HTTP/1.1 403 Forbidden\r\nx-why: no\r\n\r\n${"x".repeat(REFUSAL_MAX_BYTES)}`);
    };
    await assert.rejects(open(), { fault: "refused" });
    assert.equal(refused?.status, 403);
    assert.equal(refused.headers["x-why"], "no");
    assert.equal(refused.body, "x".repeat(REFUSAL_MAX_BYTES));
  });

  it("is refused with all of a reason that arrives in pieces, after an early hint", async () => {
    server.onUpgrade = (socket) => {
      socket.write("HTTP/1.1 103 Early Hints\r\nlink: </a>\r\n\r\n");
      socket.write("HTTP/1.1 402 Payment Required\r\nContent-Length: 8\r\n\r\nno m");
      void turns(5).then(() => socket.write("oney"));
    };
    await assert.rejects(open(), { fault: "refused" });
    assert.deepEqual([refused?.status, refused?.body], [402, "no money"]);
  });

  it("has lost its connection when that breaks after an early hint", async () => {
    server.onUpgrade = (socket) => socket.end("HTTP/1.1 103 Early Hints\r\nlink: </a>\r\n\r\n");
    await assert.rejects(open(), { fault: "disconnected" });
    assert.equal(refused, undefined);
  });

  it("times out without a response, and then waits for nothing more", async () => {
    const clock = new VirtualClock();
    let asked: Duplex | undefined;
    server.onUpgrade = (socket) => {
      asked = socket;
      server.changes.tell();
    };
    const opening = open(never(), clock);
    opening.catch(() => undefined);
    const connection = await server.changes.until("the upgrade", () => asked);
    const closed = once(connection.resume(), "end");
    clock.advance(4_999);
    assert.equal(clock.pendingTimerCount, 1);
    clock.advance(1);
    await assert.rejects(opening, { fault: "timeout", message: "acme: no connection in time" });
    await closed;
    assert.equal(clock.pendingTimerCount, 0);
  });

  it("leaves neither a timer nor anything at the signal of the call once it is open", async () => {
    const clock = new VirtualClock();
    const { signal } = new AbortController();
    const socket = await open(signal, clock);
    assert.equal(clock.pendingTimerCount, 0);
    assert.deepEqual(getEventListeners(signal, "abort"), []);
    socket.destroy();
  });

  it("is not requested in a call that has ended, and is aborted when the call ends meanwhile", async () => {
    await assert.rejects(open(AbortSignal.abort()), { fault: "aborted", message: "acme: aborted" });
    assert.equal(server.upgradeCount, 0);
    const ending = new AbortController();
    const closed = new Promise((resolve) => {
      server.onUpgrade = (socket) => {
        socket.resume().on("end", resolve);
        ending.abort();
      };
    });
    const clock = new VirtualClock();
    const opening = open(ending.signal, clock);
    await assert.rejects(opening, { fault: "aborted", message: "acme: aborted" });
    await closed;
    assert.equal(clock.pendingTimerCount, 0);
    assert.equal(server.upgradeCount, 1);
  });

  it("is refused with any status but that of an upgrade", async () => {
    for (const status of [200, 302, 399]) {
      server.onUpgrade = (socket) =>
        socket.end(`HTTP/1.1 ${status} Other\r\nContent-Length: 2\r\n\r\nno`);
      await assert.rejects(open(), { fault: "refused", message: "acme: no" });
      assert.deepEqual([refused?.status, refused?.body], [status, "no"]);
    }
  });

  it("is offered with compression only where that is wanted", async () => {
    const offered: unknown[] = [];
    for (const offersCompression of [false, true]) {
      const socket = await open(never(), new SystemClock(), { offersCompression });
      offered.push((await server.peer(offered.length)).request.headers["sec-websocket-extensions"]);
      socket.destroy();
    }
    assert.deepEqual(offered, [undefined, "permessage-deflate; client_max_window_bits"]);
  });

  it("receives and sends texts as such and bytes as bytes", async () => {
    const socket = await open();
    const told: unknown[] = [];
    const tell = (message: unknown) => void told.push(message);
    socket.listen({ onText: tell, onBinary: tell, onClosed: tell });
    const peer = await server.peer(0);
    peer.socket.send("words");
    peer.socket.send(Buffer.of(1, 2));
    await eventually(() => told.length === 2, "both messages");
    assert.deepEqual(told, ["words", Uint8Array.of(1, 2)]);
    socket.sendText("answer");
    socket.sendBinary(Uint8Array.of(3, 4));
    await server.changes.until("both messages", () => peer.binaries[0]);
    assert.deepEqual([peer.texts, peer.binaries], [["answer"], [Buffer.of(3, 4)]]);
    socket.destroy();
  });

  it("has lost its connection, and no wrong setting, when TLS breaks before it is open", async (context) => {
    const secure = new ScriptedTlsServer();
    await secure.start();
    const clock = new SystemClock();
    const authorities = [authority.certificate];
    const trusting = new Connections({ clock, allowPrivateAddresses: true, authorities });
    context.after(async () => {
      await trusting.close();
      await secure.close();
    });
    secure.onUpgrade = () => {
      secure.corrupt();
      secure.cut();
    };
    const url = secure.origin.replace("https:", "wss:");
    const means = { connect: trusting.forSocket(false), clock, openTimeoutMs: 5_000 };
    const request = { vendor: "acme", url, headers: {}, offersCompression: false, ...means };
    const refuse = () => new VendorError("acme", "refused", "acme: no");
    await assert.rejects(openSocket({ ...request, refuse }, never()), { fault: "disconnected" });
  });

  it("keeps what the vendor says before anyone listens, up to a limit", async () => {
    const socket = await open();
    const peer = await server.peer(0);
    for (let count = 1; count <= EARLY_MESSAGES_MAX + 3; count += 1) peer.socket.send(`${count}`);
    const answered = once(peer.socket, "pong");
    peer.socket.ping();
    await answered;
    const texts: string[] = [];
    const listener = { onText: (text: string) => texts.push(text) };
    socket.listen({ ...listener, onBinary: () => undefined, onClosed: () => undefined });
    assert.deepEqual(texts, []);
    await Promise.resolve();
    assert.deepEqual(
      texts,
      Array.from({ length: EARLY_MESSAGES_MAX }, (_, index) => `${index + 1}`),
    );
    peer.socket.send("later");
    await eventually(() => texts.at(-1) === "later", "what comes later");
    socket.destroy();
  });

  it("is reported as closed with the vendor's code and reason", async () => {
    const socket = await open();
    const closed = new Promise((resolve) => {
      const ignore = () => undefined;
      const onClosed = (...told: readonly unknown[]) => resolve(told);
      socket.listen({ onText: ignore, onBinary: ignore, onClosed });
    });
    (await server.peer(0)).socket.close(4_001, "no more");
    assert.deepEqual(await closed, [4_001, "no more"]);
  });

  it("is not requested with a header that cannot be sent", async () => {
    const means = { clock: new SystemClock(), openTimeoutMs: 5_000, offersCompression: false };
    const refuse = () => new VendorError("acme", "refused", "acme: no");
    const connect = connections.forSocket(false);
    const request = { vendor: "acme", connect, refuse, headers: { a: "b\nc" }, ...means };
    await assert.rejects(openSocket({ ...request, url: server.url }, never()), {
      fault: "refused",
      message: "acme: invalid request",
    });
  });
});
