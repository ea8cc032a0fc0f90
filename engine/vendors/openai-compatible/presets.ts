import { REASONING_HEADROOM_TOKENS } from "../chat-completions/chat-completions.js";
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
  llm: [
    { modelId: "claude-haiku-4-5", label: "Claude Haiku 4.5", plan: "starter" },
    { modelId: "claude-sonnet-4-5", label: "Claude Sonnet 4.5", plan: "enterprise" },
  ],
};

/** Geminis that think unless they are told not to. */
const THINKS_UNLESS_TOLD = /gemini-2\.5-flash(?!-lite)/;
/** Geminis that cannot be told not to, and what may be one of them by tomorrow. */
const THINKS_ALWAYS = /gemini-(?:2\.5-pro|[3-9]|(?:flash|pro)-latest)/;

const GEMINI: CompatibleServer = {
  key: "gemini",
  displayName: "Google Gemini",
  keyVariable: "GEMINI_API_KEY",
  addressVariable: "GEMINI_BASE_URL",
  publicUrl: "https://generativelanguage.googleapis.com/v1beta/openai",
  reasoningParameters: ({ modelId, maxTokens }) => {
    if (THINKS_UNLESS_TOLD.test(modelId)) return { reasoning_effort: "none" };
    if (!THINKS_ALWAYS.test(modelId)) return {};
    return { max_tokens: maxTokens + REASONING_HEADROOM_TOKENS, reasoning_effort: "low" };
  },
  llm: [
    { modelId: "gemini-2.5-flash-lite", label: "Gemini 2.5 Flash-Lite", plan: "free" },
    { modelId: "gemini-2.5-flash", label: "Gemini 2.5 Flash", plan: "starter" },
  ],
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
  llm: [
    { modelId: "mistral-small-latest", label: "Mistral Small", plan: "free" },
    { modelId: "mistral-medium-latest", label: "Mistral Medium", plan: "pro" },
  ],
};

const OPENROUTER: CompatibleServer = {
  key: "openrouter",
  displayName: "OpenRouter",
  keyVariable: "OPENROUTER_API_KEY",
  addressVariable: "OPENROUTER_BASE_URL",
  publicUrl: "https://openrouter.ai/api/v1",
  llm: [
    { modelId: "openai/gpt-4o-mini", label: "GPT-4o mini", plan: "starter" },
    { modelId: "google/gemini-2.5-flash", label: "Gemini 2.5 Flash", plan: "starter" },
    { modelId: "anthropic/claude-haiku-4.5", label: "Claude Haiku 4.5", plan: "pro" },
  ],
};

/** Speaches and other servers of Whisper models. */
const WHISPER: CompatibleServer = {
  key: "whisper",
  displayName: "Whisper at home",
  addressVariable: "WHISPER_BASE_URL",
  usualUrl: "http://127.0.0.1:8000/v1",
  stt: [
    { modelId: "Systran/faster-whisper-small", label: "Whisper small", plan: "free" },
    { modelId: "Systran/faster-whisper-large-v3", label: "Whisper large v3", plan: "free" },
  ],
};

const KOKORO: CompatibleServer = {
  key: "kokoro",
  displayName: "Kokoro at home",
  addressVariable: "KOKORO_BASE_URL",
  usualUrl: "http://127.0.0.1:8880/v1",
  tts: { models: [{ modelId: "kokoro", label: "Kokoro", plan: "free" }], voice: "af_heart" },
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
