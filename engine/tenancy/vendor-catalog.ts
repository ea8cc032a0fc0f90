import type { RegistryRecord, RegistrySetting } from "../../storage/records.js";

export type VendorEntry = Omit<RegistryRecord, "createdAtMs">;

/** A `string` is not empty; a `url` is http, https, ws or wss. */
type SettingType = "string" | "number" | "boolean" | "url";

function setting(key: string, label: string, type: SettingType): RegistrySetting {
  return { key, label, type, required: false };
}

const BASE_URL = setting("baseUrl", "Base URL, for a compatible server", "url");

/** Used for a client's own Deepgram provider that lists no models. */
export const DEFAULT_STT_MODEL_ID = "nova-3";

const STT_VENDORS: readonly VendorEntry[] = [
  {
    category: "stt",
    providerKey: "deepgram",
    displayName: "Deepgram",
    requiresKey: true,
    models: [
      { modelId: DEFAULT_STT_MODEL_ID, label: "Nova 3" },
      { modelId: "nova-2", label: "Nova 2" },
    ],
    settings: [setting("utteranceEndMs", "Silence that ends an utterance, ms", "number"), BASE_URL],
  },
];

const LLM_VENDORS: readonly VendorEntry[] = [
  {
    category: "llm",
    providerKey: "ollama",
    displayName: "Ollama",
    requiresKey: false,
    models: [
      { modelId: "llama3.2", label: "Llama 3.2 3B", description: "Runs on a laptop" },
      { modelId: "llama3.1", label: "Llama 3.1 8B" },
      { modelId: "qwen2.5", label: "Qwen 2.5 7B" },
    ],
    settings: [setting("contextTokens", "Size of the context, tokens", "number"), BASE_URL],
  },
  {
    category: "llm",
    providerKey: "groq",
    displayName: "Groq",
    requiresKey: true,
    models: [
      { modelId: "llama-3.1-8b-instant", label: "Llama 3.1 8B", description: "Fastest answers" },
      { modelId: "openai/gpt-oss-20b", label: "GPT-OSS 20B" },
      { modelId: "llama-3.3-70b-versatile", label: "Llama 3.3 70B" },
      { modelId: "openai/gpt-oss-120b", label: "GPT-OSS 120B" },
    ],
    settings: [BASE_URL],
  },
  {
    category: "llm",
    providerKey: "openai",
    displayName: "OpenAI",
    requiresKey: true,
    models: [
      { modelId: "gpt-4o-mini", label: "GPT-4o mini" },
      { modelId: "gpt-4.1-mini", label: "GPT-4.1 mini" },
      { modelId: "gpt-4o", label: "GPT-4o" },
      { modelId: "gpt-4.1", label: "GPT-4.1" },
    ],
    settings: [
      setting("reasoningEffort", "Effort of models that reason, none to high", "string"),
      BASE_URL,
    ],
  },
];

const TTS_VENDORS: readonly VendorEntry[] = [
  {
    category: "tts",
    providerKey: "edge",
    displayName: "Edge voices",
    requiresKey: false,
    models: [
      { modelId: "en-US-AriaNeural", label: "Aria (English, US)" },
      { modelId: "en-US-GuyNeural", label: "Guy (English, US)" },
      { modelId: "en-GB-SoniaNeural", label: "Sonia (English, UK)" },
      { modelId: "de-DE-KatjaNeural", label: "Katja (German)" },
      { modelId: "es-ES-ElviraNeural", label: "Elvira (Spanish)" },
      { modelId: "fr-FR-DeniseNeural", label: "Denise (French)" },
    ],
    settings: [
      setting("pitch", "Pitch, for example +10Hz", "string"),
      setting("volume", "Volume, for example -20%", "string"),
      BASE_URL,
    ],
  },
  {
    category: "tts",
    providerKey: "elevenlabs",
    displayName: "ElevenLabs",
    requiresKey: true,
    models: [
      { modelId: "eleven_flash_v2_5", label: "Flash v2.5", description: "Lowest delay" },
      { modelId: "eleven_turbo_v2_5", label: "Turbo v2.5" },
      { modelId: "eleven_multilingual_v2", label: "Multilingual v2" },
    ],
    settings: [
      setting("voiceId", "Voice id", "string"),
      setting("stability", "Stability, 0 to 1", "number"),
      setting("similarityBoost", "Similarity to the voice, 0 to 1", "number"),
      setting("style", "Style, 0 to 1", "number"),
      BASE_URL,
    ],
  },
  {
    category: "tts",
    providerKey: "openai",
    displayName: "OpenAI speech",
    requiresKey: true,
    models: [
      { modelId: "gpt-4o-mini-tts", label: "GPT-4o mini TTS" },
      { modelId: "tts-1", label: "TTS 1", description: "Lower delay" },
      { modelId: "tts-1-hd", label: "TTS 1 HD" },
    ],
    settings: [
      setting("voice", "Voice", "string"),
      setting("instructions", "How to speak, for models that take directions", "string"),
      BASE_URL,
    ],
  },
];

/** Every vendor that the server has a client for; read-only to tenants. */
export const VENDOR_CATALOG: readonly VendorEntry[] = [
  ...LLM_VENDORS,
  ...TTS_VENDORS,
  ...STT_VENDORS,
];
