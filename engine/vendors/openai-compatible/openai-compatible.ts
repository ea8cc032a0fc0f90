import { createHash } from "node:crypto";
import { ChatCompletions, type ChatDialect } from "../chat-completions/chat-completions.js";
import { REASONING_FIELDS } from "../chat-completions/chat-parameters.js";
import type { LanguageModel, SpeechToText, TextToSpeech } from "../contracts.js";
import { offeredModels } from "../model-catalog.js";
import { AudioSpeech, audioSpeechFields } from "../openai-protocol/audio-speech.js";
import {
  AudioTranscriptions,
  TRANSCRIPTION_FIELDS,
} from "../openai-protocol/audio-transcriptions.js";
import { Embeddings } from "../openai-protocol/embeddings.js";
import { HTTP_PROTOCOLS } from "../setting-fields.js";
import {
  BASE_URL,
  type Offer,
  REASONING_EFFORT,
  setting,
  type Vendor,
  type VendorModel,
} from "../vendor.js";

const ID_CHARS = 9;
const TAKEN = /^[a-zA-Z0-9]{9}$/;

/** Mistral accepts only tool call ids in its own format; in a chain some ids are another vendor's. */
export function mistralCallId(id: string): string {
  if (TAKEN.test(id)) return id;
  return createHash("sha256").update(id).digest("hex").slice(0, ID_CHARS);
}

/** A server that uses OpenAI's protocol. */
export interface CompatibleServer {
  readonly key: string;
  readonly displayName: string;
  /** The environment variable with the platform's key; undefined: a key is optional. */
  readonly keyVariable?: string;
  readonly addressVariable?: string;
  /** Undefined: the provider's settings must contain the address. */
  readonly publicUrl?: string;
  /** Shown as an example where the address has to be entered. */
  readonly usualUrl?: string;
  /** It refuses `stream_options`; it reports usage by default. */
  readonly refusesStreamOptions?: true;
  /** It accepts only tool call ids that this function makes. */
  readonly callIdOf?: (id: string) => string;
  readonly llm?: readonly VendorModel[];
  readonly hasEmbeddings?: true;
  readonly tts?: { readonly models: readonly VendorModel[]; readonly voice: string };
  readonly stt?: readonly VendorModel[];
}

/** The vendor of a server: one of the presets, or any other server by its address. */
export function compatibleVendor(server: CompatibleServer): Vendor {
  const { key, displayName, keyVariable, addressVariable, publicUrl, llm, tts, stt } = server;
  const isKeyRequired = keyVariable !== undefined;
  const access = { vendor: key, publicUrl: publicUrl ?? "", isKeyRequired };
  const address = addressSetting(server);
  return {
    key,
    apiKey: { isRequired: isKeyRequired, ...(keyVariable && { variable: keyVariable }) },
    address: {
      protocols: HTTP_PROTOCOLS,
      ...(addressVariable && { variable: addressVariable }),
      ...(publicUrl && { publicUrl }),
    },
    ...(llm && { llm: languageOffer(server, llm, [address]) }),
    ...(tts && { tts: speechOffer(displayName, tts, access, address) }),
    ...(stt && { stt: transcriptionOffer(displayName, stt, access, address) }),
    ...(server.hasEmbeddings && {
      embeddings: (given, context) =>
        new Embeddings({ ...access, path: "/embeddings" }, given, context),
    }),
  };
}

type Access = ConstructorParameters<typeof AudioTranscriptions>[0];
type Settings = Offer<unknown>["settings"];

function addressSetting({ publicUrl, usualUrl }: CompatibleServer): Settings[number] {
  if (publicUrl !== undefined) return BASE_URL;
  const example = usualUrl ?? "https://models.example.com/v1";
  return { ...setting("baseUrl", `Base URL, such as ${example}`, "url"), required: true };
}

function languageOffer(
  server: CompatibleServer,
  models: readonly VendorModel[],
  settings: Settings,
): Offer<LanguageModel> {
  const { key, displayName, keyVariable, publicUrl, refusesStreamOptions } = server;
  const dialect: ChatDialect = {
    vendor: key,
    publicUrl: publicUrl ?? "",
    callIdOf: server.callIdOf,
    ...(keyVariable === undefined ? { isKeyOptional: true } : {}),
    ...(refusesStreamOptions ? {} : { common: { stream_options: { include_usage: true } } }),
  };
  const client: Offer<LanguageModel>["client"] = (given, context) =>
    new ChatCompletions(dialect, given, context);
  return {
    displayName,
    models,
    fields: REASONING_FIELDS,
    settings: [REASONING_EFFORT, ...settings],
    client,
  };
}

function speechOffer(
  displayName: string,
  { models, voice }: NonNullable<CompatibleServer["tts"]>,
  access: Access,
  address: Settings[number],
): Offer<TextToSpeech> {
  const fields = audioSpeechFields(voice);
  return {
    displayName,
    models,
    fields,
    settings: [
      setting("voice", "Voice", "string"),
      setting("instructions", "Speaking instructions, for models that support them", "string"),
      address,
    ],
    client: (given, context) => new AudioSpeech({ ...access, fields }, given, context),
    voices: { setting: "voice", list: () => Promise.resolve({ voices: [], hasMore: false }) },
  };
}

function transcriptionOffer(
  displayName: string,
  models: readonly VendorModel[],
  access: Access,
  address: Settings[number],
): Offer<SpeechToText> {
  return {
    displayName,
    models,
    fields: TRANSCRIPTION_FIELDS,
    settings: [setting("silenceMs", "Silence that ends an utterance, ms", "number"), address],
    client: (given, context) => new AudioTranscriptions(access, given, context),
  };
}

// These vendors have not been called from here; addresses and names are those of their documents and may change.

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
  hasEmbeddings: true,
};

const MISTRAL: CompatibleServer = {
  key: "mistral",
  displayName: "Mistral",
  keyVariable: "MISTRAL_API_KEY",
  addressVariable: "MISTRAL_BASE_URL",
  publicUrl: "https://api.mistral.ai/v1",
  // It refuses unknown fields; whether it knows this one is not confirmed.
  refusesStreamOptions: true,
  callIdOf: mistralCallId,
  llm: offeredModels("mistral", "llm"),
  hasEmbeddings: true,
};

const OPENROUTER: CompatibleServer = {
  key: "openrouter",
  displayName: "OpenRouter",
  keyVariable: "OPENROUTER_API_KEY",
  addressVariable: "OPENROUTER_BASE_URL",
  publicUrl: "https://openrouter.ai/api/v1",
  llm: offeredModels("openrouter", "llm"),
  hasEmbeddings: true,
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
  hasEmbeddings: true,
};

const LLAMA_CPP: CompatibleServer = {
  key: "llama-cpp",
  displayName: "llama.cpp",
  usualUrl: "http://127.0.0.1:8080/v1",
  llm: [],
  hasEmbeddings: true,
};

/** Any other server: the provider's settings name its models. */
const OTHER: CompatibleServer = {
  key: "openai-compatible",
  displayName: "OpenAI-compatible server",
  llm: [],
  hasEmbeddings: true,
  tts: { models: [], voice: "alloy" },
  stt: [],
};

export const HOSTED_COMPATIBLE: readonly Vendor[] = [ANTHROPIC, GEMINI, MISTRAL, OPENROUTER].map(
  compatibleVendor,
);
export const OTHER_COMPATIBLE: readonly Vendor[] = [WHISPER, KOKORO, VLLM, LLAMA_CPP, OTHER].map(
  compatibleVendor,
);
