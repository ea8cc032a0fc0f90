import assert from "node:assert/strict";
import type { ServerResponse } from "node:http";
import { afterEach, beforeEach, describe, it } from "node:test";
import { VendorError } from "../../../../engine/vendors/contracts.js";
import { Connections } from "../../../../engine/vendors/transport/connections.js";
import { HttpVendor } from "../../../../engine/vendors/transport/http-vendor.js";
import { downloadSpeech } from "../../../../engine/vendors/transport/speech-download.js";
import { Changes } from "../../../doubles/changes.js";
import { VirtualClock } from "../../../doubles/virtual-clock.js";
import { never } from "../sandboxed-vendors.js";
import { ScriptedWebServer } from "../scripted-web-server.js";

const SPEECH_MAX_BYTES = 8 * 1024 * 1024;
const REQUEST = {
  path: "/speak",
  headers: { "x-key": "k" },
  body: "Hello.",
  refuse: () => new VendorError("acme", "refused", "acme: no"),
};

describe("speech that is downloaded", () => {
  let clock: VirtualClock;
  let changes: Changes;
  let server: ScriptedWebServer;
  let connections: Connections;
  let heardBytes: number;

  beforeEach(async () => {
    clock = new VirtualClock();
    changes = new Changes();
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
      changes.tell();
    };
    const downloaded = downloadSpeech(vendor, REQUEST, take, never());
    downloaded.catch(() => undefined);
    return downloaded;
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

  it("is no larger than 8 MiB", async () => {
    for (const [sizeBytes, fault] of [
      [SPEECH_MAX_BYTES, undefined],
      [SPEECH_MAX_BYTES + 1, "badAnswer"],
    ] as const) {
      server.answer = (response) => response.end(Buffer.alloc(sizeBytes));
      if (fault === undefined) await download();
      else await assert.rejects(download(), { fault, message: "acme: the answer is too large" });
    }
  });

  it("begins within 10 s, goes on within 5 s and has an end after 60 s", async () => {
    let response: ServerResponse | undefined;
    server.answer = (given) => {
      response = given;
    };
    const hear = async () => {
      const before = heardBytes;
      response?.write("a");
      await changes.until("more of it", () => heardBytes > before);
    };
    for (const [bytes, stepMs, leftMs, message] of [
      [0, 0, 10_000, "no answer in time"],
      [1, 9_999, 5_000, "the answer stalled"],
      [13, 4_500, 1_500, "the answer stalled"],
    ] as const) {
      response = undefined;
      const downloaded = download();
      await server.changes.until("the request", () => response);
      for (let n = 0; n < bytes; n += 1) {
        clock.advance(stepMs);
        await hear();
      }
      clock.advance(leftMs - 1);
      assert.equal(clock.pendingTimerCount, 1, "it was given up too soon");
      clock.advance(1);
      await assert.rejects(downloaded, { fault: "timeout", message: `acme: ${message}` });
    }
  });
});
