import * as v from "valibot";
import type { ProviderRecord } from "../../storage/records.js";
import type { CredentialCipher } from "../security/credential-cipher.js";
import { systemMessage } from "../speech/prompt.js";
import type { AgentForCall } from "../tenancy/agents.js";
import {
  type LanguageModel,
  type SpeechToText,
  type TextToSpeech,
  VendorError,
} from "../vendors/contracts.js";
import { languageModel, speechToText, textToSpeech } from "../vendors/registry.js";
import type { VendorContext, VendorSettings } from "../vendors/vendor-settings.js";
import { agentToolbox } from "./agent-toolbox.js";
import type { Mind } from "./effect-runner.js";
import type { LineAudio } from "./line-audio.js";
import type { Voice } from "./sentence-speaker.js";
import { voiceKeyOf } from "./speech-cache.js";
import type { Toolbox } from "./toolbox.js";

export interface AgentVendors {
  readonly mind: Mind;
  readonly voice: Voice;
  readonly ear: SpeechToText;
  readonly toolbox: Toolbox;
}

/** Where the platform's own providers are reached, by vendor key; absent means the vendor's public address. */
export type PlatformUrls = Readonly<Record<string, string | undefined>>;

const Credentials = v.object({ apiKey: v.optional(v.string()) });

/** Makes the clients of a vendor at the moment when it is to be called: the only one at which credentials are opened. */
export class VendorLines {
  readonly #cipher: CredentialCipher;
  readonly #platformUrls: PlatformUrls;
  readonly #context: VendorContext;

  constructor(cipher: CredentialCipher, platformUrls: PlatformUrls, context: VendorContext) {
    this.#cipher = cipher;
    this.#platformUrls = platformUrls;
    this.#context = context;
  }

  /** Throws a VendorError when a provider's settings or credentials cannot be used. */
  of(forCall: AgentForCall, line: LineAudio): AgentVendors {
    const { agent, tts, stt } = forCall;
    const { speed } = agent.ttsConfig;
    const { language } = agent.persona;
    const modelId = agent.ttsModelId;
    const client = this.voiceClient(tts);
    const format = line.sentenceFormat(client);
    const voiceParts = [agent.orgId, tts.id, tts.updatedAtMs, modelId, speed, language];
    return {
      mind: this.mindOf(forCall),
      voice: {
        vendor: tts.providerKey,
        client,
        modelId,
        speed,
        language,
        format,
        cacheKey: voiceKeyOf([...voiceParts, format.name]),
      },
      ear: this.earClient(stt),
      toolbox: agentToolbox(agent, this.#cipher, this.#context),
    };
  }

  /** What thinks and writes for the agent, in a call and in a chat alike. Throws as `of` does. */
  mindOf({ agent, llm }: Pick<AgentForCall, "agent" | "llm">): Mind {
    const { temperature, maxTokens } = agent.llmConfig;
    return {
      vendor: llm.providerKey,
      client: this.mindClient(llm),
      modelId: agent.llmModelId,
      systemPrompt: systemMessage(agent.persona).content,
      temperature,
      maxTokens,
    };
  }

  /** Throws as `of` does. */
  mindClient(llm: ProviderRecord): LanguageModel {
    return languageModel(llm.providerKey, this.#settingsOf(llm), this.#context);
  }

  /** Throws as `of` does. */
  voiceClient(tts: ProviderRecord): TextToSpeech {
    return textToSpeech(tts.providerKey, this.#settingsOf(tts), this.#context);
  }

  /** Throws as `of` does. */
  earClient(stt: ProviderRecord): SpeechToText {
    return speechToText(stt.providerKey, this.#settingsOf(stt), this.#context);
  }

  #settingsOf(provider: ProviderRecord): VendorSettings {
    const clientOwned = provider.orgId !== null;
    return {
      baseUrl: clientOwned ? undefined : this.#platformUrls[provider.providerKey],
      apiKey: this.#apiKeyOf(provider),
      settings: provider.settings,
      clientOwned,
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
