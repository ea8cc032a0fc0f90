import assert from "node:assert/strict";
import { after, beforeEach, test } from "node:test";
import { noFaults } from "../../../engine/sandbox/faults.js";
import { startSandbox } from "../../../engine/sandbox/sandbox.js";
import { recognizeMp3 } from "../../../engine/sandbox/sound/mp3-decoder.js";
import { decodeMuLaw, samplesOf } from "../../../engine/sandbox/telephone/telephone-audio.js";
import { decodeSpeech } from "../../../engine/sandbox/telephone/tone-code.js";
import { giveUpOnceTaken } from "./chat-client.js";

const sandbox = await startSandbox({ apiKey: "good" });
const { faults, urls } = sandbox;
after(() => sandbox.close());
beforeEach(() => Object.assign(faults, noFaults()));

const TEXT = "Your table is booked, señor.";

interface SpeechAnswer {
  readonly status: number;
  readonly headers: Headers;
  readonly audio: Uint8Array;
  readonly isWhole: boolean;
  readonly chunkSizes: readonly number[];
}

async function post(
  url: string,
  headers: Record<string, string>,
  body: object,
  patience: AbortSignal | "endless" | "one chunk" = "endless",
): Promise<SpeechAnswer> {
  const enough = new AbortController();
  const signal = typeof patience === "string" ? enough.signal : patience;
  const init = { method: "POST", headers, body: JSON.stringify(body), signal };
  const response = await fetch(url, init);
  const chunks: Uint8Array[] = [];
  let isWhole = true;
  try {
    for await (const chunk of response.body ?? []) {
      chunks.push(chunk);
      if (patience === "one chunk") enough.abort();
    }
  } catch {
    isWhole = false;
  }
  const chunkSizes = chunks.map(({ length }) => length);
  const { status, headers: answered } = response;
  return { status, headers: answered, audio: Buffer.concat(chunks), isWhole, chunkSizes };
}

function elevenLabs(
  format = "mp3_24000_48",
  body: object = {},
  key = "good",
): Promise<SpeechAnswer> {
  return post(
    `${urls.elevenlabs}/v1/text-to-speech/21m00Tcm4TlvDq8ikWAM/stream?output_format=${format}`,
    { "xi-api-key": key, "content-type": "application/json" },
    { text: TEXT, model_id: "eleven_flash_v2_5", ...body },
  );
}

function openAi(
  body: object = {},
  patience: AbortSignal | "endless" | "one chunk" = "endless",
  key = "good",
): Promise<SpeechAnswer> {
  return post(
    `${urls.openai}/audio/speech`,
    { authorization: `Bearer ${key}` },
    { model: "tts-1", voice: "alloy", input: TEXT, ...body },
    patience,
  );
}

function textOf({ audio }: SpeechAnswer): string {
  return Buffer.from(audio).toString("utf8");
}

test("ElevenLabs speaks MP3 at 24 kHz, µ-law and PCM, and each says the text", async () => {
  const mp3 = await elevenLabs();
  const muLaw = await elevenLabs("ulaw_8000");
  const pcm = await elevenLabs("pcm_16000");

  assert.equal(mp3.headers.get("content-type"), "audio/mpeg");
  assert.equal(mp3.headers.get("character-cost"), String(TEXT.length));
  assert.equal(Buffer.from(mp3.audio.subarray(0, 3)).toString("hex"), "fff364");
  assert.equal(await recognizeMp3(mp3.audio), TEXT);
  assert.equal(decodeSpeech(decodeMuLaw(muLaw.audio), 8000), TEXT);
  assert.equal(decodeSpeech(samplesOf(pcm.audio), 16_000), TEXT);
  assert.equal((await elevenLabs("mp3_44100_128")).status, 200);
});

