import assert from "node:assert/strict";
import { after, afterEach, before, test } from "node:test";
import { MP3 } from "../../../../engine/audio/audio-format.js";
import { startSandbox } from "../../../../engine/sandbox/sandbox.js";
import { SystemClock } from "../../../../engine/time/clock.js";
import type { LanguageModel } from "../../../../engine/vendors/contracts.js";
import {
  HOSTED_COMPATIBLE,
  OTHER_COMPATIBLE,
} from "../../../../engine/vendors/openai-compatible/openai-compatible.js";
import { Connections } from "../../../../engine/vendors/transport/connections.js";
import { offersOf } from "../asked-server.js";
import { never } from "../sandboxed-vendors.js";
import { ScriptedWebServer } from "../scripted-web-server.js";

const clock = new SystemClock();
const connections = new Connections({ clock, allowPrivateAddresses: true });
const server = new ScriptedWebServer();
before(() => server.start());
afterEach(() => server.requests.splice(0));
after(async () => {
  await connections.close();
  await server.close();
});

/** Stored credentials and an operator's environment contain these names: a change leaves them behind. */
const NAMES = [
  ["anthropic", "ANTHROPIC_API_KEY", "ANTHROPIC_BASE_URL"],
  ["gemini", "GEMINI_API_KEY", "GEMINI_BASE_URL"],
  ["mistral", "MISTRAL_API_KEY", "MISTRAL_BASE_URL"],
  ["openrouter", "OPENROUTER_API_KEY", "OPENROUTER_BASE_URL"],
  ["whisper", undefined, "WHISPER_BASE_URL"],
  ["kokoro", undefined, "KOKORO_BASE_URL"],
  ["vllm", undefined, undefined],
  ["llama-cpp", undefined, undefined],
  ["openai-compatible", undefined, undefined],
];

test("servers of OpenAI's protocol go by the names that are stored and set", () => {
  assert.deepEqual(
    [...HOSTED_COMPATIBLE, ...OTHER_COMPATIBLE].map(({ key, apiKey, address }) => [
      key,
      apiKey.variable,
      address.variable,
    ]),
    NAMES,
  );
});

const OFFERS = `
anthropic llm Anthropic; claude-haiku-4-5 "Claude Haiku 4.5" starter; claude-sonnet-5 "Claude Sonnet 5" enterprise; reasoningEffort string baseUrl url
gemini llm Google Gemini; gemini-3.5-flash-lite "Gemini 3.5 Flash-Lite" free; gemini-3.6-flash "Gemini 3.6 Flash" starter; reasoningEffort string baseUrl url
mistral llm Mistral; mistral-small-latest "Mistral Small" free; mistral-medium-latest "Mistral Medium" pro; reasoningEffort string baseUrl url
openrouter llm OpenRouter; openai/gpt-6-luna "GPT-6 Luna" starter; google/gemini-3.6-flash "Gemini 3.6 Flash" starter; anthropic/claude-haiku-4.5 "Claude Haiku 4.5" pro; reasoningEffort string baseUrl url
whisper stt Whisper at home; Systran/faster-whisper-small "Whisper small" free; Systran/faster-whisper-large-v3 "Whisper large v3" free; silenceMs number baseUrl url
kokoro tts Kokoro at home; kokoro "Kokoro" free; voice string instructions string baseUrl url
vllm llm vLLM; reasoningEffort string baseUrl url
llama-cpp llm llama.cpp; reasoningEffort string baseUrl url
openai-compatible llm OpenAI-compatible server; reasoningEffort string baseUrl url
openai-compatible tts OpenAI-compatible server; voice string instructions string baseUrl url
openai-compatible stt OpenAI-compatible server; silenceMs number baseUrl url
`;

test("each server offers what it is known for, and those that are set up at home name no models", () => {
  assert.equal(offersOf([...HOSTED_COMPATIBLE, ...OTHER_COMPATIBLE]), OFFERS);
});

test("servers of voices speak by their usual one unless another is set", async () => {
  server.answer = (response) => response.end("sound");
  const voices: unknown[] = [];
  for (const { tts } of OTHER_COMPATIBLE) {
    if (tts === undefined) continue;
    const given = { apiKey: "k", baseUrl: `${server.url}/v1`, settings: {}, clientOwned: false };
    const request = { text: "Hi.", modelId: "m", speed: 1, language: "en", format: MP3 };
    await tts.client(given, { clock, connections }).synthesize(request, () => undefined, never());
    voices.push(JSON.parse(server.requests.at(-1)?.body ?? "").voice);
  }
  assert.deepEqual(voices, ["af_heart", "alloy"]);
});

