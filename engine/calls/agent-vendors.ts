import type { CredentialCipher } from "../security/credential-cipher.js";
import type { AgentLlm } from "../session/effect-runner.js";
import type { LegAudio } from "../session/leg-audio.js";
import type { AgentTts } from "../session/sentence-speaker.js";
import { voiceKeyOf } from "../session/speech-cache.js";
import type { Toolbox } from "../session/toolbox.js";
import { systemMessage } from "../speech/prompt.js";
import type { AgentForCall } from "../tenancy/agents.js";
import type { VendorClients } from "../tenancy/vendor-clients.js";
import { agentToolbox } from "../tools/agent-toolbox.js";
import type { SpeechToText } from "../vendors/contracts.js";
import type { VendorContext } from "../vendors/vendor-settings.js";

/** What an agent thinks, speaks and hears with in one call. */
export interface AgentVendors {
  readonly llm: AgentLlm;
  readonly tts: AgentTts;
  readonly stt: SpeechToText;
  readonly toolbox: Toolbox;
}

export interface AgentVendorsOptions {
  readonly clients: VendorClients;
  /** Opens the headers of the agent's tools. */
  readonly cipher: CredentialCipher;
  readonly context: VendorContext;
}

/** Throws a VendorError when a provider's settings or credentials cannot be used. */
export function agentVendors(
  forCall: AgentForCall,
  audio: LegAudio,
  { clients, cipher, context }: AgentVendorsOptions,
): AgentVendors {
  const { agent, tts, stt } = forCall;
  const { speed } = agent.ttsConfig;
  const { language } = agent.persona;
  const modelId = agent.ttsModelId;
  const client = clients.tts(tts);
  const format = audio.sentenceFormat(client);
  const voiceParts = [agent.orgId, tts.id, tts.updatedAtMs, modelId, speed, language];
  return {
    llm: agentLlm(forCall, clients),
    tts: {
      vendor: tts.providerKey,
      client,
      modelId,
      speed,
      language,
      format,
      cacheKey: voiceKeyOf([...voiceParts, format.name]),
    },
    stt: clients.stt(stt),
    toolbox: agentToolbox(agent, cipher, context),
  };
}

/** The agent's language model, in a call and in a chat alike. Throws as `agentVendors` does. */
export function agentLlm(
  { agent, llm }: Pick<AgentForCall, "agent" | "llm">,
  clients: Pick<VendorClients, "llm">,
): AgentLlm {
  const { temperature, maxTokens } = agent.llmConfig;
  return {
    vendor: llm.providerKey,
    client: clients.llm(llm),
    modelId: agent.llmModelId,
    systemPrompt: systemMessage(agent.persona).content,
    temperature,
    maxTokens,
  };
}
