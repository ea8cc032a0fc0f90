import assert from "node:assert/strict";
import { after, beforeEach, test } from "node:test";
import { Communicate, EdgeTTS, listVoices } from "edge-tts-universal/browser";
import { WebSocket } from "ws";
import { noFaults } from "../../../../engine/sandbox/faults.js";
import { startSandbox } from "../../../../engine/sandbox/sandbox.js";
import { recognizeMp3 } from "../../../../engine/sandbox/sound/mp3-decoder.js";
import { addressOf, voicesUrlOf } from "./sdk-inputs.js";

const sandbox = await startSandbox();
const { faults, urls } = sandbox;
after(() => sandbox.close());
beforeEach(() => Object.assign(faults, noFaults()));

/**
 * The SDK dials one fixed host, over TLS. Its build for Node needs a proxy with a trusted certificate to be led
 * elsewhere. Its build for browsers takes the WebSocket and fetch of its surroundings, and writes the same frames.
 */
class LoopbackSocket extends WebSocket {
  constructor(url: string) {
    super(`${urls.edge}${new URL(url).search}`);
    this.binaryType = "arraybuffer";
  }
}
const realFetch = globalThis.fetch;
const fetchHere: typeof fetch = (input, init) => {
  const asked = addressOf(input);
  // The MP3 encoder of the sandbox fetches too.
  if (!asked.startsWith("https://speech.platform.bing.com/")) return realFetch(input, init);
  const here = new URL(voicesUrlOf(urls.edge));
  here.search = new URL(asked).search;
  return realFetch(here);
};
Object.assign(globalThis, { WebSocket: LoopbackSocket, fetch: fetchHere });

const TEXT = "Tom & Jerry's table is booked.";

test("speech says the text, with the places of its words", async () => {
  const audio: Uint8Array[] = [];
  const words: string[] = [];
  for await (const chunk of new Communicate(TEXT, { voice: "en-US-AriaNeural" }).stream()) {
    if (chunk.type === "audio") audio.push(chunk.data ?? new Uint8Array());
    else words.push(chunk.text ?? "");
  }

  assert.equal(await recognizeMp3(Buffer.concat(audio)), TEXT);
  assert.deepEqual(words, ["Tom", "Jerry's", "table", "is", "booked"]);
});

test("the short way gives the audio and its subtitles", async () => {
  const { audio, subtitle } = await new EdgeTTS(TEXT, "en-US-AriaNeural").synthesize();
  const last = subtitle.at(-1);

  assert.equal(await recognizeMp3(Buffer.from(await audio.arrayBuffer())), TEXT);
  assert.equal(last?.text, "booked");
  assert.ok(last.offset > 5_000_000);
});

test("a service that says nothing is told as no audio", async () => {
  faults.edge = { fault: "turnEndWithoutAudio", times: 1 };
  const read = async (): Promise<void> => {
    for await (const chunk of new Communicate(TEXT).stream()) assert.notEqual(chunk.type, "audio");
  };

  await assert.rejects(read(), { name: "NoAudioReceived" });
});

// The SDK keeps the service's time from here on, so this test is the last.
test("voices are listed, by a token of the service's own time", async () => {
  faults.edge = { skewMs: 3_600_000 };
  const voices = await listVoices();

  assert.ok(voices.some(({ ShortName }) => ShortName === "en-US-AriaNeural"));
});
