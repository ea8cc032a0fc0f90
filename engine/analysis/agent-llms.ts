import type { Database } from "../../storage/database.js";
import { agentLlm, type ChainDeps } from "../calls/agent-vendors.js";
import type { AgentLlm } from "../conversation/runner.js";
import { providerIdsOf } from "../tenancy/agents/agent-access.js";
import { agentForJob } from "../tenancy/agents/agent-for-call.js";
import { findOrganizationWithPlan } from "../tenancy/tenant.js";
import type { BackgroundLlms } from "./summary-job.js";

export interface AgentLlmsOptions {
  readonly database: Pick<Database, "agents" | "providers" | "organizations" | "plans">;
  readonly chains: ChainDeps;
}

/** The LLMs of agents, with their fallbacks, as the agents are now; also of one that takes no calls any more. */
export class AgentLlms implements BackgroundLlms {
  readonly #options: AgentLlmsOptions;

  constructor(options: AgentLlmsOptions) {
    this.#options = options;
  }

  async of(orgId: string, agentId: string): Promise<AgentLlm | undefined> {
    const { database, chains } = this.#options;
    const [agent, owner] = await Promise.all([
      database.agents.findById(orgId, agentId),
      findOrganizationWithPlan(database, orgId),
    ]);
    if (agent === undefined || owner === undefined) return undefined;
    const providers = await database.providers.findMany([...new Set(providerIdsOf(agent))]);
    const providersById = new Map(providers.map((provider) => [provider.id, provider]));
    const forJob = agentForJob(agent, owner.plan, providersById);
    return forJob && agentLlm(forJob, chains);
  }
}
