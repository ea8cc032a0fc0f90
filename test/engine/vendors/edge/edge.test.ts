import assert from "node:assert/strict";
import { afterEach, beforeEach, describe, it } from "node:test";
import { MP3 } from "../../../../engine/audio/audio-format.js";
import { EdgeSpeech } from "../../../../engine/vendors/edge/edge.js";
import { Connections } from "../../../../engine/vendors/transport/connections.js";
import { SocketPool } from "../../../../engine/vendors/transport/socket-pools.js";
import { VirtualClock } from "../../../doubles/virtual-clock.js";
import {
  eventually,
  never,
  type SandboxedVendors,
  startSandboxedVendors,
} from "../sandboxed-vendors.js";
import { ScriptedSocketServer } from "../scripted-socket-server.js";

const REQUEST = {
  text: "Hello there.",
  modelId: "edge-neural",
  speed: 1,
  language: "en-US",
  format: MP3,
} as const;

describe("Edge", () => {
  let clock: VirtualClock;
  let vendors: SandboxedVendors;

  beforeEach(async () => {
    clock = new VirtualClock(Date.now());
    vendors = await startSandboxedVendors(clock);
  });

  afterEach(() => vendors.close());

  function speech(settings = {}): EdgeSpeech {
    return new EdgeSpeech({ ...vendors.settingsFor("edge"), settings }, vendors.context);
  }

  async function speak(client = speech(), text: string = REQUEST.text): Promise<number> {
    let bytes = 0;
    await client.synthesize(
      { ...REQUEST, text },
      (audio) => {
        bytes += audio.length;
      },
      never(),
    );
    return bytes;
  }

  it("learns the service's time from a refusal, once, for all calls", async () => {
    vendors.sandbox.faults.edge = { skewMs: 7_200_000 };
    assert.ok((await speak()) > 0);
    vendors.context.connections.socketPools.closeIdle();
    vendors.sandbox.faults.edge = { skewMs: 7_200_000, fault: "unauthorized", after: 1 };
    assert.ok((await speak()) > 0);
  });

  it("asks only twice when the service's time does not help", async () => {
    const server = new ScriptedSocketServer();
    await server.start();
    server.onUpgrade = (socket) => {
      socket.end(
        `HTTP/1.1 403 Forbidden\r\nDate: ${new Date(0).toUTCString()}\r\nContent-Length: 0\r\nConnection: close\r\n\r\n`,
      );
    };
    const client = new EdgeSpeech(
      { baseUrl: server.url, apiKey: undefined, settings: {}, clientOwned: false },
      vendors.context,
    );
    await assert.rejects(speak(client), { fault: "unauthorized", status: 403 });
    assert.equal(server.upgradeCount, 2);
    await server.close();
  });

  it("takes the time of another refusal for no reason to ask again", async () => {
    const server = new ScriptedSocketServer();
    await server.start();
    server.onUpgrade = (socket) => {
      const date = new Date(0).toUTCString();
      socket.end(
        `HTTP/1.1 401 No\r\nDate: ${date}\r\nContent-Length: 0\r\nConnection: close\r\n\r\n`,
      );
    };
    const client = new EdgeSpeech(
      { baseUrl: server.url, apiKey: undefined, settings: {}, clientOwned: false },
      vendors.context,
    );
    await assert.rejects(speak(client), { fault: "unauthorized", status: 401 });
    assert.equal(server.upgradeCount, 1);
    await server.close();
  });

  it("leaves a waiting connection to others where the call has ended before it speaks", async () => {
    await speak();
    const { socketPools } = vendors.context.connections;
    assert.equal(socketPools.idleCount, 1);
    const speaking = speech().synthesize(REQUEST, () => undefined, AbortSignal.abort());
    await assert.rejects(speaking, { fault: "aborted", message: "edge: aborted" });
    assert.equal(socketPools.idleCount, 1);
  });

  it("does not say what cannot be said", async () => {
    assert.equal(await speak(speech(), "… – !?"), 0);
    assert.equal(vendors.sandbox.openConnections, 0);
  });

  it("says a text of any length, in pieces, on one connection", async () => {
    vendors.sandbox.faults.edge = { realTimeFactor: 0 };
    // Long once it is escaped, and soon said.
    const bytes = await speak(speech(), "seven &&&&&&&& ".repeat(200));
    const pieces = vendors.sandbox.journal.filter(({ kind }) => kind === "request");
    assert.ok(pieces.length > 2 && bytes > 100_000);
    assert.equal(vendors.sandbox.openConnections, 1);
  });

  it("shares its open connections among calls, and lets idle ones go", async () => {
    await Promise.all([speak(), speak(), speak()]);
    assert.equal(vendors.sandbox.openConnections, 3);
    await Promise.all([speak(), speak()]);
    assert.equal(vendors.sandbox.openConnections, 3);
    clock.advance(20_000);
    await vendors.changes.until(
      "the idle ones to close",
      () => vendors.sandbox.openConnections === 0,
    );
    assert.equal(clock.pendingTimerCount, 0);
  });

  it("opens a new connection when the service has closed the waiting one", async () => {
    const server = new ScriptedSocketServer();
    await server.start();
    const client = new EdgeSpeech(
      { baseUrl: server.url, apiKey: undefined, settings: {}, clientOwned: false },
      vendors.context,
    );
    client.warm();
    const peer = await server.peer(0);
    await server.changes.until("its configuration", () => peer.texts.length === 1);
    peer.socket.terminate();
    await server.changes.until("the close", () => peer.isClosed);
    await eventually(() => clock.pendingTimerCount === 0, "its place to be free");
    const spoken = speak(client);
    spoken.catch(() => undefined);
    const second = await server.peer(1);
    await server.changes.until("the sentence", () => second.texts.length === 2);
    assert.match(second.texts[0] ?? "", /Path:speech.config/);
    assert.match(second.texts[1] ?? "", /Path:ssml[^]*en-US-AriaNeural[^]*Hello there\./);
    second.socket.close(1000);
    await assert.rejects(spoken, { fault: "disconnected" });
    await server.close();
  });

  it("keeps no connection on which something comes between two sentences", async () => {
    const server = new ScriptedSocketServer();
    await server.start();
    const client = new EdgeSpeech(
      { baseUrl: server.url, apiKey: undefined, settings: {}, clientOwned: false },
      vendors.context,
    );
    client.warm();
    const peer = await server.peer(0);
    await server.changes.until("its configuration", () => peer.texts.length === 1);
    peer.socket.send("Path:turn.end\r\n\r\n{}");
    await server.changes.until("the close", () => peer.isClosed);
    await server.close();
  });

  it("breaks the connection when the listener fails or the audio never ends", async () => {
    const broken = new Error("a bug of ours");
    const failing = speech().synthesize(
      REQUEST,
      () => {
        throw broken;
      },
      never(),
    );
    await assert.rejects(failing, broken);
    await vendors.changes.until(
      "the connection to close",
      () => vendors.sandbox.openConnections === 0,
    );
    const server = new ScriptedSocketServer();
    await server.start();
    const client = new EdgeSpeech(
      { baseUrl: server.url, apiKey: undefined, settings: {}, clientOwned: false },
      vendors.context,
    );
    const endless = speak(client);
    endless.catch(() => undefined);
    const peer = await server.peer(0);
    const header = Buffer.from("Path:audio\r\n");
    const frame = Buffer.concat([Buffer.of(0, header.length), header, Buffer.alloc(900_000)]);
    for (let n = 0; n < 10; n++) peer.socket.send(frame);
    await assert.rejects(endless, { fault: "badAnswer", message: /too large/ });
    await server.close();
  });

  it("takes every constant of the service from its settings", async () => {
    const server = new ScriptedSocketServer();
    await server.start();
    const settings = {
      trustedClientToken: "TOKEN",
      secMsGecVersion: "1-150.0.1.2",
      origin: "chrome-extension://other",
      voice: "en-GB-RyanNeural",
    };
    const client = new EdgeSpeech(
      { baseUrl: `${server.url}/path/`, apiKey: undefined, settings, clientOwned: false },
      vendors.context,
    );
    client.warm();
    const { request } = await server.peer(0);
    assert.match(request.url ?? "", /^\/path\?TrustedClientToken=TOKEN&ConnectionId=[0-9a-f]{32}&/);
    assert.match(request.url ?? "", /&Sec-MS-GEC=[0-9A-F]{64}&Sec-MS-GEC-Version=1-150\.0\.1\.2$/);
    assert.match(request.headers["sec-websocket-extensions"] ?? "", /^permessage-deflate/);
    assert.equal(request.headers.origin, "chrome-extension://other");
    assert.match(request.headers["user-agent"] ?? "", /Chrome\/150\.0\.0\.0 .*Edg\/150\.0\.0\.0/);
    assert.match(request.headers.cookie ?? "", /^muid=[0-9A-F]{32};$/);
    await server.close();
  });

  it("keeps a bounded number of pools, and closes the one that was used least recently", () => {
    const { socketPools } = new Connections({ clock, allowPrivateAddresses: false });
    const first = socketPools.pool("first");
    for (let n = 0; n < 31; n++) socketPools.pool(String(n));
    assert.equal(socketPools.pool("first"), first);
    for (let n = 100; n < 131; n++) socketPools.pool(String(n));
    assert.equal(socketPools.pool("first"), first);
    assert.notEqual(socketPools.pool("0"), socketPools.pool("1"));
    assert.ok(socketPools.pool("0") instanceof SocketPool);
    const own = socketPools.pool("first", "quiet");
    assert.notEqual(own, first);
    for (let n = 0; n < 100; n++) socketPools.pool(String(n), "greedy");
    assert.equal(socketPools.pool("first", "quiet"), own, "others push out their own");
  });
});
