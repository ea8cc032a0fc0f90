import type * as v from "valibot";
import type { Category, ProviderModel, RegistrySetting } from "../../storage/records.js";
import type { LanguageModel, SpeechToText, TextToSpeech } from "./contracts.js";
import type { PlanTier } from "./model-catalog.js";
import type { VendorContext, VendorSettings } from "./vendor-settings.js";

export interface VendorModel extends ProviderModel {
  readonly plan: PlanTier;
  /** STT with turn detection; see `SpeechListener.onTurn`. */
  readonly hasTurnDetection?: true;
}

/** A vendor's models of one category, and the client for them. */
export interface Offer<Client> {
  readonly displayName: string;
  /** The default model is first. Empty: the provider's settings name the models. */
  readonly models: readonly VendorModel[];
  /** The provider settings that the client reads. */
  readonly fields: v.ObjectEntries;
  /** The offered subset of the fields. */
  readonly settings: readonly RegistrySetting[];
  readonly client: (given: VendorSettings, context: VendorContext) => Client;
  /** Only for TTS whose models are not voices. */
  readonly voices?: VoiceOffer;
}

export interface VendorVoice {
  readonly voiceId: string;
  readonly name: string;
  /** A language tag, if the vendor reports one. */
  readonly language: string | null;
  readonly description: string | null;
}

export interface VoiceList {
  readonly voices: readonly VendorVoice[];
  /** The account has more voices than were read. */
  readonly hasMore: boolean;
}

/** How a voice is chosen in addition to the model. */
export interface VoiceOffer {
  /** All voices that the vendor has; left out where accounts have voices of their own. */
  readonly known?: readonly VendorVoice[];
  /** The setting that contains the voice's id. */
  readonly setting: string;
  /** Returns an empty list if the vendor has none. */
  readonly list: (
    given: VendorSettings,
    context: VendorContext,
    signal: AbortSignal,
  ) => Promise<VoiceList>;
}

/**
 * All that the rest of Parley knows about a vendor. Its folder exports one, and `vendors.ts` lists it: registry,
 * catalog, seeding, plans and configuration read it there.
 */
export interface Vendor {
  /** The name that providers and plans use. */
  readonly key: string;
  readonly apiKey: {
    readonly isRequired: boolean;
    /** The environment variable with the platform's own key. */
    readonly variable?: string;
  };
  readonly address: {
    /** The environment variable with another address; without it the platform has no provider of this vendor. */
    readonly variable?: string;
    /** Without it the provider's settings must contain an address. */
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
