import assert from "node:assert/strict";
import { test } from "node:test";
import { VENDOR_CATALOG } from "../../../../engine/tenancy/providers/vendor-catalog.js";

test("every vendor requires a key except self-hosted and keyless ones", () => {
  const keyless = VENDOR_CATALOG.filter(({ requiresKey }) => !requiresKey);
  assert.deepEqual(
    keyless.map(({ category, providerKey }) => `${category} ${providerKey}`),
    [
      "llm ollama",
      "llm vllm",
      "llm llama-cpp",
      "llm openai-compatible",
      "tts kokoro",
      "tts openai-compatible",
      "tts edge",
      "stt whisper",
      "stt openai-compatible",
    ],
  );
});

test("every vendor is listed under its common name", () => {
  assert.deepEqual(
    VENDOR_CATALOG.map(({ category, displayName }) => `${category} ${displayName}`),
    [
      "llm OpenAI",
      "llm Groq",
      "llm Anthropic",
      "llm Google Gemini",
      "llm Mistral",
      "llm OpenRouter",
      "llm Ollama",
      "llm vLLM",
      "llm llama.cpp",
      "llm OpenAI-compatible server",
      "tts OpenAI speech",
      "tts ElevenLabs",
      "tts Cartesia",
      "tts Deepgram Aura",
      "tts Kokoro at home",
      "tts OpenAI-compatible server",
      "tts Edge voices",
      "stt Deepgram",
      "stt AssemblyAI",
      "stt Whisper at home",
      "stt OpenAI-compatible server",
    ],
  );
});
