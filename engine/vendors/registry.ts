import * as v from "valibot";
import type { Category, JsonObject, ProviderRecord } from "../../storage/records.js";
import type { FieldFault } from "../request-error.js";
import {
  type LanguageModel,
  type SpeechToText,
  type TextToSpeech,
  VendorError,
} from "./contracts.js";
import { address } from "./setting-fields.js";
import type { Offer, VoiceList } from "./vendor.js";
import type { VendorContext, VendorSettings } from "./vendor-settings.js";
import { vendorOf } from "./vendors.js";

/** @throws VendorError `refused` for an unknown vendor or invalid settings, `unauthorized` without a key. */
export function languageModel(
  providerKey: string,
  given: VendorSettings,
  context: VendorContext,
): LanguageModel {
  return offered("llm", providerKey, vendorOf(providerKey)?.llm).client(given, context);
}

/** @throws VendorError as `languageModel` does. */
export function textToSpeech(
  providerKey: string,
  given: VendorSettings,
  context: VendorContext,
): TextToSpeech {
  return offered("tts", providerKey, vendorOf(providerKey)?.tts).client(given, context);
}

/** @throws VendorError as `languageModel` does. */
export function speechToText(
  providerKey: string,
  given: VendorSettings,
  context: VendorContext,
): SpeechToText {
  return offered("stt", providerKey, vendorOf(providerKey)?.stt).client(given, context);
}

/** The vendor's list of voices; undefined if a model is a voice. Rejects with a VendorError. */
export function vendorVoices(
  providerKey: string,
  given: VendorSettings,
  context: VendorContext,
  signal: AbortSignal,
): Promise<VoiceList> | undefined {
  return vendorOf(providerKey)?.tts?.voices?.list(given, context, signal);
}

/** The settings of a TTS provider with another voice; unchanged if a model is a voice. */
export function settingsWithVoice(
  providerKey: string,
  settings: JsonObject,
  voice: string | null,
): JsonObject {
  const field = vendorOf(providerKey)?.tts?.voices?.setting;
  return field === undefined || voice === null ? settings : { ...settings, [field]: voice };
}

/** Why a TTS provider cannot have this voice; undefined if it can, or only the vendor knows. */
export function voiceFault(
  { providerKey, settings }: Pick<ProviderRecord, "providerKey" | "settings">,
  voice: string,
): string | undefined {
  const offer = vendorOf(providerKey)?.tts;
  if (offer === undefined) return undefined;
  const { voices } = offer;
  if (voices === undefined) {
    return `expected null: a model of ${providerKey} is a voice, which ttsModelId names`;
  }
  // At an address of its own there may be any voices.
  if (voices.known === undefined || settings["baseUrl"] !== undefined) return undefined;
  const ids = voices.known.map(({ voiceId }) => voiceId);
  if (ids.includes(voice)) return undefined;
  return `expected a voice of ${providerKey}: ${ids.join(", ")}`;
}

/** Invalid settings, each with the expected value. Unknown settings are ignored. */
export function vendorSettingFaults(
  category: Category,
  providerKey: string,
  settings: JsonObject,
): readonly FieldFault[] {
  const vendor = vendorOf(providerKey);
  const entries = vendor?.[category]?.fields ?? {};
  const baseUrl = v.optional(address(vendor?.address.protocols ?? []));
  const schema = v.object({ ...entries, baseUrl });
  const parsed = v.safeParse(schema, settings, { abortPipeEarly: true });
  const issues = parsed.issues ?? [];
  return issues.map((issue) => ({ path: v.getDotPath(issue) ?? "", message: issue.message }));
}

/** The values that a setting of the vendor accepts; empty if it is not limited to a few. */
export function vendorSettingOptions(
  category: Category,
  providerKey: string,
  key: string,
): readonly string[] {
  const field = vendorOf(providerKey)?.[category]?.fields[key];
  if (field === undefined) return [];
  const inner: unknown = "wrapped" in field ? field.wrapped : field;
  const parsed = v.safeParse(OptionsOfChoice, inner);
  return parsed.success ? parsed.output.options : [];
}

const OptionsOfChoice = v.object({ type: v.literal("picklist"), options: v.array(v.string()) });

function offered<Client>(
  category: Category,
  providerKey: string,
  offer: Offer<Client> | undefined,
): Offer<Client> {
  if (offer !== undefined) return offer;
  throw new VendorError(providerKey, "refused", `there is no ${category} vendor ${providerKey}`);
}
