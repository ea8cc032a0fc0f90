import type { ProviderRecord } from "../../../storage/records.js";
import type { AudioPool } from "../../audio/audio-pool.js";
import type { LegAudio, SentenceFormat } from "../../conversation/leg-audio.js";
import type { AgentForCall } from "../../tenancy/agents/agent-for-call.js";
import type { VendorClients } from "../../tenancy/providers/vendor-clients.js";
import type { Clock } from "../../time/clock.js";
import type { AnswerTimes } from "../../vendors/chain/answer-times.js";
import type { Breaker, Breakers } from "../../vendors/chain/breakers.js";
import { Chain, type ChainLink, type ChainWatch } from "../../vendors/chain/chain.js";
import { ChainedModel } from "../../vendors/chain/chained-model.js";
import { ChainedRecognizer } from "../../vendors/chain/chained-recognizer.js";
import { ChainedVoice, type VoiceLink } from "../../vendors/chain/chained-voice.js";
import type { Hedging } from "../../vendors/chain/hedging.js";
import type { ModelPatience } from "../../vendors/chain/model-reply.js";
import type { SpeechDurations } from "../../vendors/chain/speech-durations.js";
import {
  type LanguageModel,
  type SpeechToText,
  type TextToSpeech,
  VendorError,
} from "../../vendors/contracts.js";
import { ConvertedVoice } from "../converted-voice.js";
import { VerifiedVoice } from "../verified-voice.js";

/** How long a vendor is waited for, where there is another to turn to. */
export interface ChainPatience extends ModelPatience {
  /** A voice may take so long to its first audio, at most, and from one piece to the next. */
  readonly firstByteMs: number;
  /** A recognizer may take so long until it takes audio. */
  readonly connectMs: number;
}

export interface ChainSurroundings {
  readonly clients: Pick<VendorClients, "llm" | "tts" | "stt">;
  readonly breakers: Breakers;
  readonly patience: ChainPatience;
  readonly times: AnswerTimes;
  readonly durations: SpeechDurations;
  /** Left out in a text chat, where the sound of TTS is not checked. */
  readonly audioPool?: () => Pick<AudioPool, "of">;
  readonly hedging: Hedging;
  readonly clock: Clock;
}

/** Builds what stands behind each of an agent's vendors in one call: the agent's own, and who stands in for it. */
export class VendorChains {
  readonly #around: ChainSurroundings;
  readonly #watch: ChainWatch;

  constructor(around: ChainSurroundings, watch: ChainWatch) {
    this.#around = around;
    this.#watch = watch;
  }

  /** Throws a VendorError when the settings or credentials of all of them cannot be used. */
  llm({ agent, llm, fallbacks }: Pick<AgentForCall, "agent" | "llm" | "fallbacks">): LanguageModel {
    const { clients, clock, patience, times, hedging } = this.#around;
    const { orgId } = agent;
    const named = [{ provider: llm, modelId: agent.llmModelId }, ...fallbacks.llm];
    const links = usable(named, (each) =>
      this.#link(each, orgId, clients.llm(each.provider, orgId)),
    );
    const chain = new Chain<LanguageModel>({ category: "llm", links, clock, watch: this.#watch });
    const allowance = agent.fallbacks.hedging ? hedging.of(orgId) : undefined;
    return new ChainedModel(chain, { patience, times, allowance });
  }

  /** Throws as `llm` does. */
  stt({ agent: { orgId }, stt, sttModelId, fallbacks }: AgentForCall): SpeechToText {
    const { clients, clock, patience } = this.#around;
    const named = [{ provider: stt, modelId: sttModelId }, ...fallbacks.stt];
    const links = usable(named, (each) =>
      this.#link(each, orgId, clients.stt(each.provider, orgId)),
    );
    const chain = new Chain<SpeechToText>({ category: "stt", links, clock, watch: this.#watch });
    return new ChainedRecognizer(chain, patience.connectMs);
  }

  /** The first decides what the caller's line is given; throws as `llm` does. */
  tts({ agent, tts, fallbacks }: AgentForCall, audio: LegAudio): ChainOfVoices {
    const { clients, clock, patience, times } = this.#around;
    const { orgId } = agent;
    const own = { provider: tts, modelId: agent.ttsModelId, speed: agent.ttsConfig.speed };
    let format: SentenceFormat | undefined;
    const links = usable([own, ...fallbacks.tts], (each) => {
      const client = this.#verified(clients.tts(each.provider, orgId), each, orgId);
      format ??= audio.sentenceFormat(client);
      const voice = ConvertedVoice.giving(format.request, client, audio);
      return { ...this.#link(each, orgId, voice), speed: each.speed, provider: each.provider };
    });
    const chain = new Chain<TextToSpeech, VoiceOfProvider>({
      category: "tts",
      links,
      clock,
      watch: this.#watch,
    });
    const client = new ChainedVoice(chain, { patienceMs: patience.firstByteMs, times });
    return { client, format: format ?? audio.sentenceFormat(client), next: () => chain.next };
  }

  #verified(client: TextToSpeech, { provider, modelId }: NamedVendor, orgId: string): TextToSpeech {
    const { durations, audioPool } = this.#around;
    if (audioPool === undefined) return client;
    const { id, updatedAtMs, providerKey: vendor } = provider;
    const voice = JSON.stringify([id, updatedAtMs, modelId]);
    const pool = () => audioPool().of(orgId);
    return new VerifiedVoice(client, { vendor, orgId, voice, durations, pool });
  }

  #link<Client>(
    { provider, modelId }: NamedVendor,
    orgId: string,
    client: Client,
  ): ChainLink<Client> {
    const breaker = breakerOf(this.#around.breakers, provider, orgId);
    return { vendor: provider.providerKey, modelId, orgId, client, breaker };
  }
}

interface NamedVendor {
  readonly provider: ProviderRecord;
  readonly modelId: string;
}

export interface VoiceOfProvider extends VoiceLink {
  readonly provider: ProviderRecord;
}

export interface ChainOfVoices {
  readonly client: TextToSpeech;
  readonly format: SentenceFormat;
  /** Who would speak now. */
  readonly next: () => VoiceOfProvider;
}

/** Whatever is changed of a provider may make a credential work that did not. */
function breakerOf(breakers: Breakers, provider: ProviderRecord, orgId: string): Breaker {
  const { id, category, providerKey: vendor, updatedAtMs: version } = provider;
  const user = provider.orgId === null ? { orgId } : {};
  return breakers.of({ id, version, category, vendor, ...user });
}

/** Leaves out whom nobody can be asked with; throws why, when nobody is left. */
function usable<Named, Link>(
  named: readonly Named[],
  linkOf: (each: Named) => Link,
): readonly [Link, ...Link[]] {
  const links: Link[] = [];
  let fault: VendorError | undefined;
  for (const each of named) {
    try {
      links.push(linkOf(each));
    } catch (error) {
      if (!(error instanceof VendorError)) throw error;
      fault ??= error;
    }
  }
  const [first, ...others] = links;
  if (first === undefined) throw fault ?? new Error("a chain of nobody");
  return [first, ...others];
}
