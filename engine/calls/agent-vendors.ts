import type { CredentialCipher } from "../security/credential-cipher.js";
import type { AgentLlm } from "../session/effect-surroundings.js";
import type { LegAudio } from "../session/leg-audio.js";
import type { AgentTts } from "../session/sentence-speaker.js";
import { voiceKeyOf } from "../session/speech-cache.js";
import type { Toolbox } from "../session/toolbox.js";
import { systemMessage } from "../speech/prompt.js";
import type { AgentForCall } from "../tenancy/agent-for-call.js";
import { agentToolbox } from "../tools/agent-toolbox.js";
import { AnswerLog } from "../vendors/chain/answer-log.js";
import type { SpeechToText } from "../vendors/contracts.js";
import type { VendorContext } from "../vendors/vendor-settings.js";
import { type ChainSurroundings, VendorChains, type VoiceOfProvider } from "./vendor-chains.js";

/** What an agent thinks, speaks and hears with in one call. */
export interface AgentVendors {
  readonly llm: AgentLlm;
  readonly tts: AgentTts;
  readonly stt: SpeechToText;
  readonly toolbox: Toolbox;
  /** Who has answered, turn by turn. */
  readonly answers: AnswerLog;
}

export interface AgentVendorsOptions {
  readonly chains: ChainSurroundings;
  /** Opens the headers of the agent's tools. */
  readonly cipher: CredentialCipher;
  readonly context: VendorContext;
}

/** Throws a VendorError when a provider's settings or credentials cannot be used, and nobody stands in for it. */
export function agentVendors(
  forCall: AgentForCall,
  audio: LegAudio,
  { chains: around, cipher, context }: AgentVendorsOptions,
): AgentVendors {
  const answers = new AnswerLog();
  const chains = new VendorChains(around, answers);
  return {
    llm: llmOf(forCall, chains),
    tts: ttsOf(forCall, chains, audio),
    stt: chains.stt(forCall),
    toolbox: agentToolbox(forCall.agent, cipher, context),
    answers,
  };
}

type Thinking = Pick<AgentForCall, "agent" | "llm" | "fallbacks">;

/** The agent's language model in a chat, as in a call. Throws as `agentVendors` does. */
export function agentLlm(forCall: Thinking, around: ChainSurroundings): AgentLlm {
  return llmOf(forCall, new VendorChains(around, new AnswerLog()));
}

function llmOf(forCall: Thinking, chains: VendorChains): AgentLlm {
  const { agent, llm } = forCall;
  const { temperature, maxTokens } = agent.llmConfig;
  return {
    vendor: llm.providerKey,
    client: chains.llm(forCall),
    modelId: agent.llmModelId,
    systemPrompt: systemMessage(agent.persona).content,
    temperature,
    maxTokens,
  };
}

function ttsOf(forCall: AgentForCall, chains: VendorChains, audio: LegAudio): AgentTts {
  const { agent, tts } = forCall;
  const { language } = agent.persona;
  const { client, format, next } = chains.tts(forCall, audio);
  const keys = new Map<VoiceOfProvider, string>();
  const keyOf = (voice: VoiceOfProvider): string => {
    const { provider, modelId, speed } = voice;
    const parts = [agent.orgId, provider.id, provider.updatedAtMs, modelId, speed, language];
    const key = keys.get(voice) ?? voiceKeyOf([...parts, format.name]);
    keys.set(voice, key);
    return key;
  };
  return {
    vendor: tts.providerKey,
    client,
    modelId: agent.ttsModelId,
    speed: agent.ttsConfig.speed,
    language,
    format,
    /** The key is that of the voice that speaks now: what another has said is not played in its place. */
    get cacheKey() {
      return keyOf(next());
    },
  };
}
