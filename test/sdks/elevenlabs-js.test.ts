import assert from "node:assert/strict";
import { after, beforeEach, test } from "node:test";
import { ElevenLabs, ElevenLabsClient, ElevenLabsError } from "@elevenlabs/elevenlabs-js";
import { noFaults } from "../../engine/sandbox/faults.js";
import { startSandbox } from "../../engine/sandbox/sandbox.js";
import { recognizeMp3 } from "../../engine/sandbox/sound/mp3-decoder.js";
import { decodeMuLaw, samplesOf } from "../../engine/sandbox/telephone/telephone-audio.js";
import { decodeSpeech } from "../../engine/sandbox/telephone/tone-code.js";
import { wavOf } from "./sdk-inputs.js";

const sandbox = await startSandbox({ apiKey: "good" });
const { faults, urls } = sandbox;
after(() => sandbox.close());
beforeEach(() => Object.assign(faults, noFaults()));

const baseUrl = urls.elevenlabs;
const client = new ElevenLabsClient({ apiKey: "good", baseUrl, maxRetries: 0 });
const text = "Your table is booked.";
const VOICE = "21m00Tcm4TlvDq8ikWAM";

async function bytesOf(audio: ReadableStream<Uint8Array>): Promise<Buffer> {
  const chunks: Uint8Array[] = [];
  for await (const chunk of audio) chunks.push(chunk);
  return Buffer.concat(chunks);
}

test("speech, whole and streamed, says the text in the vendor's formats", async () => {
  const { textToSpeech } = client;
  const mp3 = await bytesOf(await textToSpeech.convert(VOICE, { text }));
  const streamed = await bytesOf(await textToSpeech.stream(VOICE, { text, modelId: "eleven_v3" }));
  const muLaw = { text, outputFormat: "ulaw_8000" } as const;
  const pcm = { text, outputFormat: "pcm_16000" } as const;

  assert.equal(await recognizeMp3(mp3), text);
  assert.equal(await recognizeMp3(streamed), text);
  const telephone = await bytesOf(await textToSpeech.convert(VOICE, muLaw));
  assert.equal(decodeSpeech(decodeMuLaw(telephone), 8000), text);
  const samples = await bytesOf(await textToSpeech.stream(VOICE, pcm));
  assert.equal(decodeSpeech(samplesOf(samples), 16_000), text);
});

test("speech with the time of every character, whole and streamed", async () => {
  const { textToSpeech } = client;
  const whole = await textToSpeech.convertWithTimestamps(VOICE, { text });
  const chunks: string[] = [];
  for await (const chunk of await textToSpeech.streamWithTimestamps(VOICE, { text })) {
    chunks.push(chunk.audioBase64);
  }

  assert.equal(await recognizeMp3(Buffer.from(whole.audioBase64, "base64")), text);
  assert.equal(whole.alignment?.characters.join(""), text);
  assert.ok((whole.alignment?.characterEndTimesSeconds.at(-1) ?? 0) > 0.5);
  assert.equal(await recognizeMp3(Buffer.from(chunks.join(""), "base64")), text);
});

test("a recording is transcribed", async () => {
  const file = new File([wavOf(text)], "speech.wav");
  const heard = await client.speechToText.convert({ modelId: "scribe_v1", file });

  assert.ok("text" in heard);
  assert.equal(heard.text, text);
  assert.deepEqual(
    heard.words.filter(({ type }) => type === "word").map((word) => word.text),
    ["Your", "table", "is", "booked."],
  );
});

test("voices, models and the user", async () => {
  const { voices } = await client.voices.getAll();
  const found = await client.voices.search();
  const models = await client.models.list();

  assert.equal(voices[0]?.voiceId, VOICE);
  assert.equal(found.voices.length, voices.length);
  assert.equal((await client.voices.get(VOICE)).name, "Rachel");
  assert.ok(models.some(({ modelId }) => modelId === "eleven_flash_v2_5"));
  assert.equal((await client.user.get()).subscription.tier, "free");
  assert.equal((await client.user.subscription.get()).characterLimit, 1_000_000);
  await assert.rejects(client.voices.get("nobody"), { statusCode: 404 });
});

test("a wrong key and every refusal arrive as the SDK's own error classes", async () => {
  const stranger = new ElevenLabsClient({ apiKey: "bad", baseUrl, maxRetries: 0 });
  const speak = (asking = client) => asking.textToSpeech.convert(VOICE, { text });
  const isError = (statusCode: number) => (error: unknown) =>
    error instanceof ElevenLabsError && error.statusCode === statusCode;
  const statuses = [
    ["unauthorized", 401],
    ["badRequest", 400],
    ["rateLimited", 429],
    ["quotaExceeded", 401],
    ["serverError", 500],
  ] as const;

  await assert.rejects(speak(stranger), isError(401));
  await assert.rejects(stranger.voices.getAll(), isError(401));
  for (const [fault, status] of statuses) {
    faults.elevenlabs = { fault, times: 1 };
    await assert.rejects(speak(), isError(status), fault);
  }
  await assert.rejects(
    client.textToSpeech.convert(VOICE, { text: "" }),
    ElevenLabs.UnprocessableEntityError,
  );
});

test("audio that breaks off reaches its reader as an error", async () => {
  faults.elevenlabs = { fault: "disconnectMidStream", times: 1 };
  const audio = await client.textToSpeech.stream(VOICE, { text });

  await assert.rejects(bytesOf(audio));
});
