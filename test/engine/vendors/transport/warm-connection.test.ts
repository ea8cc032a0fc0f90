import assert from "node:assert/strict";
import type { ServerResponse } from "node:http";
import { afterEach, beforeEach, describe, it } from "node:test";
import { Connections } from "../../../../engine/vendors/transport/connections.js";
import { warmConnection } from "../../../../engine/vendors/transport/warm-connection.js";
import { VirtualClock } from "../../../doubles/virtual-clock.js";
import { eventually } from "../sandboxed-vendors.js";
import { ScriptedWebServer } from "../scripted-web-server.js";

const FRONT_PAGE_MAX_BYTES = 64 * 1024;

class BrokenConnections extends Connections {
  override for(): never {
    throw new Error("broken");
  }
}

describe("a connection that is opened ahead", () => {
  let clock: VirtualClock;
  let server: ScriptedWebServer;
  let connections: Connections;

  beforeEach(async () => {
    clock = new VirtualClock();
    server = new ScriptedWebServer();
    await server.start();
    connections = new Connections({ clock, allowPrivateAddresses: false });
  });

  afterEach(async () => {
    await connections.close();
    await server.close();
  });

  function warm(path = ""): void {
    warmConnection({ clock, connections }, { origin: server.url, path }, false);
  }

  async function untilIdle(): Promise<void> {
    await eventually(() => connections.hasIdle(server.url, false), "the idle connection");
  }

  it("is one by a page that costs nothing, and leaves no timer", async () => {
    warm();
    await untilIdle();
    const [{ method, url } = {}] = server.requests;
    assert.deepEqual([method, url], ["GET", "/"]);
    assert.equal(clock.pendingTimerCount, 0);
  });

  it("is not opened where one is open and free", async () => {
    warm("/v1");
    await untilIdle();
    warm("/v1");
    assert.equal(clock.pendingTimerCount, 0);
    assert.deepEqual(
      server.requests.map(({ url }) => url),
      ["/v1"],
    );
  });

  it("is used again behind a page of 64 KiB, and is broken by a larger one", async () => {
    server.answer = (response) => response.end(Buffer.alloc(FRONT_PAGE_MAX_BYTES));
    warm();
    await untilIdle();
    const closed = new Promise<void>((resolve) => {
      server.answer = (response) => {
        response.on("close", resolve);
        response.write(Buffer.alloc(FRONT_PAGE_MAX_BYTES + 1));
      };
    });
    await connections.close();
    connections = new Connections({ clock, allowPrivateAddresses: false });
    warm();
    await closed;
    await eventually(() => clock.pendingTimerCount === 0, "its timer to be gone");
  });

  it("is given up after five seconds", async () => {
    let response: ServerResponse | undefined;
    const closed = new Promise<void>((resolve) => {
      server.answer = (given) => {
        response = given.on("close", resolve);
      };
    });
    warm();
    await server.changes.until("the request", () => response);
    clock.advance(4_999);
    assert.equal(clock.pendingTimerCount, 1);
    assert.equal(response?.destroyed, false);
    clock.advance(1);
    assert.equal(clock.pendingTimerCount, 0);
    await closed;
  });

  it("leaves no timer where there is nobody, or no connection is made any more", async () => {
    warmConnection({ clock, connections }, { origin: "http://127.0.0.1:9", path: "" }, false);
    await eventually(() => clock.pendingTimerCount === 0, "the refusal");
    await connections.close();
    warm();
    assert.equal(clock.pendingTimerCount, 0);
    warmConnection({ clock, connections }, { origin: "no address", path: "" }, false);
    assert.equal(clock.pendingTimerCount, 0);
  });

  it("leaves no timer either where asking for it throws", () => {
    const broken = new BrokenConnections({ clock, allowPrivateAddresses: false });
    warmConnection({ clock, connections: broken }, { origin: server.url, path: "" }, false);
    assert.equal(clock.pendingTimerCount, 0);
  });
});
