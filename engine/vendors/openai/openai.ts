import { AudioSpeech, audioSpeechFields } from "../openai-protocol/audio-speech.js";
import { HTTP_PROTOCOLS } from "../setting-fields.js";
import { BASE_URL, setting, type Vendor } from "../vendor.js";
import { OPENAI_FIELDS, OPENAI_URL, openAi } from "./openai-chat.js";

const SPEECH_FIELDS = audioSpeechFields("alloy");

export const OPENAI: Vendor = {
  key: "openai",
  apiKey: { isRequired: true, variable: "OPENAI_API_KEY" },
  address: { variable: "OPENAI_BASE_URL", publicUrl: OPENAI_URL, protocols: HTTP_PROTOCOLS },
  llm: {
    displayName: "OpenAI",
    models: [
      { modelId: "gpt-4o-mini", label: "GPT-4o mini", plan: "free" },
      { modelId: "gpt-4.1-mini", label: "GPT-4.1 mini", plan: "starter" },
      { modelId: "gpt-4o", label: "GPT-4o", plan: "pro" },
      { modelId: "gpt-4.1", label: "GPT-4.1", plan: "enterprise" },
    ],
    fields: OPENAI_FIELDS,
    settings: [
      setting("reasoningEffort", "Effort of models that reason, none to high", "string"),
      BASE_URL,
    ],
    client: openAi,
  },
  tts: {
    displayName: "OpenAI speech",
    models: [
      { modelId: "gpt-4o-mini-tts", label: "GPT-4o mini TTS", plan: "starter" },
      { modelId: "tts-1", label: "TTS 1", description: "Lower delay", plan: "free" },
      { modelId: "tts-1-hd", label: "TTS 1 HD", plan: "pro" },
    ],
    fields: SPEECH_FIELDS,
    settings: [
      setting("voice", "Voice", "string"),
      setting("instructions", "How to speak, for models that take directions", "string"),
      BASE_URL,
    ],
    client: (given, context) => {
      const dialect = { vendor: "openai", publicUrl: OPENAI_URL, isKeyRequired: true };
      return new AudioSpeech({ ...dialect, fields: SPEECH_FIELDS }, given, context);
    },
  },
};
