import assert from "node:assert/strict";
import { afterEach, beforeEach, describe, it } from "node:test";
import { VendorError } from "../../../../engine/vendors/contracts.js";
import { Connections } from "../../../../engine/vendors/transport/connections.js";
import { HttpVendor } from "../../../../engine/vendors/transport/http-vendor.js";
import { VirtualClock } from "../../../doubles/virtual-clock.js";
import { eventually, never } from "../sandboxed-vendors.js";
import { ScriptedWebServer } from "../scripted-web-server.js";

const REQUEST = {
  path: "/ask?a=1",
  headers: { "x-key": "k" },
  body: "words",
  limits: { firstByteMs: 5_000, betweenBytesMs: 5_000, totalMs: 9_000, replyMaxBytes: 1_000 },
  refuse: () => new VendorError("acme", "refused", "acme: no"),
};

describe("a vendor that is asked over HTTP", () => {
  let server: ScriptedWebServer;
  let clock: VirtualClock;
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

  function vendorAt(baseUrl: string | undefined, publicUrl: string, clientOwned = false) {
    const given = { baseUrl, apiKey: "k", settings: {}, clientOwned };
    return new HttpVendor("acme", given, publicUrl, { clock, connections });
  }

  async function answerOf(vendor: HttpVendor): Promise<string> {
    server.answer = (response) => response.end("answer");
    let text = "";
    const take = (chunk: Buffer) => {
      text += chunk.toString();
      return false;
    };
    await vendor.post(REQUEST, take, never());
    return text;
  }

  it("is asked below the address that is set, or else below its public one", async () => {
    for (const vendor of [
      vendorAt(`${server.url}/v1/`, "http://nowhere.invalid"),
      vendorAt(undefined, `${server.url}/v1`),
    ]) {
      assert.equal(vendor.name, "acme");
      assert.equal(await answerOf(vendor), "answer");
      const { method, url, headers, body } = server.requests.at(-1) ?? {};
      assert.deepEqual(
        [method, url, headers?.["x-key"], body],
        ["POST", "/v1/ask?a=1", "k", "words"],
      );
    }
  });

  it("of an organization is asked and warmed at no private address", async () => {
    const vendor = vendorAt(server.url, "", true);
    await assert.rejects(answerOf(vendor), { fault: "refused", message: /PRIVATE_ADDRESS$/ });
    vendor.warm();
    await eventually(() => clock.pendingTimerCount === 0, "the end of the try");
    assert.equal(server.requests.length, 0);
  });

  it("is warmed by a request that costs nothing, over the connection of the next one", async () => {
    const vendor = vendorAt(`${server.url}/v1`, "");
    vendor.warm();
    await eventually(() => connections.hasIdle(server.url, false), "the idle connection");
    assert.deepEqual(
      server.requests.map(({ method, url }) => [method, url]),
      [["GET", "/v1"]],
    );
  });
});
