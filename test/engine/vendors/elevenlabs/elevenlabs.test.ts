import assert from "node:assert/strict";
import { afterEach, beforeEach, describe, it } from "node:test";
import { MP3, MULAW_8K, PCM_24K } from "../../../../engine/audio/audio-format.js";
import type { SpeechFormat } from "../../../../engine/vendors/contracts.js";
import { textToSpeech } from "../../../../engine/vendors/registry.js";
import { Connections } from "../../../../engine/vendors/transport/connections.js";
import { VirtualClock } from "../../../doubles/virtual-clock.js";
import { never } from "../sandboxed-vendors.js";
import { ScriptedWebServer } from "../scripted-web-server.js";

const SOCKETS = { transport: "websocket" };

describe("ElevenLabs where sockets are wanted", () => {
  let clock: VirtualClock;
  let connections: Connections;
  let server: ScriptedWebServer;

  beforeEach(async () => {
    clock = new VirtualClock();
    connections = new Connections({ clock, allowPrivateAddresses: false });
    server = new ScriptedWebServer();
    await server.start();
  });

  afterEach(async () => {
    await connections.close();
    await server.close();
  });

  /** Every socket is refused with this status, or broken off where there is none. */
  function voice(status: number | undefined, settings: Record<string, string> = SOCKETS) {
    server.answer = (response, { method }) => {
      if (method === "POST") response.end("audio");
      else if (status === undefined) response.destroy();
      else response.writeHead(status).end();
    };
    const given = { baseUrl: server.url, apiKey: "k", settings, clientOwned: false };
    const speech = textToSpeech("elevenlabs", given, { clock, connections });
    return async (format: SpeechFormat = PCM_24K): Promise<string> => {
      server.requests.length = 0;
      const request = { text: "Hi.", modelId: "m", speed: 1, language: "en", format };
      await speech.synthesize(request, () => undefined, never()).catch((cause: unknown) => cause);
      return server.requests.map(({ method }) => method).join(" ");
    };
  }

  it("falls back to HTTP if the refusal may concern only the socket", async () => {
    for (const status of [400, 403, 404, 405, 426, 501]) {
      assert.equal(await voice(status)(), "GET POST", String(status));
    }
  });

  it("does not fall back if the refusal concerns more than the socket", async () => {
    for (const status of [401, 402, 429, 500, 503, undefined]) {
      assert.equal(await voice(status)(), "GET", String(status));
    }
  });

  it("requests no other socket for a minute after a refusal", async () => {
    const speak = voice(404);
    assert.equal(await speak(), "GET POST");
    clock.advance(59_999);
    assert.equal(await speak(MULAW_8K), "POST");
    clock.advance(1);
    assert.equal(await speak(), "GET POST");
    assert.equal(await speak(), "POST");
  });

  it("uses HTTP for MP3, which sockets do not have, and if sockets are not configured", async () => {
    assert.equal(await voice(404)(MP3), "POST");
    assert.equal(await voice(404, {})(), "POST");
    assert.equal(await voice(404, { transport: "http" })(), "POST");
  });
});
