import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { once } from "node:events";
import type { Duplex } from "node:stream";
import { afterEach, beforeEach, describe, it } from "node:test";
import { SystemClock } from "../../../../engine/time/clock.js";
import { VendorError } from "../../../../engine/vendors/contracts.js";
import { Connections } from "../../../../engine/vendors/transport/connections.js";
import { openSocket } from "../../../../engine/vendors/transport/web-socket.js";
import { eventually, never } from "../sandboxed-vendors.js";
import { ScriptedSocketServer } from "../scripted-socket-server.js";

/** What a server answers the key of an upgrade with, and how it says that it is going away (RFC 6455). */
const ACCEPT_ID = "258EAFA5-E914-47DA-95CA-C5AB0DC85B11";
const GOING_AWAY = Buffer.from([0x88, 2, 0x03, 0xe9]);
/** The same from a client, which masks it. */
const ANSWER_BYTES = GOING_AWAY.length + 4;

describe("a WebSocket to a vendor", () => {
  const clock = new SystemClock();
  let server: ScriptedSocketServer;
  let connections: Connections;

  beforeEach(async () => {
    server = new ScriptedSocketServer();
    await server.start();
    connections = new Connections({ clock, allowPrivateAddresses: true });
  });

  afterEach(async () => {
    await connections.close();
    await server.close();
  });

  function open(signal = never()) {
    const { url } = server;
    const dispatcher = connections.forSocket(url, false);
    const refuse = () => new VendorError("acme", "refused", "acme: no");
    const means = { dispatcher, clock, openTimeoutMs: 5_000, offersCompression: false, refuse };
    return openSocket({ vendor: "acme", url, headers: {}, ...means }, signal);
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
    for (let turn = 0; turn < 5; turn += 1) await new Promise(setImmediate);
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

  it("is refused as soon as enough of the reason is known, when the vendor goes on with it for ever", async () => {
    server.onUpgrade = (socket) => {
      socket.on("error", () => undefined);
      socket.write(`HTTP/1.1 403 Forbidden\r\n\r\n${"no ".repeat(4_096)}`);
    };
    await assert.rejects(open(), { fault: "refused" });
  });
});
