import type {
  AgentRecord,
  Category,
  PlanRecord,
  ProviderRecord,
} from "../../../storage/records.js";
import {
  type AgentStanding,
  type AgentStatus,
  agentStanding,
  type ProvidersById,
  sttModelId,
  type UsableVendor,
  usableFallbacks,
} from "./agent-access.js";

/** What a call needs; credentials are still sealed. */
export interface AgentForCall {
  readonly agent: AgentRecord;
  readonly llm: ProviderRecord;
  readonly tts: ProviderRecord;
  readonly stt: ProviderRecord;
  readonly sttModelId: string;
  /** Those that the agent may use now, in its order. */
  readonly fallbacks: FallbacksForCall;
}

export interface FallbacksForCall {
  readonly llm: readonly UsableVendor[];
  readonly tts: readonly (UsableVendor & { readonly speed: number })[];
  readonly stt: readonly UsableVendor[];
}

/** The agent takes no calls now; the message may be told to the caller. */
export class AgentUnavailable extends Error {
  override readonly name = "AgentUnavailable";
  readonly status: "notFound" | Exclude<AgentStatus, "active">;

  constructor(status: AgentUnavailable["status"], message: string) {
    super(message);
    this.status = status;
  }
}

/** The agents that were asked for, whatever the plan says of them: a plan may change while they stay as they are. */
export interface AskedAgents {
  readonly agents: readonly {
    readonly agent: AgentRecord;
    /** Among the organization's agents in the order of creation, from 0. */
    readonly position: number;
  }[];
  readonly providersById: ProvidersById;
}

/** The first that can take a call. Throws AgentUnavailable, with the reason why the one that was asked for cannot. */
export function agentForCall(
  { agents, providersById }: AskedAgents,
  plan: PlanRecord,
  agentId: string | undefined,
): AgentForCall {
  const candidates = agents.map(({ agent, position }) => ({
    agent,
    ...agentStanding(agent, position, plan, providersById),
  }));
  const chosen = candidates.find(({ status }) => status === "active");
  if (chosen === undefined) {
    if (agentId === undefined) throw noActiveAgent();
    throw unavailable(candidates[0]);
  }
  const { agent } = chosen;
  const llm = providersById.get(agent.llmProviderId);
  const tts = providersById.get(agent.ttsProviderId);
  const stt = providersById.get(agent.sttProviderId);
  if (llm === undefined || tts === undefined || stt === undefined) {
    throw new Error(`agent ${agent.id} is active without its providers`);
  }
  const listensWith = agent.sttModelId ?? sttModelId(plan, stt);
  const fallbacks = fallbacksForCall(agent, plan, providersById);
  return { agent, llm, tts, stt, sttModelId: listensWith, fallbacks };
}

function fallbacksForCall(
  agent: AgentRecord,
  plan: PlanRecord,
  providersById: ProvidersById,
): FallbacksForCall {
  const of = (category: Category) => usableFallbacks(agent, category, plan, providersById);
  const isUsable = (each: UsableVendor | undefined) => each !== undefined;
  const speeds = agent.fallbacks.tts.map(({ speed }) => speed);
  return {
    llm: of("llm").filter(isUsable),
    tts: of("tts").flatMap((each, at) => (each ? [{ ...each, speed: speeds[at] ?? 1 }] : [])),
    stt: of("stt").filter(isUsable),
  };
}

function noActiveAgent(): AgentUnavailable {
  return new AgentUnavailable("notFound", "the organization has no active agent");
}

function unavailable(asked: AgentStanding | undefined): AgentUnavailable {
  if (asked === undefined || asked.status === "active") {
    return new AgentUnavailable("notFound", "there is no such agent");
  }
  return new AgentUnavailable(asked.status, asked.pauseReason ?? "the agent is switched off");
}