test("ElevenLabs refuses in its own shapes", async () => {
  const wrongKey = await elevenLabs("mp3_24000_48", {}, "bad");
  const noText = await elevenLabs("mp3_24000_48", { text: "" });
  const fast = await elevenLabs("mp3_24000_48", { voice_settings: { speed: 3 } });
  const context = { model_id: "eleven_v3", previous_text: "Before." };
  const unsupported = await elevenLabs("mp3_24000_48", context);

  assert.equal(wrongKey.status, 401);
  assert.deepEqual(JSON.parse(textOf(wrongKey)), {
    detail: { status: "invalid_api_key", message: "Invalid API key" },
  });
  assert.equal(noText.status, 422);
  assert.ok(Array.isArray(JSON.parse(textOf(noText)).detail));
  assert.equal(fast.status, 422);
  assert.equal(unsupported.status, 400);
  assert.equal((await elevenLabs("flac_1")).status, 400);
  assert.equal((await elevenLabs("mp3_24000_48", { text: "a".repeat(40_001) })).status, 400);
});

test("OpenAI speaks MP3, PCM, and WAV whose sizes are not known", async () => {
  const mp3 = await openAi();
  const pcm = await openAi({ response_format: "pcm" });
  const wav = await openAi({ response_format: "wav" });

  assert.equal(await recognizeMp3(mp3.audio), TEXT);
  assert.equal(decodeSpeech(samplesOf(pcm.audio), 24_000), TEXT);
  assert.equal(Buffer.from(wav.audio.subarray(0, 8)).toString("hex"), "52494646ffffffff");
  assert.equal(decodeSpeech(samplesOf(wav.audio.subarray(44)), 24_000), TEXT);
});

test("a slower voice takes longer", async () => {
  const usual = await openAi({ response_format: "pcm" });
  const slow = await openAi({ response_format: "pcm", speed: 0.5 });

  assert.equal(slow.audio.length, 2 * usual.audio.length);
});

test("OpenAI refuses unknown fields, long texts, formats that the sandbox has not, and wrong keys", async () => {
  for (const body of [{ language: "en" }, { input: "a".repeat(4097) }, { speed: 5 }]) {
    assert.equal((await openAi(body)).status, 400, Object.keys(body).join());
  }
  assert.equal((await openAi({ response_format: "opus" })).status, 400);
  const wrongKey = await openAi({}, "endless", "bad");
  assert.equal(wrongKey.status, 401);
  assert.equal(JSON.parse(textOf(wrongKey)).error.code, "invalid_api_key");
});

test("the faults of HTTP speech", async () => {
  faults.elevenlabs = { fault: "rateLimited", times: 1 };
  const limited = await elevenLabs();
  assert.equal(limited.status, 429);
  assert.equal(JSON.parse(textOf(limited)).detail.status, "too_many_concurrent_requests");
  faults.openaiSpeech = { fault: "serverError", after: 1, times: 1 };
  const statuses = [await openAi(), await openAi(), await openAi()].map(({ status }) => status);
  assert.deepEqual(statuses, [200, 500, 200]);

  faults.openaiSpeech = { fault: "disconnectMidStream", times: 1 };
  const cut = await openAi();
  assert.equal(cut.isWhole, false);
  assert.ok(cut.audio.length > 0);
  faults.openaiSpeech = { fault: "emptyAudio", times: 1 };
  assert.equal((await openAi()).audio.length, 0);
  faults.openaiSpeech = { fault: "garbage", times: 1 };
  assert.equal(await recognizeMp3((await openAi()).audio), "");
  faults.openaiSpeech = { fault: "stallMidStream", times: 1 };
  assert.equal((await openAi({}, "one chunk")).isWhole, false);
  faults.openaiSpeech = { fault: "stallBeforeFirstByte", times: 1 };
  await giveUpOnceTaken(
    () => faults.openaiSpeech,
    (signal) => openAi({}, signal),
  );
  faults.openaiSpeech = { fault: "disconnectBeforeFirstByte", times: 1 };
  await assert.rejects(openAi());
});

test("audio comes after the first delay, four times as fast as it is spoken, in odd pieces", async () => {
  faults.elevenlabs = { firstByteMs: 40 };
  const startMs = performance.now();
  const { audio, chunkSizes } = await elevenLabs();
  const tookMs = performance.now() - startMs;

  assert.ok(tookMs >= 40 + ((audio.length - 601) / 24_000) * 1000 - 5, `${tookMs} ms`);
  assert.ok(chunkSizes.some((size) => size % 144 !== 0 && size % 2 === 1));
});