test("usage is requested if the server supports that, and every other field is one that its models accept", async () => {
  server.answer = (response) => {
    response.setHeader("content-type", "text/event-stream");
    const choice = { delta: { content: "Hi" }, finish_reason: "stop" };
    response.end(`data: ${JSON.stringify({ choices: [choice] })}\n\ndata: [DONE]\n\n`);
  };
  const asking: string[] = [];
  for (const { key, llm } of [...HOSTED_COMPATIBLE, ...OTHER_COMPATIBLE]) {
    if (llm === undefined) continue;
    const given = { apiKey: "k", baseUrl: `${server.url}/v1`, settings: {}, clientOwned: false };
    const messages = [{ role: "user", content: "Hello" }] as const;
    const request = { modelId: "m", messages, temperature: 0.5, maxTokens: 9 };
    const client = llm.client(given, { clock, connections });
    await client.complete(request, () => undefined, never());
    const { stream_options: usage, ...others } = JSON.parse(server.requests.at(-1)?.body ?? "");
    if (usage !== undefined) {
      assert.deepEqual(usage, { include_usage: true });
      asking.push(key);
    }
    assert.deepEqual(Object.keys(others).sort(), [
      "max_tokens",
      "messages",
      "model",
      // What the newest of Google's and Anthropic's models have in common, this one is thought to have, too.
      ...(key === "gemini" ? ["reasoning_effort"] : []),
      "stream",
      ...(["gemini", "anthropic"].includes(key) ? [] : ["temperature"]),
    ]);
  }
  assert.deepEqual(asking, [
    "anthropic",
    "gemini",
    "openrouter",
    "vllm",
    "llama-cpp",
    "openai-compatible",
  ]);
});

const GEMINIS = [
  ["gemini-2.5-flash", { max_tokens: 200, reasoning_effort: "none" }],
  ["models/gemini-2.5-flash-preview-09-2025", { max_tokens: 200, reasoning_effort: "none" }],
  ["gemini-2.5-pro", { max_tokens: 1_224, reasoning_effort: "low" }],
  ["gemini-3-flash-preview", { max_tokens: 1_224, reasoning_effort: "low" }],
  ["gemini-3.1-pro-preview", { max_tokens: 1_224, reasoning_effort: "low" }],
  ["gemini-flash-latest", { max_tokens: 1_224, reasoning_effort: "low" }],
  ["gemini-2.5-flash-lite", { max_tokens: 200 }],
  ["gemini-2.0-flash", { max_tokens: 200 }],
  ["gemini-3.6-flash", { max_tokens: 1_224, reasoning_effort: "minimal" }],
  ["gemini-3.5-flash-lite", { max_tokens: 1_224, reasoning_effort: "minimal" }],
  ["gemini-9-pro", { max_tokens: 1_224, reasoning_effort: "low" }],
] as const;

test("reasoning Geminis get the setting without reasoning, or if there is none the shortest, with room for it", async (t) => {
  const sandbox = await startSandbox();
  t.after(() => sandbox.close());
  const gemini = HOSTED_COMPATIBLE.find(({ key }) => key === "gemini")?.llm;
  assert.ok(gemini);
  const said = "say one two three four five six seven eight nine ten";
  for (const [modelId, expected] of GEMINIS) {
    const messages = [{ role: "user", content: said }] as const;
    const request = { modelId, messages, temperature: 0.5, maxTokens: 200 };
    const clientAt = (baseUrl: string): LanguageModel => {
      const given = { apiKey: "k", baseUrl, settings: {}, clientOwned: false };
      return gemini.client(given, { clock, connections });
    };
    let heard = "";
    const told = (text: string) => (heard += text);
    const { finishReason } = await clientAt(sandbox.urls.gemini).complete(request, told, never());
    assert.equal(`say ${heard}`, said, modelId);
    assert.equal(finishReason, "stop");
    server.answer = (response) => response.end("data: [DONE]\n\n");
    await clientAt(`${server.url}/v1`).complete(request, told, never());
    const { model, max_tokens, reasoning_effort } = JSON.parse(server.requests.at(-1)?.body ?? "");
    const asked = { max_tokens, ...(reasoning_effort === undefined ? {} : { reasoning_effort }) };
    assert.deepEqual([model, asked], [modelId, expected]);
  }
});
