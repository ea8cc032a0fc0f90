import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { VendorError } from "../../../../engine/vendors/contracts.js";
import { HttpVendor } from "../../../../engine/vendors/transport/http-vendor.js";
import { eventually, never } from "../sandboxed-vendors.js";
import { webServerStand } from "../web-server-stand.js";

const REQUEST = {
  path: "/ask?a=1",
  headers: { "x-key": "k" },
  body: "words",
  limits: { firstByteMs: 5_000, betweenBytesMs: 5_000, totalMs: 9_000, replyMaxBytes: 1_000 },
  refuse: () => new VendorError("acme", "refused", "acme: no"),
};

describe("a vendor with an HTTP API", () => {
  const stand = webServerStand(false);

  function vendorAt(baseUrl: string | undefined, publicUrl: string, clientOwned = false) {
    const given = { baseUrl, apiKey: "k", settings: {}, clientOwned };
    return new HttpVendor("acme", given, publicUrl, stand);
  }

  async function answerOf(vendor: HttpVendor): Promise<string> {
    stand.server.answer = (response) => response.end("answer");
    let text = "";
    const take = (chunk: Buffer) => {
      text += chunk.toString();
      return false;
    };
    await vendor.post(REQUEST, take, never());
    return text;
  }

  it("is requested below the configured address, or otherwise below its public one", async () => {
    for (const vendor of [
      vendorAt(`${stand.server.url}/v1/`, "http://nowhere.invalid"),
      vendorAt(undefined, `${stand.server.url}/v1`),
    ]) {
      assert.equal(vendor.name, "acme");
      assert.equal(await answerOf(vendor), "answer");
      const { method, url, headers, body } = stand.server.requests.at(-1) ?? {};
      assert.deepEqual(
        [method, url, headers?.["x-key"], body],
        ["POST", "/v1/ask?a=1", "k", "words"],
      );
    }
  });

  it("of an organization is neither requested nor warmed at a private address", async () => {
    const vendor = vendorAt(stand.server.url, "", true);
    await assert.rejects(answerOf(vendor), { fault: "refused", message: /private_address$/ });
    vendor.warm();
    await eventually(() => stand.clock.pendingTimerCount === 0, "the end of the try");
    assert.equal(stand.server.requests.length, 0);
  });

  it("is warmed by a request that costs nothing, over the connection of the next one", async () => {
    const vendor = vendorAt(`${stand.server.url}/v1`, "");
    vendor.warm();
    await eventually(
      () => stand.connections.hasIdle(stand.server.url, false),
      "the idle connection",
    );
    assert.deepEqual(
      stand.server.requests.map(({ method, url }) => [method, url]),
      [["GET", "/v1"]],
    );
  });
});
