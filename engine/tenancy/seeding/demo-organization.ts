import type { Database } from "../../../storage/database.js";
import type { AgentRecord } from "../../../storage/records.js";
import type { Logger } from "../../log.js";
import { apiKeyOf, newApiKey } from "../../security/api-key.js";
import type { Clock } from "../../time/clock.js";
import { providerModelNotice } from "../agents/agent-access.js";
import type { Agents } from "../agents/agents.js";
import { chooseModels, createFirstAgent, referencesTo } from "../agents/first-agent.js";
import { SERVER_ACTOR } from "../audit-entry.js";
import { newPassword, type Organizations, SETUP_KEY_NAME } from "../organizations.js";
import type { ApiKeys } from "../people/api-keys.js";
import type { FoundModel, ModelSearch } from "../providers/model-search.js";
import { isSetUp } from "../providers/vendor-preference.js";
import { ALL_SCOPES, type Tenant } from "../tenant.js";
import { type Demo, readDemo, writeDemo } from "./demo-file.js";

const DEMO_EMAIL = "demo@localhost";
const AGENT_NAME = "Demo agent";

export interface DemoOptions {
  readonly database: Pick<Database, "organizations" | "providers">;
  readonly organizations: Organizations;
  readonly agents: Agents;
  readonly apiKeys: ApiKeys;
  readonly modelSearch: ModelSearch;
  readonly dataDir: string;
  readonly clock: Clock;
  readonly log: Logger;
}

/**
 * Creates an active organization with an agent and an API key if there is no organization at all. The password and key
 * are written to the demo file first, so that a start after a crash continues where the last one stopped. The agent of
 * an earlier start follows the vendors that are configured now.
 */
export async function ensureDemo(options: DemoOptions): Promise<Demo | undefined> {
  const { organizations, apiKeys, dataDir } = options;
  const isFirst = (await organizations.list()).length === 0;
  const known = await readDemo(dataDir);
  if (known === undefined && !isFirst) return undefined;
  const demo = known ?? (await writeDemo(dataDir, newDemo()));
  if (isFirst) {
    await organizations.setUp({
      orgName: "Demo",
      email: DEMO_EMAIL,
      name: "Demo",
      planSlug: "enterprise",
      password: demo.password,
      apiKey: apiKeyOf(demo.apiKey),
    });
  }
  const tenant = (await apiKeys.authenticate(demo.apiKey)) ?? (await withKey(options, demo));
  if (tenant === undefined) return demo;
  return isFirst ? storeWithAgent(options, demo, tenant) : withWorkingAgent(options, demo, tenant);
}

function newDemo(): Demo {
  return { email: DEMO_EMAIL, password: newPassword(), apiKey: newApiKey().rawKey };
}

/** Creates the demo key if the organization never had an API key. Returns undefined if the key was revoked. */
async function withKey(options: DemoOptions, { apiKey }: Demo): Promise<Tenant | undefined> {
  const { database, apiKeys } = options;
  const organization = await database.organizations.findByOwnerEmail(DEMO_EMAIL);
  if (organization === undefined || (await apiKeys.list(organization.id)).length > 0) {
    return undefined;
  }
  const input = { name: SETUP_KEY_NAME };
  await apiKeys.create(organization.id, input, SERVER_ACTOR, ALL_SCOPES, apiKeyOf(apiKey));
  return apiKeys.authenticate(apiKey);
}

/** Stores no agent if a vendor is missing; the next start tries again. */
async function storeWithAgent(options: DemoOptions, demo: Demo, tenant: Tenant): Promise<Demo> {
  const { agent } = await createFirstAgent(options, tenant, AGENT_NAME);
  const { agentId: _former, ...owner } = demo;
  return writeDemo(options.dataDir, agent === undefined ? owner : { ...owner, agentId: agent.id });
}

async function withWorkingAgent(options: DemoOptions, demo: Demo, tenant: Tenant): Promise<Demo> {
  const agents = await options.agents.list(tenant);
  if (demo.agentId === undefined) {
    if (agents.length === 0) return storeWithAgent(options, demo, tenant);
    // The agent of a start that crashed before it wrote the agent's id to the file.
    const made = agents.find(({ name }) => name === AGENT_NAME);
    return made === undefined ? demo : writeDemo(options.dataDir, { ...demo, agentId: made.id });
  }
  // The user has deleted or deactivated the agent.
  const agent = agents.find(({ id }) => id === demo.agentId);
  if (agent?.active === true) await followVendors(options, tenant, agent);
  return demo;
}

/**
 * Moves the demo agent to configured vendors if the sandbox is gone or a key was added. An agent that a user has
 * changed keeps its vendors while they exist; an unchanged agent leaves a model that its vendor retires.
 */
async function followVendors(options: DemoOptions, tenant: Tenant, agent: AgentRecord) {
  const { database, agents, modelSearch, clock, log } = options;
  const providers = await database.providers.listVisible(tenant.organization.id);
  const providersById = new Map(providers.map((provider) => [provider.id, provider]));
  const isAsMade = agent.updatedAtMs === agent.createdAtMs;
  const nowMs = clock.epochMs();
  const better = (currentId: string, model: FoundModel | undefined, currentModelId = "") => {
    const current = providersById.get(currentId);
    const next = model && providersById.get(model.providerId);
    if (next === undefined) return undefined;
    if (current?.active !== true) return model;
    const isLeaving =
      providerModelNotice(current, currentModelId, nowMs) !== undefined &&
      providerModelNotice(next, model?.modelId ?? "", nowMs) === undefined;
    if (isAsMade && isLeaving) return model;
    return isAsMade && !isSetUp(current) && isSetUp(next) ? model : undefined;
  };
  const { llm, tts, stt } = await chooseModels(modelSearch, tenant);
  const changes = referencesTo({
    llm: better(agent.llmProviderId, llm, agent.llmModelId),
    tts: better(agent.ttsProviderId, tts, agent.ttsModelId),
    stt: better(agent.sttProviderId, stt),
  });
  if (Object.keys(changes).length === 0) return;
  await agents.update(tenant, agent.id, changes);
  log.info({ agentId: agent.id, ...changes }, "the demo agent now uses the configured vendors");
}
