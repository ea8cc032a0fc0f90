import * as v from "valibot";
import type { ProviderRecord } from "../../../storage/records.js";
import type { CredentialCipher } from "../../security/credential-cipher.js";
import {
  type LanguageModel,
  type SpeechToText,
  type TextToSpeech,
  VendorError,
} from "../../vendors/contracts.js";
import {
  languageModel,
  settingsWithVoice,
  speechToText,
  textToSpeech,
  vendorVoices,
} from "../../vendors/registry.js";
import type { VoiceList } from "../../vendors/vendor.js";
import type { VendorContext, VendorSettings } from "../../vendors/vendor-settings.js";

/** Where the platform's own providers are reached, by vendor key; absent means the vendor's public address. */
export type PlatformUrls = Readonly<Record<string, string | undefined>>;

const Credentials = v.object({ apiKey: v.optional(v.string()) });

/** Makes the clients of a vendor at the moment when it is to be called: the only one at which credentials are opened. */
export class VendorClients {
  readonly #cipher: CredentialCipher;
  readonly #platformUrls: PlatformUrls;
  readonly #context: VendorContext;

  constructor(cipher: CredentialCipher, platformUrls: PlatformUrls, context: VendorContext) {
    this.#cipher = cipher;
    this.#platformUrls = platformUrls;
    this.#context = context;
  }

  /**
   * `orgId`: the organization that it is for, whose share of connections it uses. Throws a VendorError when the provider's
   * settings or credentials cannot be used.
   */
  llm(provider: ProviderRecord, orgId: string): LanguageModel {
    return languageModel(provider.providerKey, this.#settingsOf(provider, orgId), this.#context);
  }

  /** `voice`: null for the provider's own. Throws as `llm` does. */
  tts(provider: ProviderRecord, orgId: string, voice: string | null = null): TextToSpeech {
    const given = this.#settingsOf(provider, orgId);
    const settings = settingsWithVoice(provider.providerKey, given.settings, voice);
    return textToSpeech(provider.providerKey, { ...given, settings }, this.#context);
  }

  /** Undefined where a model is a voice. Rejects with a VendorError. */
  async voices(
    provider: ProviderRecord,
    orgId: string,
    signal: AbortSignal,
  ): Promise<VoiceList | undefined> {
    return vendorVoices(
      provider.providerKey,
      this.#settingsOf(provider, orgId),
      this.#context,
      signal,
    );
  }

  /** Throws as `llm` does. */
  stt(provider: ProviderRecord, orgId: string): SpeechToText {
    return speechToText(provider.providerKey, this.#settingsOf(provider, orgId), this.#context);
  }

  #settingsOf(provider: ProviderRecord, orgId: string): VendorSettings {
    const clientOwned = provider.orgId !== null;
    return {
      baseUrl: clientOwned ? undefined : this.#platformUrls[provider.providerKey],
      apiKey: this.#apiKeyOf(provider),
      settings: provider.settings,
      clientOwned,
      orgId,
      provider: { id: provider.id, version: provider.updatedAtMs },
    };
  }

  #apiKeyOf(provider: ProviderRecord): string | undefined {
    if (provider.sealedCredentials === null) return undefined;
    try {
      return v.parse(Credentials, this.#cipher.open(provider.sealedCredentials)).apiKey;
    } catch (error) {
      const message = `the stored credentials of provider ${provider.id} cannot be opened`;
      throw new VendorError(provider.providerKey, "unauthorized", message, { cause: error });
    }
  }
}
