import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { MP3, PCM_24K } from "../../../../engine/audio/audio-format.js";
import { SystemClock } from "../../../../engine/time/clock.js";
import {
  AudioSpeech,
  audioSpeechFields,
} from "../../../../engine/vendors/openai-protocol/audio-speech.js";
import { Connections } from "../../../../engine/vendors/transport/connections.js";
import { never } from "../sandboxed-vendors.js";
import { ScriptedWebServer } from "../scripted-web-server.js";

const clock = new SystemClock();
const connections = new Connections({ clock, allowPrivateAddresses: true });
const server = new ScriptedWebServer();
before(() => server.start());
after(async () => {
  await connections.close();
  await server.close();
});

const FIELDS = audioSpeechFields("alloy");

/** The server's request for one sentence, without the sentence. */
async function asked(
  change: { readonly modelId?: string; readonly speed?: number; readonly format?: typeof PCM_24K },
  settings: { readonly instructions?: string } = {},
): Promise<unknown> {
  const dialect = { vendor: "acme", publicUrl: "", isKeyRequired: false, fields: FIELDS };
  const given = { apiKey: "", baseUrl: server.url, settings, clientOwned: false };
  const voice = new AudioSpeech(dialect, given, { clock, connections });
  server.answer = (response) => response.end("sound");
  const plain = { text: "Hello.", modelId: "m", speed: 1, language: "en", format: MP3 };
  await voice.synthesize({ ...plain, ...change }, () => undefined, never());
  const { input, ...others } = JSON.parse(server.requests.at(-1)?.body ?? "");
  assert.equal(input, "Hello.");
  return others;
}

const PLAIN = { model: "m", voice: "alloy", response_format: "mp3", speed: 1 };

test("a speed that the server would refuse becomes the nearest that it takes", async () => {
  for (const [speed, taken] of [
    [0.2, 0.25],
    [0.25, 0.25],
    [1.5, 1.5],
    [4, 4],
    [4.1, 4],
  ]) {
    assert.deepEqual(await asked({ speed: speed ?? 0 }), { ...PLAIN, speed: taken });
  }
});

test("raw samples are requested by the server's name for them", async () => {
  assert.deepEqual(await asked({ format: PCM_24K }), { ...PLAIN, response_format: "pcm" });
});

test("how to speak is said in 4,096 characters at most", async () => {
  const instructions = "x".repeat(4_096);
  assert.deepEqual(await asked({}, { instructions }), { ...PLAIN, instructions });
  await assert.rejects(asked({}, { instructions: `${instructions}x` }), {
    fault: "refused",
    message: "acme: setting instructions: expected a text of 1 to 4096 characters",
  });
});

test("how to speak is said to to models that take directions alone", async () => {
  const instructions = "Whisper.";
  assert.deepEqual(await asked({}, { instructions }), { ...PLAIN, instructions });
  const modelId = "tts-1-hd";
  assert.deepEqual(await asked({ modelId }, { instructions }), { ...PLAIN, model: modelId });
});
