import assert from "node:assert/strict";
import { test } from "node:test";
import { CATEGORIES } from "../../../engine/vendors/vendor.js";
import { VENDORS, vendorOf } from "../../../engine/vendors/vendors.js";

/** In the order in which they are taken where nobody has said which: an operator sets the one variable or both. */
const ACCESS = `
openai, needs OPENAI_API_KEY, OPENAI_BASE_URL or https://api.openai.com/v1
groq, needs GROQ_API_KEY, GROQ_BASE_URL or https://api.groq.com/openai/v1
elevenlabs, needs ELEVENLABS_API_KEY, ELEVENLABS_BASE_URL or https://api.elevenlabs.io
cartesia, needs CARTESIA_API_KEY, CARTESIA_BASE_URL or https://api.cartesia.ai
deepgram, needs DEEPGRAM_API_KEY, DEEPGRAM_URL or wss://api.deepgram.com
assemblyai, needs ASSEMBLYAI_API_KEY, ASSEMBLYAI_URL or wss://streaming.assemblyai.com
anthropic, needs ANTHROPIC_API_KEY, ANTHROPIC_BASE_URL or https://api.anthropic.com/v1
gemini, needs GEMINI_API_KEY, GEMINI_BASE_URL or https://generativelanguage.googleapis.com/v1beta/openai
mistral, needs MISTRAL_API_KEY, MISTRAL_BASE_URL or https://api.mistral.ai/v1
openrouter, needs OPENROUTER_API_KEY, OPENROUTER_BASE_URL or https://openrouter.ai/api/v1
ollama, OLLAMA_BASE_URL or http://127.0.0.1:11434
whisper, WHISPER_BASE_URL
kokoro, KOKORO_BASE_URL
vllm
llama-cpp
openai-compatible
edge, EDGE_TTS_URL or wss://speech.platform.bing.com/consumer/speech/synthesize/readaloud/edge/v1
`;

test("an operator reaches each vendor by these variables, and where none is set at its public address", () => {
  const lines = VENDORS.map(({ key, apiKey, address }) => {
    const url = [address.variable, address.publicUrl].filter((each) => each !== undefined);
    const needed = apiKey.variable === undefined ? [] : [`needs ${apiKey.variable}`];
    assert.equal(apiKey.isRequired, apiKey.variable !== undefined, key);
    return [key, ...needed, ...(url.length === 0 ? [] : [url.join(" or ")])].join(", ");
  });
  assert.deepEqual(lines, ACCESS.trim().split("\n"));
});

test("a vendor is reached by the protocols of its public address, with or without TLS", () => {
  for (const { key, address } of VENDORS) {
    const isSocket = ["deepgram", "assemblyai", "edge"].includes(key);
    assert.deepEqual(address.protocols, isSocket ? ["ws:", "wss:"] : ["http:", "https:"], key);
  }
});

const NAMES = `
llm OpenAI, Groq, Anthropic, Google Gemini, Mistral, OpenRouter, Ollama, vLLM, llama.cpp, OpenAI-compatible server
tts OpenAI speech, ElevenLabs, Cartesia, Deepgram Aura, Kokoro at home, OpenAI-compatible server, Edge voices
stt Deepgram, AssemblyAI, Whisper at home, OpenAI-compatible server
`;

test("people are shown each vendor by a name for what it does", () => {
  const lines = CATEGORIES.map((category) => {
    const names = VENDORS.flatMap((vendor) => vendor[category]?.displayName ?? []);
    return `${category} ${names.join(", ")}`;
  });
  assert.deepEqual(lines, NAMES.trim().split("\n"));
});

test("a vendor is found by its key, and by no other word", () => {
  for (const vendor of VENDORS) assert.equal(vendorOf(vendor.key), vendor);
  assert.equal(vendorOf("toString"), undefined);
});

const TYPES = `
baseUrl url
contextTokens number
eotThreshold number
eotTimeoutMs number
instructions string
maxTurnSilenceMs number
minTurnSilenceMs number
pitch string
reasoningEffort string
silenceMs number
similarityBoost number
stability number
style number
transport string
utteranceEndMs number
voice string
voiceId string
`;

test("a setting has the type number, text or address", () => {
  const offered = VENDORS.flatMap((vendor) =>
    CATEGORIES.flatMap((category) => vendor[category]?.settings ?? []),
  );
  // The one of Cartesia is a factor, the one of Edge a text such as -20%.
  const types = offered.filter(({ key }) => key !== "volume").map((each) => [each.key, each.type]);
  const lines = [...new Set(types.map((each) => each.join(" ")))].sort();
  assert.deepEqual(lines, TYPES.trim().split("\n"));
  const volumes = offered.filter(({ key }) => key === "volume").map(({ type }) => type);
  assert.deepEqual(volumes, ["number", "string"]);
});
