import {
  ASSEMBLYAI_FAULTS,
  CHAT_FAULTS,
  DEEPGRAM_FAULTS,
  EDGE_FAULTS,
  type SandboxVendor,
  SPEECH_FAULTS,
} from "../../../engine/sandbox/faults.js";
import type { SandboxUrls } from "../../../engine/sandbox/sandbox-urls.js";

/** One vendor as an agent uses it, with all that its simulator can do wrong. */
export interface HostileLane {
  readonly vendor: SandboxVendor;
  readonly category: "llm" | "tts" | "stt";
  readonly providerKey: string;
  readonly url: keyof SandboxUrls;
  readonly modelId: string;
  readonly faults: readonly string[];
}

export const HOSTILE_LANES: readonly HostileLane[] = [
  {
    vendor: "deepgram",
    category: "stt",
    providerKey: "deepgram",
    url: "deepgram",
    modelId: "nova-3",
    faults: DEEPGRAM_FAULTS,
  },
  {
    vendor: "deepgram",
    category: "stt",
    providerKey: "deepgram",
    url: "deepgram",
    modelId: "flux-general-en",
    faults: DEEPGRAM_FAULTS,
  },
  {
    vendor: "assemblyai",
    category: "stt",
    providerKey: "assemblyai",
    url: "assemblyai",
    modelId: "universal-streaming-english",
    faults: ASSEMBLYAI_FAULTS,
  },
  languageModel("openai", "gpt-6-luna"),
  languageModel("groq", "openai/gpt-oss-20b"),
  languageModel("ollama", "llama3.2"),
  voice("openaiSpeech", "openai", "tts-1"),
  voice("elevenlabs", "elevenlabs", "eleven_flash_v2_5"),
  voice("cartesia", "cartesia", "sonic-3.5"),
  voice("deepgramSpeech", "deepgram", "aura-2-thalia-en"),
  { ...voice("edge", "edge", "en-US-AriaNeural"), faults: EDGE_FAULTS },
];

function languageModel(vendor: "openai" | "groq" | "ollama", modelId: string): HostileLane {
  const faults = CHAT_FAULTS;
  return { vendor, category: "llm", providerKey: vendor, url: vendor, modelId, faults };
}

function voice(
  vendor: SandboxVendor,
  providerKey: keyof SandboxUrls,
  modelId: string,
): HostileLane {
  const faults = SPEECH_FAULTS;
  return { vendor, category: "tts", providerKey, url: providerKey, modelId, faults };
}
