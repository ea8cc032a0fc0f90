import type { Category } from "../../storage/records.js";
import {
  type LanguageModel,
  type SpeechToText,
  type TextToSpeech,
  VendorError,
} from "./contracts.js";
import { Deepgram } from "./deepgram/deepgram.js";
import { EdgeSpeech } from "./edge/edge.js";
import { ElevenLabs } from "./elevenlabs/elevenlabs.js";
import { groq } from "./groq/groq.js";
import { Ollama } from "./ollama/ollama.js";
import { openAi } from "./openai/openai-chat.js";
import { OpenAiSpeech } from "./openai/openai-speech.js";
import type { VendorContext, VendorSettings } from "./vendor-settings.js";

type Factory<Client> = (given: VendorSettings, context: VendorContext) => Client;

interface VendorTable {
  readonly llm: Readonly<Record<string, Factory<LanguageModel>>>;
  readonly tts: Readonly<Record<string, Factory<TextToSpeech>>>;
  readonly stt: Readonly<Record<string, Factory<SpeechToText>>>;
}

/** Every vendor that Parley can talk to, under the key that providers and plans name it by. */
export const VENDORS: VendorTable = {
  llm: {
    ollama: (given, context) => new Ollama(given, context),
    groq,
    openai: openAi,
  },
  tts: {
    edge: (given, context) => new EdgeSpeech(given, context),
    elevenlabs: (given, context) => new ElevenLabs(given, context),
    openai: (given, context) => new OpenAiSpeech(given, context),
  },
  stt: {
    deepgram: (given, context) => new Deepgram(given, context),
  },
};

/** @throws VendorError `refused` for a key that is not in the table or settings that do not fit, `unauthorized` without a key. */
export function languageModel(
  providerKey: string,
  given: VendorSettings,
  context: VendorContext,
): LanguageModel {
  return factoryOf("llm", VENDORS.llm, providerKey)(given, context);
}

/** @throws VendorError as `languageModel` does. */
export function textToSpeech(
  providerKey: string,
  given: VendorSettings,
  context: VendorContext,
): TextToSpeech {
  return factoryOf("tts", VENDORS.tts, providerKey)(given, context);
}

/** @throws VendorError as `languageModel` does. */
export function speechToText(
  providerKey: string,
  given: VendorSettings,
  context: VendorContext,
): SpeechToText {
  return factoryOf("stt", VENDORS.stt, providerKey)(given, context);
}

function factoryOf<Client>(
  category: Category,
  table: Readonly<Record<string, Factory<Client>>>,
  providerKey: string,
): Factory<Client> {
  const factory = Object.hasOwn(table, providerKey) ? table[providerKey] : undefined;
  if (factory !== undefined) return factory;
  throw new VendorError(providerKey, "refused", `there is no ${category} vendor ${providerKey}`);
}
