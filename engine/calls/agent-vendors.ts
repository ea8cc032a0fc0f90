import type { Category, ProviderRecord } from "../../storage/records.js";
import { isSameFormat } from "../audio/audio-format.js";
import type { AudioPool } from "../audio/audio-pool.js";
import type { UnavailableCategory } from "../conversation/actor.js";
import type { AgentLlm } from "../conversation/effect-runner.js";
import type { LegAudio, SentenceFormat } from "../conversation/leg-audio.js";
import { PronunciationDictionary } from "../conversation/pronunciation.js";
import { voiceKeyOf } from "../conversation/speech-cache.js";
import type { AgentTts } from "../conversation/synthesis.js";
import type { Toolbox } from "../conversation/toolbox.js";
import type { CredentialCipher } from "../security/credential-cipher.js";
import { type CallInfo, callInfoHeaders, callInfoNote } from "../telephony/call-info.js";
import type { AgentForCall, LanguageVoiceForCall } from "../tenancy/agents/agent-for-call.js";
import type { VendorClients } from "../tenancy/providers/vendor-clients.js";
import type { Clock } from "../time/clock.js";
import { agentToolbox, type ToolsCall } from "../tools/agent-toolbox.js";
import type { McpToolLists } from "../tools/mcp-tool-lists.js";
import { AnswerLog } from "../vendors/chain/answer-log.js";
import type { AnswerTimes } from "../vendors/chain/answer-times.js";
import type { Breaker, Breakers } from "../vendors/chain/breakers.js";
import { Chain, type ChainLink, type ChainWatch } from "../vendors/chain/chain.js";
import { ChainedModel, type Hedging, type LlmTimeouts } from "../vendors/chain/llm-chain.js";
import type { SpeechDurations } from "../vendors/chain/speech-durations.js";
import { ChainedRecognizer } from "../vendors/chain/stt-chain.js";
import { ChainedVoice, type VoiceLink } from "../vendors/chain/tts-chain.js";
import { UnavailableVendor } from "../vendors/chain/unavailable-vendor.js";
import {
  type LanguageModel,
  type SpeechFormat,
  type SpeechRequest,
  type SpeechToText,
  type TextToSpeech,
  VendorError,
} from "../vendors/contracts.js";
import { primaryLanguage } from "../vendors/spoken-language.js";
import type { VendorContext } from "../vendors/vendor-settings.js";
import { CheckedVoice } from "./checked-voice.js";
import { type PromptNotes, systemMessage } from "./prompt.js";

/** Converts the audio of a voice that stands in for one with another format. */
export class ConvertedVoice implements TextToSpeech {
  readonly formats: readonly SpeechFormat[];
  readonly #client: TextToSpeech;
  readonly #audio: LegAudio;

  private constructor(format: SpeechFormat, client: TextToSpeech, audio: LegAudio) {
    this.formats = [format];
    this.#client = client;
    this.#audio = audio;
  }

  /** The client unchanged, if it offers the format. */
  static giving(format: SpeechFormat, client: TextToSpeech, audio: LegAudio): TextToSpeech {
    const isGiven = client.formats.some((each) => isSameFormat(each, format));
    return isGiven ? client : new ConvertedVoice(format, client, audio);
  }

  async synthesize(
    request: SpeechRequest,
    onChunk: (audio: Uint8Array) => void,
    signal: AbortSignal,
  ): Promise<void> {
    const format = this.#audio.sentenceFormat(this.#client, request.format);
    const broken = new AbortController();
    const over = new AbortController();
    const listener = {
      onPiece: (audio: Uint8Array) => onChunk(audio),
      onBroken: (error: unknown) => broken.abort(error),
    };
    const converter = format.open(listener, AbortSignal.any([signal, over.signal]));
    try {
      const until = AbortSignal.any([signal, broken.signal]);
      const write = (chunk: Uint8Array) => converter.write(chunk);
      const onFormat = (given: SpeechFormat): boolean => converter.takeAs(given);
      await this.#client.synthesize({ ...request, format: format.request, onFormat }, write, until);
      await converter.end();
    } catch (error) {
      over.abort();
      throw broken.signal.aborted ? unusable(broken.signal.reason) : error;
    }
    if (broken.signal.aborted) throw unusable(broken.signal.reason);
  }

  warm(): void {
    this.#client.warm();
  }
}

function unusable(cause: unknown): VendorError {
  return new VendorError("audioPool", "badAnswer", "the audio could not be converted", { cause });
}

