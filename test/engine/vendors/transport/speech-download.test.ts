import assert from "node:assert/strict";
import { beforeEach, describe, it } from "node:test";
import { MP3 } from "../../../../engine/audio/audio-format.js";
import { VendorError } from "../../../../engine/vendors/contracts.js";
import { HttpVendor } from "../../../../engine/vendors/transport/http-vendor.js";
import { downloadSpeech } from "../../../../engine/vendors/transport/speech-download.js";
import { describeAnswerLimits } from "../answer-limits.js";
import { never } from "../sandboxed-vendors.js";
import { webServerStand } from "../web-server-stand.js";

const REQUEST = {
  path: "/speak",
  headers: { "x-key": "k" },
  body: "Hello.",
  refuse: () => new VendorError("acme", "refused", "acme: no"),
};

const SPEECH = { text: "Hello.", modelId: "m", speed: 1, language: "en", format: MP3 };

describe("speech that is downloaded", () => {
  const stand = webServerStand(true);
  let heardBytes: number;

  beforeEach(() => {
    heardBytes = 0;
  });

  function download(): Promise<void> {
    const given = { baseUrl: stand.server.url, apiKey: "k", settings: {}, clientOwned: false };
    const vendor = new HttpVendor("acme", given, "", stand);
    const take = ({ length }: Uint8Array) => {
      heardBytes += length;
    };
    return downloadSpeech(vendor, REQUEST, SPEECH, take, never());
  }

  it("is any bytes that are not said to be a text, and one byte at least", async () => {
    for (const [type, body, message] of [
      [undefined, "a", undefined],
      ["audio/mpeg", "a", undefined],
      ["application/octet-stream", "a", undefined],
      ["x-text/plain", "a", undefined],
      ["audio/mpeg", "", "acme: sent no audio"],
      ["text/html", "a", "acme: sent text instead of audio"],
      ["Application/JSON; charset=utf-8", "a", "acme: sent text instead of audio"],
    ] as const) {
      stand.server.answer = (response) => {
        if (type !== undefined) response.setHeader("content-type", type);
        response.end(body);
      };
      heardBytes = 0;
      if (message === undefined) await download();
      else await assert.rejects(download(), { vendor: "acme", fault: "badAnswer", message });
      assert.equal(heardBytes, message === undefined ? 1 : 0);
    }
    const [asked] = stand.server.requests;
    assert.deepEqual(
      [asked?.method, asked?.url, asked?.headers["x-key"], asked?.body],
      ["POST", "/speak", "k", "Hello."],
    );
  });
});

describeAnswerLimits({
  what: "speech",
  ask: (given, context, onPiece) =>
    downloadSpeech(new HttpVendor("acme", given, "", context), REQUEST, SPEECH, onPiece, never()),
  limits: { firstByteMs: 10_000, betweenBytesMs: 5_000, totalMs: 60_000 },
  piece: "a",
  skipped: "a",
  end: "",
  lineMaxChars: undefined,
});
