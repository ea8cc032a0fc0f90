import assert from "node:assert/strict";
import type { Duplex } from "node:stream";
import { afterEach, beforeEach, describe, it } from "node:test";
import { Connections } from "../../../../engine/vendors/transport/connections.js";
import {
  openVendorSocket,
  type SocketDialect,
} from "../../../../engine/vendors/transport/socket-vendor.js";
import { VirtualClock } from "../../../doubles/virtual-clock.js";
import { never } from "../sandboxed-vendors.js";
import { ScriptedSocketServer } from "../scripted-socket-server.js";

const DIALECT: SocketDialect = {
  vendor: "acme",
  refusalDetail: ({ body }) => ({ code: body, message: "the-key says no" }),
};

describe("a socket at a vendor's address", () => {
  let clock: VirtualClock;
  let server: ScriptedSocketServer;
  let connections: Connections;

  beforeEach(async () => {
    clock = new VirtualClock();
    server = new ScriptedSocketServer();
    await server.start();
    connections = new Connections({ clock, allowPrivateAddresses: false });
  });

  afterEach(async () => {
    await connections.close();
    await server.close();
  });

  function open(dialect = DIALECT, clientOwned = false) {
    const context = { clock, connections };
    // Vendors are set up with addresses of either kind.
    const endpoint = { origin: server.url.replace("ws:", "http:"), path: "/base" };
    const headers = { authorization: "the-key" };
    const access = { context, endpoint, clientOwned, apiKey: "the-key", headers };
    return openVendorSocket(dialect, access, "/listen?a=1", never());
  }

  it("is requested below its path, with the key, and without compression", async () => {
    const socket = await open();
    const { request } = await server.peer(0);
    assert.equal(request.url, "/base/listen?a=1");
    assert.equal(request.headers.authorization, "the-key");
    assert.equal(request.headers["sec-websocket-extensions"], undefined);
    socket.destroy();
  });

  it("leads to no private address that an organization names", async () => {
    await assert.rejects(open(DIALECT, true), { fault: "refused", message: /private_address$/ });
    assert.equal(server.upgradeCount, 0);
  });

  it("is waited for five seconds", async () => {
    let asked: Duplex | undefined;
    server.onUpgrade = (socket) => {
      asked = socket;
      server.changes.tell();
    };
    const opening = open();
    opening.catch(() => undefined);
    await server.changes.until("the upgrade", () => asked);
    clock.advance(4_999);
    assert.equal(clock.pendingTimerCount, 1);
    clock.advance(1);
    await assert.rejects(opening, { fault: "timeout", message: "acme: no connection in time" });
  });

  it("is refused in the vendor's words without the key, for the reason that they or else the status name", async () => {
    const told: unknown[] = [];
    const knowing: SocketDialect = {
      ...DIALECT,
      refusalFault: (...words) => {
        told.push(words);
        return "quotaExceeded";
      },
    };
    const retryAt = new Date(clock.epochMs() + 7_000).toUTCString();
    for (const [dialect, fault] of [
      [DIALECT, "rateLimited"],
      [knowing, "quotaExceeded"],
    ] as const) {
      server.onUpgrade = (socket) =>
        socket.end(`HTTP/1.1 429 No\r\nRetry-After: ${retryAt}\r\nContent-Length: 4\r\n\r\nfull`);
      await assert.rejects(open(dialect), {
        vendor: "acme",
        fault,
        status: 429,
        retryAfterMs: 7_000,
        message: "acme answered 429",
        vendorText: "full: [key] says no",
      });
    }
    assert.deepEqual(told, [["full", 429]]);
  });
});
