import assert from "node:assert/strict";
import { test } from "node:test";
import * as v from "valibot";
import { VENDOR_VARIABLES, vendorSettings } from "../../../engine/vendors/vendor-environment.js";

const KEYS = `
OPENAI_API_KEY GROQ_API_KEY ELEVENLABS_API_KEY CARTESIA_API_KEY DEEPGRAM_API_KEY
ASSEMBLYAI_API_KEY ANTHROPIC_API_KEY GEMINI_API_KEY MISTRAL_API_KEY OPENROUTER_API_KEY
`;
const HTTP_URLS = `
OPENAI_BASE_URL GROQ_BASE_URL ELEVENLABS_BASE_URL CARTESIA_BASE_URL ANTHROPIC_BASE_URL GEMINI_BASE_URL
MISTRAL_BASE_URL OPENROUTER_BASE_URL OLLAMA_BASE_URL WHISPER_BASE_URL KOKORO_BASE_URL
`;
const SOCKET_URLS = "DEEPGRAM_URL ASSEMBLYAI_URL EDGE_TTS_URL";

const words = (text: string) => text.trim().split(/\s+/);

function isTaken(variable: string, value: string): boolean {
  const schema = v.object(VENDOR_VARIABLES);
  return v.safeParse(schema, { [variable]: value }).success;
}

test("the environment has these variables for the vendors, and no others", () => {
  const all = [KEYS, HTTP_URLS, SOCKET_URLS].flatMap(words);
  assert.deepEqual(new Set(Object.keys(VENDOR_VARIABLES)), new Set(all));
});

test("an address has the protocols of its vendor", () => {
  for (const variable of words(HTTP_URLS)) {
    assert.ok(isTaken(variable, "http://x") && isTaken(variable, "https://x"), variable);
    assert.ok(!isTaken(variable, "wss://x"), variable);
  }
  for (const variable of words(SOCKET_URLS)) {
    assert.ok(isTaken(variable, "ws://x") && isTaken(variable, "wss://x"), variable);
    assert.ok(!isTaken(variable, "https://x"), variable);
  }
});

test("what is not set is the public address, or nowhere", () => {
  const read = v.parse(v.object(VENDOR_VARIABLES), {});
  const { vendorUrls, vendorKeys } = vendorSettings(read);
  assert.equal(vendorUrls["groq"], "https://api.groq.com/openai/v1");
  assert.equal(vendorUrls["assemblyai"], "wss://streaming.assemblyai.com");
  assert.equal(vendorUrls["whisper"], undefined);
  assert.equal(Object.keys(vendorUrls).length, words(HTTP_URLS).length + 3);
  assert.equal(Object.keys(vendorKeys).length, words(KEYS).length);
});

test("keys and addresses go by the vendor's key", () => {
  const read = { OPENAI_API_KEY: "k", KOKORO_BASE_URL: "http://x", GROQ_API_KEY: 5 };
  const { vendorUrls, vendorKeys } = vendorSettings(read);
  assert.deepEqual([vendorKeys["openai"], vendorUrls["kokoro"]], ["k", "http://x"]);
  assert.equal(vendorKeys["groq"], undefined, "no text");
  assert.ok(!("ollama" in vendorKeys) && !("vllm" in vendorUrls));
});
