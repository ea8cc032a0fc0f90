import assert from "node:assert/strict";
import { afterEach, beforeEach, describe, it } from "node:test";
import { VendorError } from "../../../../engine/vendors/contracts.js";
import { Connections } from "../../../../engine/vendors/transport/connections.js";
import { HttpVendor } from "../../../../engine/vendors/transport/http-vendor.js";
import { downloadSpeech } from "../../../../engine/vendors/transport/speech-download.js";
import { VirtualClock } from "../../../doubles/virtual-clock.js";
import { describeAnswerLimits } from "../answer-limits.js";
import { never } from "../sandboxed-vendors.js";
import { ScriptedWebServer } from "../scripted-web-server.js";

const REQUEST = {
  path: "/speak",
  headers: { "x-key": "k" },
  body: "Hello.",
  refuse: () => new VendorError("acme", "refused", "acme: no"),
};

describe("speech that is downloaded", () => {
  let clock: VirtualClock;
  let server: ScriptedWebServer;
  let connections: Connections;
  let heardBytes: number;

  beforeEach(async () => {
    clock = new VirtualClock();
    heardBytes = 0;
    server = new ScriptedWebServer();
    await server.start();
    connections = new Connections({ clock, allowPrivateAddresses: true });
  });

  afterEach(async () => {
    await connections.close();
    await server.close();
  });

  function download(): Promise<void> {
    const given = { baseUrl: server.url, apiKey: "k", settings: {}, clientOwned: false };
    const vendor = new HttpVendor("acme", given, "", { clock, connections });
    const take = ({ length }: Uint8Array) => {
      heardBytes += length;
    };
    return downloadSpeech(vendor, REQUEST, take, never());
  }

  it("is any bytes that are not said to be a text, and one byte at least", async () => {
    for (const [type, body, message] of [
      [undefined, "a", undefined],
      ["audio/mpeg", "a", undefined],
      ["application/octet-stream", "a", undefined],
      ["x-text/plain", "a", undefined],
      ["audio/mpeg", "", "acme: sent no audio"],
      ["text/html", "a", "acme: sent text where audio was due"],
      ["Application/JSON; charset=utf-8", "a", "acme: sent text where audio was due"],
    ] as const) {
      server.answer = (response) => {
        if (type !== undefined) response.setHeader("content-type", type);
        response.end(body);
      };
      heardBytes = 0;
      if (message === undefined) await download();
      else await assert.rejects(download(), { vendor: "acme", fault: "badAnswer", message });
      assert.equal(heardBytes, message === undefined ? 1 : 0);
    }
    const [asked] = server.requests;
    assert.deepEqual(
      [asked?.method, asked?.url, asked?.headers["x-key"], asked?.body],
      ["POST", "/speak", "k", "Hello."],
    );
  });
});

describeAnswerLimits({
  what: "speech",
  ask: (given, context, onPiece) =>
    downloadSpeech(new HttpVendor("acme", given, "", context), REQUEST, onPiece, never()),
  limits: { firstByteMs: 10_000, betweenBytesMs: 5_000, totalMs: 60_000 },
  piece: "a",
  skipped: "a",
  end: "",
  lineMaxChars: undefined,
});
