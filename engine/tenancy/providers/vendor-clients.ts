import * as v from "valibot";
import type { ProviderRecord } from "../../../storage/records.js";
import type { CredentialCipher } from "../../security/credential-cipher.js";
import {
  type EmbeddingModel,
  type LanguageModel,
  type SpeechToText,
  type TextToSpeech,
  VendorError,
} from "../../vendors/contracts.js";
import {
  embeddingModel,
  languageModel,
  settingsWithVoice,
  speechToText,
  textToSpeech,
  vendorVoices,
} from "../../vendors/registry.js";
import type { VoiceList } from "../../vendors/vendor.js";
import type { VendorContext, VendorSettings } from "../../vendors/vendor-settings.js";

/** The addresses of the platform's own providers by vendor key; absent means the vendor's public address. */
export type PlatformUrls = Readonly<Record<string, string | undefined>>;

const Credentials = v.object({ apiKey: v.optional(v.string()) });

/** Creates vendor clients right before a request; only then are credentials decrypted. */
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
   * `orgId`: the organization whose share of connections the client uses. Throws a VendorError if the provider's
   * settings or credentials are not usable.
   */
  llm(provider: ProviderRecord, orgId: string): LanguageModel {
    return languageModel(provider.providerKey, this.#settingsOf(provider, orgId), this.#context);
  }

  /** `voice`: null for the provider's default voice. Throws as `llm` does. */
  tts(provider: ProviderRecord, orgId: string, voice: string | null = null): TextToSpeech {
    const given = this.#settingsOf(provider, orgId);
    const settings = settingsWithVoice(provider.providerKey, given.settings, voice);
    return textToSpeech(provider.providerKey, { ...given, settings }, this.#context);
  }

  /** Resolves with undefined if each model of the vendor is a voice. Rejects with a VendorError. */
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

  /** Throws as `llm` does. */
  embeddings(provider: ProviderRecord, orgId: string): EmbeddingModel {
    return embeddingModel(provider.providerKey, this.#settingsOf(provider, orgId), this.#context);
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
