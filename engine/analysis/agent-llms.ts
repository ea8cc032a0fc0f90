import type { Database } from "../../storage/database.js";
import type { AgentRecord } from "../../storage/records.js";
import { agentLlm, type ChainDeps } from "../calls/agent-vendors.js";
import type { AgentLlm } from "../conversation/effect-runner.js";
import { providerIdsOf, usableAnalyst } from "../tenancy/agents/agent-access.js";
import { agentForJob } from "../tenancy/agents/agent-for-call.js";
import { findOrganizationWithPlan } from "../tenancy/tenant.js";
import { AnswerLog } from "../vendors/chain/answer-log.js";
import { VendorError } from "../vendors/contracts.js";

/** An agent as it is when a job about its call runs, also one that takes no calls any more. */
export interface AgentForJob {
  readonly agent: AgentRecord;
  /** With its fallbacks; undefined where none of its providers can be used. */
  readonly llm: AgentLlm | undefined;
  /** The model that has answered last, which may be a fallback's; null before it has. */
  readonly answeredBy: () => string | null;
}

export interface AgentLlmsOptions {
  readonly database: Pick<Database, "agents" | "providers" | "organizations" | "plans">;
  readonly chains: ChainDeps;
}

/** The LLMs that answer for agents after their calls. */
export class AgentLlms {
  readonly #options: AgentLlmsOptions;

  constructor(options: AgentLlmsOptions) {
    this.#options = options;
  }

  /** Undefined where there is no such agent any more. `analysis`: first the LLM that the agent names for its analysis. */
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

/** A credential that cannot be opened is as good as none. */
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
