import assert from "node:assert/strict";
import type { ServerResponse } from "node:http";
import { describe, it } from "node:test";
import { Connections } from "../../../../engine/vendors/transport/connections.js";
import { warmConnection } from "../../../../engine/vendors/transport/http-vendor.js";
import { eventually } from "../sandboxed-vendors.js";
import { webServerStand } from "../web-server-stand.js";

const FRONT_PAGE_MAX_BYTES = 64 * 1024;

class BrokenConnections extends Connections {
  override for(): never {
    throw new Error("broken");
  }
}

describe("a connection that is opened ahead", () => {
  const stand = webServerStand(false);

  function warm(path = ""): void {
    warmConnection(stand, { origin: stand.server.url, path }, false);
  }

  async function untilIdle(): Promise<void> {
    await eventually(
      () => stand.connections.hasIdle(stand.server.url, false),
      "the idle connection",
    );
  }

  it("is one by a page that costs nothing, and leaves no timer", async () => {
    warm();
    await untilIdle();
    const [{ method, url } = {}] = stand.server.requests;
    assert.deepEqual([method, url], ["GET", "/"]);
    assert.equal(stand.clock.pendingTimerCount, 0);
  });

  it("is not opened where one is open and free", async () => {
    warm("/v1");
    await untilIdle();
    warm("/v1");
    assert.equal(stand.clock.pendingTimerCount, 0);
    assert.deepEqual(
      stand.server.requests.map(({ url }) => url),
      ["/v1"],
    );
  });

  it("is used again after a page of 64 KiB, and is destroyed by a larger one", async () => {
    stand.server.answer = (response) => response.end(Buffer.alloc(FRONT_PAGE_MAX_BYTES));
    warm();
    await untilIdle();
    const closed = new Promise<void>((resolve) => {
      stand.server.answer = (response) => {
        response.on("close", resolve);
        response.write(Buffer.alloc(FRONT_PAGE_MAX_BYTES + 1));
      };
    });
    await stand.connections.close();
    stand.connections = new Connections({ clock: stand.clock, allowPrivateAddresses: false });
    warm();
    await closed;
    await eventually(() => stand.clock.pendingTimerCount === 0, "its timer to be gone");
  });

  it("times out after five seconds", async () => {
    let response: ServerResponse | undefined;
    const closed = new Promise<void>((resolve) => {
      stand.server.answer = (given) => {
        response = given.on("close", resolve);
      };
    });
    warm();
    await stand.server.changes.until("the request", () => response);
    stand.clock.advance(4_999);
    assert.equal(stand.clock.pendingTimerCount, 1);
    assert.equal(response?.destroyed, false);
    stand.clock.advance(1);
    assert.equal(stand.clock.pendingTimerCount, 0);
    await closed;
  });

  it("leaves no timer if the vendor is down, or no connection is opened any more", async () => {
    warmConnection(stand, { origin: "http://127.0.0.1:9", path: "" }, false);
    await eventually(() => stand.clock.pendingTimerCount === 0, "the refusal");
    await stand.connections.close();
    warm();
    assert.equal(stand.clock.pendingTimerCount, 0);
    warmConnection(stand, { origin: "no address", path: "" }, false);
    assert.equal(stand.clock.pendingTimerCount, 0);
  });

  it("leaves no timer either where asking for it throws", () => {
    const broken = new BrokenConnections({ clock: stand.clock, allowPrivateAddresses: false });
    warmConnection(
      { clock: stand.clock, connections: broken },
      { origin: stand.server.url, path: "" },
      false,
    );
    assert.equal(stand.clock.pendingTimerCount, 0);
  });
});
