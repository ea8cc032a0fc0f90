import type * as v from "valibot";
import type { Category, ProviderModel, RegistrySetting } from "../../storage/records.js";
import type { LanguageModel, SpeechToText, TextToSpeech } from "./contracts.js";
import type { PlanTier } from "./model-catalog.js";
import type { VendorContext, VendorSettings } from "./vendor-settings.js";

export interface VendorModel extends ProviderModel {
  readonly plan: PlanTier;
  /** The recognizer itself says when the caller's turn begins and ends; see `SpeechListener.onTurn`. */
  readonly hasTurnDetection?: true;
}

/** What a vendor has of one category, and the client for it. */
export interface Offer<Client> {
  readonly displayName: string;
  /** The default model is first. Empty: the provider's owner names the models. */
  readonly models: readonly VendorModel[];
  /** What the client reads of a provider's settings. */
  readonly fields: v.ObjectEntries;
  /** Those of the fields that people are offered. */
  readonly settings: readonly RegistrySetting[];
  readonly client: (given: VendorSettings, context: VendorContext) => Client;
  /** Only a TTS whose models are no voices has it. */
  readonly voices?: VoiceOffer;
}

export interface VendorVoice {
  readonly voiceId: string;
  readonly name: string;
  /** A language tag, as far as the vendor names one. */
  readonly language: string | null;
  readonly description: string | null;
}

export interface VoiceList {
  readonly voices: readonly VendorVoice[];
  /** The account has more voices than are read. */
  readonly hasMore: boolean;
}

/** How a voice is chosen beside the model. */
export interface VoiceOffer {
  /** The field of the settings that holds the voice's id. */
  readonly setting: string;
  /** Empty where the vendor has no list. */
  readonly list: (
    given: VendorSettings,
    context: VendorContext,
    signal: AbortSignal,
  ) => Promise<VoiceList>;
}

/**
 * All that the rest of Parley knows of a vendor. Its folder holds one, and `vendors.ts` lists it: registry, catalog, seeding,
 * plans and configuration read it there.
 */
export interface Vendor {
  /** What providers and plans name it by. */
  readonly key: string;
  readonly apiKey: {
    readonly isRequired: boolean;
    /** Where the operator puts the platform's own key. */
    readonly variable?: string;
  };
  readonly address: {
    /** Where the operator puts another address; without it the platform has no provider of this vendor. */
    readonly variable?: string;
    /** Without it nothing works until somebody gives one. */
    readonly publicUrl?: string;
    readonly protocols: readonly string[];
  };
  readonly llm?: Offer<LanguageModel>;
  readonly tts?: Offer<TextToSpeech>;
  readonly stt?: Offer<SpeechToText>;
}

export const CATEGORIES = ["llm", "tts", "stt"] as const satisfies readonly Category[];

/** A `string` is not empty; a `url` is http, https, ws or wss. */
type SettingType = "string" | "number" | "boolean" | "url";

export function setting(key: string, label: string, type: SettingType): RegistrySetting {
  return { key, label, type, required: false };
}

export const BASE_URL = setting("baseUrl", "Base URL, for a compatible server", "url");

export const REASONING_EFFORT = setting(
  "reasoningEffort",
  "Reasoning effort, none to max",
  "string",
);
