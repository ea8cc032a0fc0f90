import assert from "node:assert/strict";
import { afterEach, beforeEach, describe, it } from "node:test";
import { MP3 } from "../../../engine/audio/audio-format.js";
import type { TextToSpeech } from "../../../engine/vendors/contracts.js";
import { VendorError } from "../../../engine/vendors/contracts.js";
import { textToSpeech } from "../../../engine/vendors/registry.js";
import { Connections } from "../../../engine/vendors/transport/connections.js";
import { VirtualClock } from "../../doubles/virtual-clock.js";
import { eventually, never } from "./sandboxed-vendors.js";
import { ScriptedWebServer } from "./scripted-web-server.js";

const VOICE = "a0e99841-438c-4a64-b679-ae501e7d6091";

const DOWNLOADS = [
  {
    vendor: "cartesia",
    scheme: "http:",
    modelId: "sonic-3",
    url: "/tts/bytes",
    headers: { authorization: "Bearer the-key", "cartesia-version": "2026-03-01" },
    body: {
      model_id: "sonic-3",
      transcript: "Hi.",
      voice: { mode: "id", id: VOICE },
      language: "en",
      output_format: { container: "mp3", sample_rate: 24_000, bit_rate: 48_000 },
      generation_config: { speed: 1.1 },
    },
    refusal: { error_code: "busy", title: "the-key waits", message: "Hi." },
    told: "busy: [key] waits",
  },
  {
    vendor: "deepgram",
    scheme: "ws:",
    modelId: "aura 2",
    url: "/v1/speak?model=aura%202&encoding=mp3&bit_rate=48000",
    headers: { authorization: "Token the-key" },
    body: { text: "Hi." },
    refusal: { err_code: "BUSY", err_msg: "the-key waits" },
    told: "BUSY: [key] waits",
  },
  {
    vendor: "elevenlabs",
    scheme: "http:",
    modelId: "eleven_flash_v2_5",
    url: "/v1/text-to-speech/21m00Tcm4TlvDq8ikWAM/stream?output_format=mp3_24000_48",
    headers: { "xi-api-key": "the-key" },
    body: {
      text: "Hi.",
      model_id: "eleven_flash_v2_5",
      language_code: "en",
      voice_settings: { speed: 1.1 },
    },
    refusal: { detail: { status: "odd", message: "the-key waits" } },
    told: "odd: [key] waits",
  },
] as const;

for (const { vendor, scheme, modelId, url, headers, body, refusal, told } of DOWNLOADS) {
  describe(`a sentence of ${vendor} as MP3`, () => {
    let server: ScriptedWebServer;
    let connections: Connections;

    beforeEach(async () => {
      server = new ScriptedWebServer();
      await server.start();
      connections = new Connections({ clock: new VirtualClock(), allowPrivateAddresses: false });
    });

    afterEach(async () => {
      await connections.close();
      await server.close();
    });

    function voice(): TextToSpeech {
      const baseUrl = server.url.replace("http:", scheme);
      const given = { baseUrl, apiKey: "the-key", settings: {}, clientOwned: false };
      return textToSpeech(vendor, given, { clock: new VirtualClock(), connections });
    }

    async function heard(): Promise<string> {
      const chunks: Uint8Array[] = [];
      await voice().synthesize(
        { text: "Hi.", modelId, speed: 1.1, language: "en-US", format: MP3 },
        (audio) => chunks.push(audio),
        never(),
      );
      return Buffer.concat(chunks).toString();
    }

    it("is requested with its key, in one request", async () => {
      server.answer = (response) => response.end("sound");
      assert.equal(await heard(), "sound");
      const [request] = server.requests;
      assert.equal(server.requests.length, 1);
      assert.deepEqual([request?.method, request?.url], ["POST", url]);
      for (const [name, value] of Object.entries({
        ...headers,
        "content-type": "application/json",
      })) {
        assert.equal(request?.headers[name], value);
      }
      assert.deepEqual(JSON.parse(request?.body ?? ""), body);
    });

    it("finds a connection that was opened ahead of it", async () => {
      voice().warm();
      await eventually(() => connections.hasIdle(server.url, false), "the connection");
    });

    it("is refused in the vendor's words, without the key and what was to be said", async () => {
      server.answer = (response) => response.writeHead(429).end(JSON.stringify(refusal));
      const error: unknown = await heard().catch((cause: unknown) => cause);
      assert.ok(error instanceof VendorError);
      assert.deepEqual([error.fault, error.vendorText], ["rateLimited", told]);
      assert.doesNotMatch(error.message, /\[key\]|says|too long/);
    });
  });
}
