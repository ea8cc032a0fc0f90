import { ChatCompletions, type ChatDialect } from "../chat-completions/chat-completions.js";
import { REASONING_FIELDS } from "../chat-completions/chat-parameters.js";
import type { LanguageModel } from "../contracts.js";
import { offeredModels } from "../model-catalog.js";
import { AudioSpeech, audioSpeechFields } from "../openai-protocol/audio-speech.js";
import { HTTP_PROTOCOLS } from "../setting-fields.js";
import { BASE_URL, REASONING_EFFORT, setting, type Vendor, type VendorVoice } from "../vendor.js";
import type { VendorContext, VendorSettings } from "../vendor-settings.js";

export const OPENAI_URL = "https://api.openai.com/v1";

const DIALECT: ChatDialect = {
  vendor: "openai",
  publicUrl: OPENAI_URL,
  common: { stream_options: { include_usage: true } },
};

export function openAi(given: VendorSettings, context: VendorContext): LanguageModel {
  return new ChatCompletions(DIALECT, given, context);
}

const SPEECH_FIELDS = audioSpeechFields("alloy");

/** The vendor has no endpoint for its voices; this is the list of its guide. Each speaks every language. */
const VOICES = [
  ["alloy", "Alloy", null],
  ["ash", "Ash", null],
  ["ballad", "Ballad", "Not with tts-1 and tts-1-hd"],
  ["cedar", "Cedar", "Not with tts-1 and tts-1-hd"],
  ["coral", "Coral", null],
  ["echo", "Echo", null],
  ["fable", "Fable", null],
  ["marin", "Marin", "Not with tts-1 and tts-1-hd"],
  ["nova", "Nova", null],
  ["onyx", "Onyx", null],
  ["sage", "Sage", null],
  ["shimmer", "Shimmer", null],
  ["verse", "Verse", "Not with tts-1 and tts-1-hd"],
].map(([voiceId = "", name = "", description = null]): VendorVoice => {
  return { voiceId: voiceId ?? "", name: name ?? "", language: null, description };
});

export const OPENAI: Vendor = {
  key: "openai",
  apiKey: { isRequired: true, variable: "OPENAI_API_KEY" },
  address: { variable: "OPENAI_BASE_URL", publicUrl: OPENAI_URL, protocols: HTTP_PROTOCOLS },
  llm: {
    displayName: "OpenAI",
    models: offeredModels("openai", "llm"),
    fields: REASONING_FIELDS,
    settings: [REASONING_EFFORT, BASE_URL],
    client: openAi,
  },
  tts: {
    displayName: "OpenAI speech",
    models: offeredModels("openai", "tts"),
    fields: SPEECH_FIELDS,
    settings: [
      setting("voice", "Voice", "string"),
      setting("instructions", "Speaking instructions, for models that support them", "string"),
      BASE_URL,
    ],
    client: (given, context) => {
      const dialect = { vendor: "openai", publicUrl: OPENAI_URL, isKeyRequired: true };
      return new AudioSpeech({ ...dialect, fields: SPEECH_FIELDS }, given, context);
    },
    voices: {
      setting: "voice",
      known: VOICES,
      list: () => Promise.resolve({ voices: VOICES, hasMore: false }),
    },
  },
};
