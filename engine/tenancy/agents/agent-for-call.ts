import { ParleyError } from "../../../storage/parley-error.js";
import type {
  AgentRecord,
  Category,
  PlanRecord,
  ProviderRecord,
} from "../../../storage/records.js";
import { isSandboxed } from "../providers/provider-input.js";
import {
  type AgentAvailability,
  type AgentStatus,
  agentAvailability,
  firstUsable,
  type ProvidersById,
  type UsableVendor,
  usableFallbacks,
  usableLanguageVoices,
} from "./agent-access.js";

/** The agent and providers that a call needs; credentials are still sealed. */
export interface AgentForCall {
  /** If the agent's own provider is not usable, this record names the first usable fallback instead. */
  readonly agent: AgentRecord;
  readonly llm: ProviderRecord;
  readonly tts: ProviderRecord;
  readonly stt: ProviderRecord;
  readonly sttModelId: string;
  /** The usable fallbacks after the chosen provider, in the agent's order. */
  readonly fallbacks: FallbacksForCall;
  /** The voices for other languages that the agent may use now. */
  readonly languageVoices: readonly LanguageVoiceForCall[];
  /** The agent's own voice, in a call that was given another; null: the provider's own. Undefined in other calls. */
  readonly replacedVoice?: string | null | undefined;
}

export interface LanguageVoiceForCall extends UsableVendor {
  readonly language: string;
  /** null: the provider's own. */
  readonly voice: string | null;
}

/**
 * Which of a call's own providers the sandbox simulates. `usesSandbox`: it stands at the address of every vendor of the
 * platform.
 */
export function simulatedCategories(
  { llm, tts, stt }: Pick<AgentForCall, Category>,
  usesSandbox: boolean,
): readonly Category[] {
  return [llm, tts, stt]
    .filter((provider) => provider.orgId === null && (usesSandbox || isSandboxed(provider)))
    .map(({ category }) => category);
}

export interface FallbacksForCall {
  readonly llm: readonly UsableVendor[];
  readonly tts: readonly (UsableVendor & { readonly speed: number })[];
  readonly stt: readonly UsableVendor[];
}

/** The agent takes no calls now; the message may be sent to the caller. */
export class AgentUnavailableError extends ParleyError {
  override readonly name = "AgentUnavailableError";
  readonly code = "agent_not_active";
  readonly status: "notFound" | Exclude<AgentStatus, "active">;

  constructor(status: AgentUnavailableError["status"], message: string) {
    super(message);
    this.status = status;
  }
}

/** The requested agents as stored. The plan is applied later, since it may change while the agents stay the same. */
export interface StoredAgents {
  readonly agents: readonly {
    readonly agent: AgentRecord;
    /** The agent's index in the organization's agents, in creation order from 0. */
    readonly position: number;
  }[];
  readonly providersById: ProvidersById;
}

/** Returns the first agent that can take a call. Throws AgentUnavailableError with the reason if there is none. */
export function agentForCall(
  { agents, providersById }: StoredAgents,
  plan: PlanRecord,
  agentId: string | undefined,
): AgentForCall {
  const candidates = agents.map(({ agent, position }) => ({
    agent,
    ...agentAvailability(agent, position, plan, providersById),
  }));
  const chosen = candidates.find(({ status }) => status === "active");
  if (chosen === undefined) {
    if (agentId === undefined) throw noActiveAgent();
    throw unavailable(candidates[0]);
  }
  const first = (category: Category) => {
    const usable = firstUsable(chosen.agent, category, plan, providersById);
    if (usable === undefined)
      throw new Error(`agent ${chosen.agent.id} is active without ${category}`);
    return usable;
  };
  const [llm, tts, stt] = [first("llm"), first("tts"), first("stt")];
  // Place 0 is the agent's own provider, 1 its first fallback.
  const behind = (category: Category, { place }: { readonly place: number }) =>
    usableFallbacks(chosen.agent, category, plan, providersById).map((each, index) =>
      index < place ? undefined : each,
    );
  const isUsable = (each: UsableVendor | undefined) => each !== undefined;
  const voices = chosen.agent.fallbacks.tts;
  const fallbacks: FallbacksForCall = {
    llm: behind("llm", llm).filter(isUsable),
    tts: behind("tts", tts).flatMap((each, at) =>
      each ? [{ ...each, speed: voices[at]?.speed ?? 1 }] : [],
    ),
    stt: behind("stt", stt).filter(isUsable),
  };
  const agent = {
    ...chosen.agent,
    llmProviderId: llm.provider.id,
    llmModelId: llm.modelId,
    ttsProviderId: tts.provider.id,
    ttsModelId: tts.modelId,
    ttsConfig: {
      ...chosen.agent.ttsConfig,
      speed: voices[tts.place - 1]?.speed ?? chosen.agent.ttsConfig.speed,
      voice: tts.place === 0 ? chosen.agent.ttsConfig.voice : null,
    },
    sttProviderId: stt.provider.id,
  };
  return {
    agent,
    llm: llm.provider,
    tts: tts.provider,
    stt: stt.provider,
    sttModelId: stt.modelId,
    fallbacks,
    languageVoices: usableLanguageVoices(chosen.agent, plan, providersById),
  };
}

/**
 * Returns the LLM chain for jobs that run after an agent's calls; the agent may be inactive or paused. `before`, if
 * given, comes first in the chain. Undefined if no provider is usable.
 */
export function agentForJob(
  agent: AgentRecord,
  plan: PlanRecord,
  providersById: ProvidersById,
  before?: UsableVendor,
): Pick<AgentForCall, "agent" | "llm" | "fallbacks"> | undefined {
  const own = firstUsable(agent, "llm", plan, providersById);
  const behind = usableFallbacks(agent, "llm", plan, providersById).slice(own?.place);
  const [first, ...llm] = [before, own, ...behind].filter((each) => each !== undefined);
  if (first === undefined) return undefined;
  const { provider, modelId } = first;
  return {
    agent: { ...agent, llmProviderId: provider.id, llmModelId: modelId },
    llm: provider,
    fallbacks: { llm, tts: [], stt: [] },
  };
}

function noActiveAgent(): AgentUnavailableError {
  return new AgentUnavailableError("notFound", "the organization has no active agent");
}

function unavailable(asked: AgentAvailability | undefined): AgentUnavailableError {
  if (asked === undefined || asked.status === "active") {
    return new AgentUnavailableError("notFound", "there is no such agent");
  }
  return new AgentUnavailableError(asked.status, asked.pauseReason ?? "the agent is switched off");
}
