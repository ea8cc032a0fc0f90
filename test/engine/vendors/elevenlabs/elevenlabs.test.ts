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

  it("is asked by HTTP where the refusal may be of the socket alone", async () => {
    for (const status of [400, 403, 404, 405, 426, 501]) {
      assert.equal(await voice(status)(), "GET POST", String(status));
    }
  });

  it("is asked for nothing else where more than the socket is refused", async () => {
    for (const status of [401, 402, 429, 500, 503, undefined]) {
      assert.equal(await voice(status)(), "GET", String(status));
    }
  });

  it("is asked for no other socket for a minute after one was refused", async () => {
    const speak = voice(404);
    assert.equal(await speak(), "GET POST");
    clock.advance(59_999);
    assert.equal(await speak(MULAW_8K), "POST");
    clock.advance(1);
    assert.equal(await speak(), "GET POST");
    assert.equal(await speak(), "POST");
  });

  it("is asked by HTTP for MP3, which sockets do not have, and where no sockets are wanted", async () => {
    assert.equal(await voice(404)(MP3), "POST");
    assert.equal(await voice(404, {})(), "POST");
    assert.equal(await voice(404, { transport: "http" })(), "POST");
  });
});
