import assert from "node:assert/strict";
import { once } from "node:events";
import type { ServerResponse } from "node:http";
import { createServer } from "node:net";
import { afterEach, beforeEach, describe, it } from "node:test";
import { VendorError } from "../../../../engine/vendors/contracts.js";
import { Connections } from "../../../../engine/vendors/transport/connections.js";
import { requestStream } from "../../../../engine/vendors/transport/http-stream.js";
import { openSocket, type VendorSocket } from "../../../../engine/vendors/transport/web-socket.js";
import { passInUndici } from "../../../doubles/undici-clock.js";
import { eventually, never } from "../sandboxed-vendors.js";
import { ScriptedSocketServer } from "../scripted-socket-server.js";
import { webServerStand } from "../web-server-stand.js";

const MESSAGE_MAX_BYTES = 1024 * 1024;
const ORIGINS_PER_ORGANIZATION_MAX = 64;
const REQUESTS_PER_ORGANIZATION_MAX = 600;
const LIMITS = { firstByteMs: 5_000, betweenBytesMs: 5_000, totalMs: 9_000, replyMaxBytes: 1_000 };
const refuse = () => new VendorError("acme", "refused", "acme: no");

describe("the connections of a process", () => {
  const stand = webServerStand(true);

  function ask(origin = stand.server.url, clientOwned = false, orgId?: string): Promise<void> {
    const request = { vendor: "acme", method: "GET", path: "/", headers: {}, body: undefined };
    return requestStream(
      {
        ...request,
        method: "GET",
        origin,
        dispatcher: stand.connections.for(clientOwned, orgId),
        clock: stand.clock,
        limits: LIMITS,
        refuse,
      },
      () => false,
      never(),
    );
  }

  it("are free while no request is on them, each for whose they are", async () => {
    let response: ServerResponse | undefined;
    stand.server.answer = (given) => {
      response = given;
    };
    assert.equal(stand.connections.hasIdle(stand.server.url, false), false);
    const asked = ask();
    await stand.server.changes.until("the request", () => response);
    assert.equal(stand.connections.hasIdle(stand.server.url, false), false);
    // Each request has its own time-outs, kept by the Clock.
    passInUndici(3_600_000);
    response?.write("a");
    // Until it has been read, undici does not wait for more.
    for (let turn = 0; turn < 5; turn += 1) await new Promise(setImmediate);
    passInUndici(3_600_000);
    response?.end();
    await asked;
    await eventually(
      () => stand.connections.hasIdle(stand.server.url, false),
      "the idle connection",
    );
    assert.equal(stand.connections.hasIdle(stand.server.url, true), false);
    stand.server.answer = (given) => given.end();
    await ask(stand.server.url, true);
    await eventually(
      () => stand.connections.hasIdle(stand.server.url, true),
      "that of an organization",
    );
  });

  for (const [hint, keptMs] of [
    [undefined, 60_000],
    ["timeout=600", 60_000],
    ["timeout=30", 28_000],
  ] as const) {
    it(`are kept for ${keptMs} ms where the vendor says ${hint ?? "nothing"} of that`, async (context) => {
      const timers = context.mock.method(globalThis, "setTimeout");
      stand.server.answer = (response) => {
        response.setHeader("connection", "keep-alive");
        if (hint !== undefined) response.setHeader("keep-alive", hint);
        response.end();
      };
      await ask();
      await new Promise(setImmediate);
      assert.equal(stand.connections.hasIdle(stand.server.url, false), true);
      const delaysMs = timers.mock.calls.map(({ arguments: [, delayMs] }) => delayMs);
      assert.ok(delaysMs.includes(keptMs), delaysMs.join());
    });
  }

  it("are waited for five seconds", async (context) => {
    const silent = createServer().listen(0, "127.0.0.1");
    await once(silent, "listening");
    context.after(() => silent.close());
    const address = silent.address();
    assert.ok(address !== null && typeof address === "object");
    const connected = once(silent, "connection");
    const asked = ask(`https://127.0.0.1:${address.port}`);
    const [peer] = await connected;
    let isOver = false;
    const timedOut = assert
      .rejects(asked, {
        fault: "timeout",
        message: "acme: connection failed: UND_ERR_CONNECT_TIMEOUT",
      })
      .finally(() => {
        isOver = true;
      });
    for (const [ms, isPatient] of [
      // A timer of undici begins to run with the first of its ticks.
      [1_000, true],
      [3_500, true],
      [1_000, false],
    ] as const) {
      passInUndici(ms);
      for (let turn = 0; turn < 3; turn += 1) await new Promise(setImmediate);
      assert.equal(isOver, !isPatient);
    }
    await timedOut;
    peer.destroy();
  });

  it("lead to no private address where an organization names it, in numbers or by a name, and else where it says", async () => {
    await stand.connections.close();
    stand.connections = new Connections({ clock: stand.clock, allowPrivateAddresses: false });
    const byName = stand.server.url.replace("127.0.0.1", "localhost");
    for (const origin of [stand.server.url, byName]) {
      await assert.rejects(ask(origin, true), { fault: "refused", message: /private_address$/ });
    }
    assert.equal(stand.server.requests.length, 0);
    await ask(byName, false);
    assert.equal(stand.server.requests.length, 1);
    const nowhere = `http://${"x".repeat(300)}.org`;
    await assert.rejects(ask(nowhere, true), { message: /connection failed: E[A-Z]+$/ });
  });

  describe("to the places that one organization names", () => {
    beforeEach(async () => {
      await stand.connections.close();
      const resolve = () => Promise.resolve([{ address: "127.0.0.1", family: 4 }]);
      const means = { clock: stand.clock, allowPrivateAddresses: true };
      stand.connections = new Connections({ ...means, resolve });
    });

    const originsOf = (count: number) => {
      const { port } = new URL(stand.server.url);
      return Array.from({ length: count }, (_, n) => `http://n${n}.example.com:${port}`);
    };

    it("are limited per origin, which does not affect another organization", async () => {
      const responses: ServerResponse[] = [];
      stand.server.answer = (response) => void responses.push(response);
      const origins = originsOf(ORIGINS_PER_ORGANIZATION_MAX + 1);
      const last = origins.pop();
      const asked = origins.map((origin) => ask(origin, true, "greedy").catch(() => "broken"));
      await stand.server.changes.until("all requests", () => {
        return responses.length === origins.length ? true : undefined;
      });
      await assert.rejects(ask(last, true, "greedy"), {
        fault: "unavailable",
        message: `acme: the organization has ${ORIGINS_PER_ORGANIZATION_MAX} origins in use, which is its share of this server`,
      });
      stand.server.answer = (response) => response.end();
      await ask(last, true, "quiet");
      await ask(stand.server.url, false, "greedy");
      await stand.connections.close();
      await Promise.all(asked);
    });

    it("are closed for a new place where the least recently used is idle", async () => {
      stand.server.answer = (response) => response.end();
      const origins = originsOf(ORIGINS_PER_ORGANIZATION_MAX + 1);
      for (const origin of origins) await ask(origin, true, "org");
      // Those that are idle by then have made room, also for the first, which comes again.
      await ask(origins[0], true, "org");
      assert.equal(stand.server.requests.length, origins.length + 1);
    });

    it("carry a limited number of requests over all origins, and the platform's another such share", async () => {
      const responses: ServerResponse[] = [];
      stand.server.answer = (response) => void responses.push(response);
      const asked: Promise<unknown>[] = [];
      for (let n = 0; n < REQUESTS_PER_ORGANIZATION_MAX; n += 1) {
        asked.push(ask(stand.server.url, false, "greedy").catch(() => "broken"));
      }
      await assert.rejects(ask(stand.server.url, false, "greedy"), {
        message: /has 600 requests in use, which is its share/,
      });
      stand.server.answer = (response) => response.end();
      await ask(stand.server.url, true, "greedy");
      await ask(stand.server.url, false, "quiet");
      await stand.connections.close();
      await Promise.all(asked);
    });
  });

  describe("to a WebSocket", () => {
    let sockets: ScriptedSocketServer;

    beforeEach(async () => {
      sockets = new ScriptedSocketServer();
      await sockets.start();
    });

    afterEach(() => sockets.close());

    function open(over = stand.connections, clientOwned = false): Promise<VendorSocket> {
      const { url } = sockets;
      const connect = over.forSocket(clientOwned);
      const means = {
        connect,
        clock: stand.clock,
        openTimeoutMs: 5_000,
        offersCompression: false,
        refuse,
      };
      return openSocket({ vendor: "acme", url, headers: {}, ...means }, never());
    }

    it("bear a message of a mebibyte, and are broken by a larger one", async () => {
      for (const [sizeBytes, expected] of [
        [MESSAGE_MAX_BYTES, "message"],
        [MESSAGE_MAX_BYTES + 1, "closed"],
      ] as const) {
        const index = sockets.peers.length;
        const socket = await open();
        const told = new Promise((resolve) => {
          const onMessage = () => resolve("message");
          const onClosed = () => resolve("closed");
          socket.listen({ onText: onMessage, onBinary: onMessage, onClosed });
        });
        (await sockets.peer(index)).socket.send(Buffer.alloc(sizeBytes));
        assert.equal(await told, expected);
        socket.destroy();
      }
    });

    it("lead to no private address that an organization names", async () => {
      const guarded = new Connections({ clock: stand.clock, allowPrivateAddresses: false });
      const reach = (clientOwned: boolean) => open(guarded, clientOwned);
      await assert.rejects(reach(true), { fault: "refused", message: /private_address$/ });
      assert.equal(sockets.upgradeCount, 0);
      (await reach(false)).destroy();
      await guarded.close();
    });

    it("are made no more once all are closed", async () => {
      assert.equal(stand.connections.socketPools.ended.aborted, false);
      await stand.connections.close();
      assert.equal(stand.connections.socketPools.ended.aborted, true);
      await assert.rejects(open(), { fault: "unavailable" });
      assert.equal(sockets.upgradeCount, 0);
    });
  });
});
