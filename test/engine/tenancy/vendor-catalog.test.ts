import assert from "node:assert/strict";
import { test } from "node:test";
import { VENDOR_CATALOG } from "../../../engine/tenancy/vendor-catalog.js";

test("every vendor needs a key but those that run at home or ask for none", () => {
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
