import type { Database } from "../../storage/database.js";
import type { AgentRecord } from "../../storage/records.js";
import { agentLlm, type ChainDeps } from "../calls/agent-vendors.js";
import type { AgentLlm } from "../conversation/effect-runner.js";
import { providerIdsOf, usableAnalyst } from "../tenancy/agents/agent-access.js";
import { agentForJob } from "../tenancy/agents/agent-for-call.js";
import { findOrganizationWithPlan } from "../tenancy/tenant.js";
import { AnswerLog } from "../vendors/chain/answer-log.js";
import { VendorError } from "../vendors/contracts.js";

/** The current state of an agent, also of an inactive one, for a job about its call. */
export interface AgentForJob {
  readonly agent: AgentRecord;
  /** The agent's LLM with its fallbacks; undefined if none of its providers is usable. */
  readonly llm: AgentLlm | undefined;
  /** The model of the last answer, which may be a fallback's; null before the first answer. */
  readonly answeredBy: () => string | null;
}

export interface AgentLlmsOptions {
  readonly database: Pick<Database, "agents" | "providers" | "organizations" | "plans">;
  readonly chains: ChainDeps;
}

/** Creates the LLM clients for jobs that run after an agent's calls. */
export class AgentLlms {
  readonly #options: AgentLlmsOptions;

  constructor(options: AgentLlmsOptions) {
    this.#options = options;
  }

  /** Returns undefined if the agent was deleted. `analysis`: the LLM of the agent's analysis, if any, comes first. */
  async of(
    orgId: string,
    agentId: string,
    purpose: "summary" | "analysis",
  ): Promise<AgentForJob | undefined> {
    const { database, chains } = this.#options;
    const [agent, owner] = await Promise.all([
      database.agents.findById(orgId, agentId),
      findOrganizationWithPlan(database, orgId),
    ]);
    if (agent === undefined || owner === undefined) return undefined;
    const { plan } = owner;
    const providers = await database.providers.findMany([...new Set(providerIdsOf(agent))]);
    const providersById = new Map(providers.map((provider) => [provider.id, provider]));
    const before = purpose === "analysis" ? usableAnalyst(agent, plan, providersById) : undefined;
    const forJob = agentForJob(agent, plan, providersById, before);
    const answers = new AnswerLog();
    const llm = forJob && clientOf(forJob, chains, answers);
    return { agent, llm, answeredBy: () => answers.take().llm?.model ?? null };
  }
}

/** Returns undefined if a credential cannot be decrypted, as if no provider were usable. */
function clientOf(
  forJob: NonNullable<ReturnType<typeof agentForJob>>,
  chains: ChainDeps,
  answers: AnswerLog,
): AgentLlm | undefined {
  try {
    return agentLlm(forJob, chains, answers);
  } catch (error) {
    if (error instanceof VendorError) return undefined;
    throw error;
  }
}