/** How long a chain waits for a vendor that has a fallback. */
export interface ChainTimeouts extends LlmTimeouts {
  /** The maximum time to the first audio, and between two pieces. */
  readonly firstByteMs: number;
  /** Maximum time until an STT accepts audio. */
  readonly connectMs: number;
}

export interface ChainDeps {
  readonly clients: Pick<VendorClients, "llm" | "tts" | "stt">;
  readonly breakers: Breakers;
  readonly timeouts: ChainTimeouts;
  readonly times: AnswerTimes;
  readonly durations: SpeechDurations;
  /** Omitted in a text chat, where TTS audio is not checked. */
  readonly audioPool?: () => Pick<AudioPool, "of">;
  readonly hedging: Hedging;
  readonly clock: Clock;
}

/** Builds the chains of one call: the agent's own providers and their fallbacks. */
export class VendorChains {
  readonly #deps: ChainDeps;
  readonly #watch: ChainWatch;

  constructor(deps: ChainDeps, watch: ChainWatch) {
    this.#deps = deps;
    this.#watch = watch;
  }

  /** Throws a VendorError if the settings or credentials of all of them are unusable. */
  llm({ agent, llm, fallbacks }: Pick<AgentForCall, "agent" | "llm" | "fallbacks">): LanguageModel {
    const { clients, clock, timeouts, times, hedging } = this.#deps;
    const { orgId } = agent;
    const named = [{ provider: llm, modelId: agent.llmModelId }, ...fallbacks.llm];
    const links = usable(named, (each) =>
      this.#link(each, orgId, clients.llm(each.provider, orgId)),
    );
    const chain = new Chain<LanguageModel>({ category: "llm", links, clock, watch: this.#watch });
    const allowance = agent.fallbacks.hedging ? hedging.of(orgId) : undefined;
    return new ChainedModel(chain, { timeouts, times, allowance });
  }

  /** Throws as `llm` does. */
  stt({ agent: { orgId }, stt, sttModelId, fallbacks }: AgentForCall): SpeechToText {
    const { clients, clock, timeouts } = this.#deps;
    const named = [{ provider: stt, modelId: sttModelId }, ...fallbacks.stt];
    const links = usable(named, (each) =>
      this.#link(each, orgId, clients.stt(each.provider, orgId)),
    );
    const chain = new Chain<SpeechToText>({ category: "stt", links, clock, watch: this.#watch });
    return new ChainedRecognizer(chain, timeouts.connectMs);
  }

  /**
   * The first one decides the format of the caller's line; throws as `llm` does. A voice for the language comes
   * first, and the agent's own behind it; so it does behind a voice that the call was given, which the vendor may refuse.
   */
  tts(
    forCall: AgentForCall,
    audio: LegAudio,
    language: string = forCall.agent.persona.language,
  ): ChainOfVoices {
    const { clients, clock, timeouts, times } = this.#deps;
    const { agent, tts, fallbacks, replacedVoice } = forCall;
    const { orgId } = agent;
    const { speed: agentSpeed, voice: agentVoice } = agent.ttsConfig;
    const agents = {
      provider: tts,
      modelId: agent.ttsModelId,
      speed: agentSpeed,
      voice: agentVoice,
    };
    const ofLanguage = languageVoice(forCall, language);
    const isOther = ofLanguage !== undefined && !isSameVoice(ofLanguage, agents);
    const own = ofLanguage === undefined ? agents : { ...ofLanguage, speed: agentSpeed };
    const others = fallbacks.tts.map((each) => ({ ...each, voice: null }));
    const replaced = replacedVoice === undefined ? [] : [{ ...agents, voice: replacedVoice }];
    const standIns = [...(isOther ? [agents] : []), ...replaced, ...others];
    let format: SentenceFormat | undefined;
    const links = usable([own, ...standIns], (each) => {
      const client = this.#verified(clients.tts(each.provider, orgId, each.voice), each, orgId);
      format ??= audio.sentenceFormat(client);
      const voice = ConvertedVoice.giving(format.request, client, audio);
      const { speed, provider, voice: voiceId } = each;
      return { ...this.#link(each, orgId, voice), speed, provider, voiceId };
    });
    const chain = new Chain<TextToSpeech, VoiceOfProvider>({
      category: "tts",
      links,
      clock,
      watch: this.#watch,
    });
    const client = new ChainedVoice(chain, { audioTimeoutMs: timeouts.firstByteMs, times });
    return { client, format: format ?? audio.sentenceFormat(client), next: () => chain.next };
  }

  #verified(client: TextToSpeech, named: NamedVoice, orgId: string): TextToSpeech {
    const { provider, modelId, voice: voiceId } = named;
    const { durations, audioPool } = this.#deps;
    if (audioPool === undefined) return client;
    const { id, updatedAtMs, providerKey: vendor } = provider;
    const voice = JSON.stringify([id, updatedAtMs, modelId, voiceId]);
    const pool = () => audioPool().of(orgId);
    return new CheckedVoice(client, { vendor, orgId, voice, durations, pool });
  }

  #link<Client>(
    { provider, modelId }: NamedVendor,
    orgId: string,
    client: Client,
  ): ChainLink<Client> {
    const breaker = breakerOf(this.#deps.breakers, provider, orgId);
    return { vendor: provider.providerKey, modelId, orgId, client, breaker };
  }
}

interface NamedVendor {
  readonly provider: ProviderRecord;
  readonly modelId: string;
}

interface NamedVoice extends NamedVendor {
  /** null: the provider's own. */
  readonly voice: string | null;
}

function isSameVoice(one: NamedVoice, other: NamedVoice): boolean {
  return (
    one.provider.id === other.provider.id &&
    one.modelId === other.modelId &&
    one.voice === other.voice
  );
}

export interface VoiceOfProvider extends VoiceLink {
  readonly provider: ProviderRecord;
  /** null: the provider's own. */
  readonly voiceId: string | null;
}

export interface ChainOfVoices {
  readonly client: TextToSpeech;
  readonly format: SentenceFormat;
  /** The voice that would speak now. */
  readonly next: () => VoiceOfProvider;
}

/** The voice that the agent has for this language; a call that was given a voice has none. */
function languageVoice(
  { agent, languageVoices }: AgentForCall,
  language: string,
): LanguageVoiceForCall | undefined {
  const isOf = (each: { readonly language: string }) =>
    primaryLanguage(each.language) === primaryLanguage(language);
  return agent.ttsConfig.languageVoices.some(isOf) ? languageVoices.find(isOf) : undefined;
}

/** Any change of a provider may make a failing credential work. */
function breakerOf(breakers: Breakers, provider: ProviderRecord, orgId: string): Breaker {
  const { id, category, providerKey: vendor, updatedAtMs: version } = provider;
  const user = provider.orgId === null ? { orgId } : {};
  return breakers.of({ id, version, category, vendor, ...user });
}

/** Leaves out unusable providers; throws the reason when none is left. */
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
  if (first === undefined) throw fault ?? new Error("a chain without providers");
  return [first, ...others];
}

/** The LLM, TTS and STT of an agent in one call. */
export interface AgentVendors {
  readonly llm: AgentLlm;
  readonly tts: AgentTts;
  /** The agent's voice in another of its languages. */
  readonly ttsIn: (language: string) => AgentTts;
  readonly stt: SpeechToText;
  readonly toolbox: Toolbox;
  /** The category without a usable vendor; undefined if all are available. */
  readonly unavailable: UnavailableCategory | undefined;
  /** Which vendors have answered, turn by turn. */
  readonly answers: AnswerLog;
}

export interface AgentVendorsOptions {
  readonly chains: ChainDeps;
  /** Decrypts the headers of the agent's tools. */
  readonly cipher: CredentialCipher;
  readonly context: VendorContext;
  /** Left out: agents have no tools of MCP servers. */
  readonly mcpLists?: McpToolLists | undefined;
}

/** What the call adds to its agent: texts of its tools, and the whole documents in its prompt. */
export interface AgentVendorsCall extends Omit<ToolsCall, "callHeaders"> {
  readonly documents?: string | undefined;
}

/**
 * A category without a usable provider is reported in `unavailable`; its client fails every request with the
 * reason.
 */
export function agentVendors(
  forCall: AgentForCall,
  audio: LegAudio,
  { chains: deps, cipher, context, mcpLists }: AgentVendorsOptions,
  callInfo?: CallInfo,
  { documents = "", ...call }: AgentVendorsCall = {},
): AgentVendors {
  const answers = new AnswerLog();
  const chains = new VendorChains(deps, answers);
  let unavailable: UnavailableCategory | undefined;
  const orUnavailable = <Client>(
    category: Category,
    find: () => Client,
    standIn: (by: UnavailableVendor) => Client,
  ) => {
    try {
      return find();
    } catch (error) {
      if (!(error instanceof VendorError)) throw error;
      unavailable ??= { category, error };
      return standIn(new UnavailableVendor(error));
    }
  };
  const { language } = forCall.agent.persona;
  const voices = new Map<string, AgentTts>();
  // If TTS is unavailable too, that is what the caller notices.
  const tts = ttsOf(
    forCall,
    orUnavailable(
      "tts",
      () => chains.tts(forCall, audio, language),
      (by) => mute(by, forCall, audio),
    ),
    language,
  );
  voices.set(language, tts);
  /** Undefined if no TTS is usable, which the first language's has reported. */
  const usableIn = (other: string): AgentTts | undefined => {
    try {
      return ttsOf(forCall, chains.tts(forCall, audio, other), other);
    } catch (error) {
      if (!(error instanceof VendorError)) throw error;
      return undefined;
    }
  };
  return {
    tts,
    ttsIn: (other) => {
      const known = voices.get(other);
      if (known !== undefined) return known;
      const voice = usableIn(other) ?? tts;
      voices.set(other, voice);
      return voice;
    },
    llm: llmOf(
      forCall,
      orUnavailable<LanguageModel>(
        "llm",
        () => chains.llm(forCall),
        (by) => by,
      ),
      deps.clock.epochMs(),
      { callNote: callInfoNote(callInfo), documents },
    ),
    stt: orUnavailable<SpeechToText>(
      "stt",
      () => chains.stt(forCall),
      (by) => by,
    ),
    toolbox: agentToolbox(
      forCall.agent,
      cipher,
      context,
      { ...call, callHeaders: callInfoHeaders(callInfo) },
      mcpLists,
    ),
    answers,
    unavailable,
  };
}

type Voice = Pick<VoiceOfProvider, "provider" | "modelId" | "speed" | "voiceId">;
type Speaking = Pick<ChainOfVoices, "client" | "format"> & { readonly next: () => Voice };

type Thinking = Pick<AgentForCall, "agent" | "llm" | "fallbacks">;

/**
 * The agent's LLM in a chat, as in a call. Throws a VendorError if the settings or credentials of its provider are
 * unusable, and there is no fallback.
 */
export function agentLlm(
  forCall: Thinking,
  deps: ChainDeps,
  answers: AnswerLog = new AnswerLog(),
  documents = "",
): AgentLlm {
  const client = new VendorChains(deps, answers).llm(forCall);
  return llmOf(forCall, client, deps.clock.epochMs(), { documents });
}

function llmOf(
  { agent, llm }: Thinking,
  client: LanguageModel,
  nowMs: number,
  notes: PromptNotes,
): AgentLlm {
  const { temperature, maxTokens } = agent.llmConfig;
  return {
    vendor: llm.providerKey,
    client,
    modelId: agent.llmModelId,
    systemPrompt: systemMessage(agent.persona, nowMs, notes).content,
    temperature,
    maxTokens,
  };
}

/** TTS is unavailable; earlier speech in the agent's own voice may still be cached. */
function mute(
  unavailable: UnavailableVendor,
  { agent, tts }: AgentForCall,
  audio: LegAudio,
): Speaking {
  const { speed, voice: voiceId } = agent.ttsConfig;
  const voice = { provider: tts, modelId: agent.ttsModelId, speed, voiceId };
  return { client: unavailable, format: audio.sentenceFormat(unavailable), next: () => voice };
}

function ttsOf(
  forCall: AgentForCall,
  { client, format, next }: Speaking,
  language: string,
): AgentTts {
  const { agent, tts: agentsOwn } = forCall;
  const ofLanguage = languageVoice(forCall, language);
  const { pronunciations } = agent.persona;
  const dictionary = pronunciations.length === 0 ? [] : [JSON.stringify(pronunciations)];
  const keys = new Map<Voice, string>();
  const keyOf = (voice: Voice): string => {
    const { provider, modelId, speed, voiceId } = voice;
    const parts = [provider.id, provider.updatedAtMs, modelId, speed, voiceId ?? "", language];
    const key = keys.get(voice) ?? voiceKeyOf(agent.orgId, [...parts, format.name, ...dictionary]);
    keys.set(voice, key);
    return key;
  };
  return {
    vendor: (ofLanguage?.provider ?? agentsOwn).providerKey,
    client,
    modelId: ofLanguage?.modelId ?? agent.ttsModelId,
    speed: agent.ttsConfig.speed,
    language,
    format,
    ...(pronunciations.length > 0 && {
      pronunciations: new PronunciationDictionary(pronunciations),
    }),
    /** The key of the voice that speaks now: speech of another voice is not played in its place. */
    get cacheKey() {
      return keyOf(next());
    },
  };
}
