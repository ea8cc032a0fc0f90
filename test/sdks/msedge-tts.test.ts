import assert from "node:assert/strict";
import { after, beforeEach, test } from "node:test";
import { MsEdgeTTS, OUTPUT_FORMAT } from "msedge-tts";
import { noFaults } from "../../engine/sandbox/faults.js";
import { startSandbox } from "../../engine/sandbox/sandbox.js";
import { recognizeMp3 } from "../../engine/sandbox/sound/mp3-decoder.js";
import { voicesUrlOf } from "./sdk-inputs.js";

const sandbox = await startSandbox();
const { faults, urls } = sandbox;
after(() => sandbox.close());
beforeEach(() => Object.assign(faults, noFaults()));

// The SDK has its addresses in static fields, which its types hide.
Reflect.set(MsEdgeTTS, "WSS_URL", urls.edge);
Reflect.set(MsEdgeTTS, "VOICES_URL", voicesUrlOf(urls.edge));

const VOICE = "en-US-AriaNeural";
const FORMAT = OUTPUT_FORMAT.AUDIO_24KHZ_48KBITRATE_MONO_MP3;

async function speak(text: string, options = {}): Promise<Buffer> {
  const client = new MsEdgeTTS();
  try {
    await client.setMetadata(VOICE, FORMAT, {});
    const chunks: Buffer[] = [];
    for await (const chunk of client.toStream(text, options).audioStream) chunks.push(chunk);
    return Buffer.concat(chunks);
  } finally {
    client.close();
  }
}

test("speech says the text, at the SDK's default rate and slower", async () => {
  const usual = await speak("Your table is booked.");
  const slow = await speak("Your table is booked.", { rate: "x-slow" });
  const half = await speak("Your table is booked.", { rate: 0.5 });

  assert.equal(await recognizeMp3(usual), "Your table is booked.");
  assert.equal(await recognizeMp3(slow), "Your table is booked.");
  assert.equal(half.length, slow.length);
  assert.ok(slow.length > 1.8 * usual.length);
});

test("several texts over one connection, with the places of their words", async () => {
  const client = new MsEdgeTTS();
  await client.setMetadata(VOICE, FORMAT, { wordBoundaryEnabled: true });
  const words: string[] = [];
  for (const text of ["Good morning.", "How are you?"]) {
    const { audioStream, metadataStream } = client.toStream(text);
    metadataStream?.on("data", (line: Buffer) => {
      words.push(Object(JSON.parse(line.toString("utf8"))).Metadata[0].Data.text.Text);
    });
    const chunks: Buffer[] = [];
    for await (const chunk of audioStream) chunks.push(chunk);
    assert.equal(await recognizeMp3(Buffer.concat(chunks)), text);
  }
  client.close();

  assert.deepEqual(words, ["Good", "morning", "How", "are", "you"]);
});

test("voices are listed", async () => {
  const voices = await new MsEdgeTTS().getVoices();

  assert.ok(voices.some(({ ShortName }) => ShortName === VOICE));
});

test("refusals and broken streams reach the SDK's caller as errors", async () => {
  const refusals = [
    ["unauthorized", /403/],
    ["rateLimited", /429/],
    ["serverError", /503/],
  ] as const;
  for (const [fault, status] of refusals) {
    faults.edge = { fault, times: 1 };
    await assert.rejects(speak("Hi."), status);
  }
  for (const fault of ["disconnectMidStream", "closeWithoutTurnEnd"] as const) {
    faults.edge = { fault, times: 1 };
    await assert.rejects(speak("Your table is booked."), /before the synthesis completed/, fault);
  }
});
