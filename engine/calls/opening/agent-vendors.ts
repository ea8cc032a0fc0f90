import type { Category } from "../../../storage/records.js";
import type { LegAudio } from "../../conversation/leg-audio.js";
import type { AgentLlm } from "../../conversation/runner.js";
import type { LostCategory } from "../../conversation/session.js";
import { voiceKeyOf } from "../../conversation/speech-cache.js";
import type { AgentTts } from "../../conversation/synthesis.js";
import type { Toolbox } from "../../conversation/toolbox.js";
import type { CredentialCipher } from "../../security/credential-cipher.js";
import { type CallInfo, callInfoHeaders, callInfoNote } from "../../telephony/call-info.js";
import type { AgentForCall } from "../../tenancy/agents/agent-for-call.js";
import { agentToolbox } from "../../tools/agent-toolbox.js";
import { AnswerLog } from "../../vendors/chain/answer-log.js";
import { LostVendor } from "../../vendors/chain/lost-vendor.js";
import { type LanguageModel, type SpeechToText, VendorError } from "../../vendors/contracts.js";
import type { VendorContext } from "../../vendors/vendor-settings.js";
import { systemMessage } from "../prompt.js";
import {
  type ChainOfVoices,
  type ChainSurroundings,
  VendorChains,
  type VoiceOfProvider,
} from "./vendor-chains.js";

/** What an agent thinks, speaks and hears with in one call. */
export interface AgentVendors {
  readonly llm: AgentLlm;
  readonly tts: AgentTts;
  readonly stt: SpeechToText;
  readonly toolbox: Toolbox;
  /** The kind of vendor of which nobody can be had for the call; undefined where all can. */
  readonly lost: LostCategory | undefined;
  /** Who has answered, turn by turn. */
  readonly answers: AnswerLog;
}

export interface AgentVendorsOptions {
  readonly chains: ChainSurroundings;
  /** Opens the headers of the agent's tools. */
  readonly cipher: CredentialCipher;
  readonly context: VendorContext;
}

/** A kind of which no provider can be used is named in `lost`; its client fails with the reason, whatever it is asked. */
export function agentVendors(
  forCall: AgentForCall,
  audio: LegAudio,
  { chains: around, cipher, context }: AgentVendorsOptions,
  callInfo?: CallInfo,
): AgentVendors {
  const answers = new AnswerLog();
  const chains = new VendorChains(around, answers);
  let lost: LostCategory | undefined;
  const orLost = <Client>(
    category: Category,
    find: () => Client,
    standIn: (by: LostVendor) => Client,
  ) => {
    try {
      return find();
    } catch (error) {
      if (!(error instanceof VendorError)) throw error;
      lost ??= { category, error };
      return standIn(new LostVendor(error));
    }
  };
  return {
    // Where the voice is lost too, that is what the caller notices.
    tts: ttsOf(
      forCall,
      orLost(
        "tts",
        () => chains.tts(forCall, audio),
        (by) => mute(by, forCall, audio),
      ),
    ),
    llm: llmOf(
      forCall,
      orLost<LanguageModel>(
        "llm",
        () => chains.llm(forCall),
        (by) => by,
      ),
      around.clock.epochMs(),
      callInfo,
    ),
    stt: orLost<SpeechToText>(
      "stt",
      () => chains.stt(forCall),
      (by) => by,
    ),
    toolbox: agentToolbox(forCall.agent, cipher, context, callInfoHeaders(callInfo)),
    answers,
    lost,
  };
}

type Voice = Pick<VoiceOfProvider, "provider" | "modelId" | "speed">;
type Speaking = Pick<ChainOfVoices, "client" | "format"> & { readonly next: () => Voice };

type Thinking = Pick<AgentForCall, "agent" | "llm" | "fallbacks">;

/**
 * The agent's language model in a chat, as in a call. Throws a VendorError when the settings or credentials of its provider cannot
 * be used, and nobody stands in for it.
 */
export function agentLlm(forCall: Thinking, around: ChainSurroundings): AgentLlm {
  const client = new VendorChains(around, new AnswerLog()).llm(forCall);
  return llmOf(forCall, client, around.clock.epochMs());
}

function llmOf(
  { agent, llm }: Thinking,
  client: LanguageModel,
  nowMs: number,
  callInfo?: CallInfo,
): AgentLlm {
  const { temperature, maxTokens } = agent.llmConfig;
  return {
    vendor: llm.providerKey,
    client,
    modelId: agent.llmModelId,
    systemPrompt: systemMessage(agent.persona, nowMs, callInfoNote(callInfo)).content,
    temperature,
    maxTokens,
  };
}

/** Nobody speaks; what was said in the agent's own voice before may still be kept. */
function mute(lost: LostVendor, { agent, tts }: AgentForCall, audio: LegAudio): Speaking {
  const voice = { provider: tts, modelId: agent.ttsModelId, speed: agent.ttsConfig.speed };
  return { client: lost, format: audio.sentenceFormat(lost), next: () => voice };
}

function ttsOf({ agent, tts }: AgentForCall, { client, format, next }: Speaking): AgentTts {
  const { language } = agent.persona;
  const keys = new Map<Voice, string>();
  const keyOf = (voice: Voice): string => {
    const { provider, modelId, speed } = voice;
    const parts = [provider.id, provider.updatedAtMs, modelId, speed, language];
    const key = keys.get(voice) ?? voiceKeyOf(agent.orgId, [...parts, format.name]);
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
