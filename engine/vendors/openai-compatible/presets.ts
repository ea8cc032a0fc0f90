import { offeredModels } from "../model-catalog.js";
import type { Vendor } from "../vendor.js";
import { mistralCallId } from "./mistral-call-id.js";
import { type CompatibleServer, compatibleVendor } from "./openai-compatible.js";

// None of these vendors was called from here; addresses and names are those of their documents and may change.

const ANTHROPIC: CompatibleServer = {
  key: "anthropic",
  displayName: "Anthropic",
  keyVariable: "ANTHROPIC_API_KEY",
  addressVariable: "ANTHROPIC_BASE_URL",
  publicUrl: "https://api.anthropic.com/v1",
  llm: offeredModels("anthropic", "llm"),
};

const GEMINI: CompatibleServer = {
  key: "gemini",
  displayName: "Google Gemini",
  keyVariable: "GEMINI_API_KEY",
  addressVariable: "GEMINI_BASE_URL",
  publicUrl: "https://generativelanguage.googleapis.com/v1beta/openai",
  llm: offeredModels("gemini", "llm"),
};

const MISTRAL: CompatibleServer = {
  key: "mistral",
  displayName: "Mistral",
  keyVariable: "MISTRAL_API_KEY",
  addressVariable: "MISTRAL_BASE_URL",
  publicUrl: "https://api.mistral.ai/v1",
  // It refuses fields that it does not know; whether it knows this one is not confirmed.
  refusesStreamOptions: true,
  callIdOf: mistralCallId,
  llm: offeredModels("mistral", "llm"),
};

const OPENROUTER: CompatibleServer = {
  key: "openrouter",
  displayName: "OpenRouter",
  keyVariable: "OPENROUTER_API_KEY",
  addressVariable: "OPENROUTER_BASE_URL",
  publicUrl: "https://openrouter.ai/api/v1",
  llm: offeredModels("openrouter", "llm"),
};

/** Speaches and other servers of Whisper models. */
const WHISPER: CompatibleServer = {
  key: "whisper",
  displayName: "Whisper at home",
  addressVariable: "WHISPER_BASE_URL",
  usualUrl: "http://127.0.0.1:8000/v1",
  stt: offeredModels("whisper", "stt"),
};

const KOKORO: CompatibleServer = {
  key: "kokoro",
  displayName: "Kokoro at home",
  addressVariable: "KOKORO_BASE_URL",
  usualUrl: "http://127.0.0.1:8880/v1",
  tts: { models: offeredModels("kokoro", "tts"), voice: "af_heart" },
};

const VLLM: CompatibleServer = {
  key: "vllm",
  displayName: "vLLM",
  usualUrl: "http://127.0.0.1:8000/v1",
  llm: [],
};

const LLAMA_CPP: CompatibleServer = {
  key: "llama-cpp",
  displayName: "llama.cpp",
  usualUrl: "http://127.0.0.1:8080/v1",
  llm: [],
};

/** Any other server: its models are named by whoever sets it up. */
const OTHER: CompatibleServer = {
  key: "openai-compatible",
  displayName: "OpenAI-compatible server",
  llm: [],
  tts: { models: [], voice: "alloy" },
  stt: [],
};

export const HOSTED_COMPATIBLE: readonly Vendor[] = [ANTHROPIC, GEMINI, MISTRAL, OPENROUTER].map(
  compatibleVendor,
);
export const OTHER_COMPATIBLE: readonly Vendor[] = [WHISPER, KOKORO, VLLM, LLAMA_CPP, OTHER].map(
  compatibleVendor,
);
