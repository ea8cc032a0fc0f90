import { ChatCompletions, type ChatDialect } from "../chat-completions/chat-completions.js";
import { REASONING_FIELDS } from "../chat-completions/chat-parameters.js";
import type { LanguageModel, SpeechToText, TextToSpeech } from "../contracts.js";
import { AudioSpeech, audioSpeechFields } from "../openai-protocol/audio-speech.js";
import {
  AudioTranscriptions,
  TRANSCRIPTION_FIELDS,
} from "../openai-protocol/audio-transcriptions.js";
import { HTTP_PROTOCOLS } from "../setting-fields.js";
import {
  BASE_URL,
  type Offer,
  REASONING_EFFORT,
  setting,
  type Vendor,
  type VendorModel,
} from "../vendor.js";

/** What is known of a server that speaks OpenAI's protocol. */
export interface CompatibleServer {
  readonly key: string;
  readonly displayName: string;
  /** Where the operator puts the platform's key; undefined: a key may be given, and need not. */
  readonly keyVariable?: string;
  readonly addressVariable?: string;
  /** Undefined: whoever sets it up says where it is. */
  readonly publicUrl?: string;
  /** Shown to whoever has to say where it is. */
  readonly usualUrl?: string;
  /** It refuses `stream_options`; its usage comes without being asked for. */
  readonly refusesStreamOptions?: true;
  /** It takes no other ids of tools' calls than those that this makes. */
  readonly callIdOf?: (id: string) => string;
  readonly llm?: readonly VendorModel[];
  readonly tts?: { readonly models: readonly VendorModel[]; readonly voice: string };
  readonly stt?: readonly VendorModel[];
}

/** The vendor that a server is: one of the presets, or any other by its address. */
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
      setting("instructions", "How to speak, for models that take directions", "string"),
      address,
    ],
    client: (given, context) => new AudioSpeech({ ...access, fields }, given, context),
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
