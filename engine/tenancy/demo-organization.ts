import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import * as v from "valibot";
import type { Database } from "../../storage/database.js";
import type { AgentRecord } from "../../storage/records.js";
import type { Logger } from "../log.js";
import type { Agents } from "./agents.js";
import type { ApiKeys } from "./api-keys.js";
import { chooseModels, createFirstAgent, referencesTo } from "./first-agent.js";
import type { FoundModel, ModelSearch } from "./model-search.js";
import type { Organizations } from "./organizations.js";
import type { Tenant } from "./tenant.js";
import { isSetUp } from "./vendor-preference.js";

const DEMO_FILE = "demo.json";
const DEMO_EMAIL = "demo@localhost";
const Demo = v.object({
  email: v.string(),
  password: v.string(),
  apiKey: v.string(),
  agentId: v.optional(v.string()),
});
/** What a newcomer needs for a first call; kept in the data folder, for its owner's eyes. */
export type Demo = Readonly<v.InferOutput<typeof Demo>>;

export interface DemoOptions {
  readonly database: Pick<Database, "organizations" | "providers">;
  readonly organizations: Organizations;
  readonly agents: Agents;
  readonly apiKeys: ApiKeys;
  readonly modelSearch: ModelSearch;
  readonly dataDir: string;
  readonly log: Logger;
}

/**
 * Makes an active organization with an agent and an API key when there is no organization at all. The agent of an earlier
 * start follows the vendors that are configured now.
 */
export async function ensureDemo(options: DemoOptions): Promise<Demo | undefined> {
  const existing = await options.organizations.list();
  if (existing.length > 0) {
    const demo = await readDemo(options.dataDir);
    return demo && withWorkingAgent(options, demo);
  }
  const made = await options.organizations.setUp({
    orgName: "Demo",
    email: DEMO_EMAIL,
    name: "Demo",
    planSlug: "enterprise",
  });
  const { password } = made;
  const demo: Demo = { email: DEMO_EMAIL, password, apiKey: made.apiKey.rawKey };
  const tenant = await options.apiKeys.authenticate(demo.apiKey);
  if (tenant === undefined) throw new Error("the demo organization's own key is not accepted");
  return storeWithAgent(options, demo, tenant);
}

/** Undefined when this data folder never had a demo organization. */
export async function readDemo(dataDir: string): Promise<Demo | undefined> {
  try {
    return v.parse(Demo, JSON.parse(await readFile(join(dataDir, DEMO_FILE), "utf8")));
  } catch (error) {
    if (error instanceof Error && "code" in error && error.code === "ENOENT") return undefined;
    throw error;
  }
}

/** Without an agent when there is nothing that one could be made of; the next start tries again. */
async function storeWithAgent(options: DemoOptions, demo: Demo, tenant: Tenant): Promise<Demo> {
  const { agent } = await createFirstAgent(options, tenant, "Demo agent");
  const stored = agent === undefined ? demo : { ...demo, agentId: agent.id };
  const text = `${JSON.stringify(stored, undefined, 2)}\n`;
  await writeFile(join(options.dataDir, DEMO_FILE), text, { mode: 0o600 });
  return stored;
}

async function withWorkingAgent(options: DemoOptions, demo: Demo): Promise<Demo> {
  const tenant = await options.apiKeys.authenticate(demo.apiKey);
  if (tenant === undefined) return demo;
  const agents = await options.agents.list(tenant);
  if (demo.agentId === undefined && agents.length === 0) {
    return storeWithAgent(options, demo, tenant);
  }
  // One that was deleted or switched off is not wanted any more.
  const agent = agents.find(({ id }) => id === demo.agentId);
  if (agent?.active === true) await followVendors(options, tenant, agent);
  return demo;
}

/**
 * Whatever a vendor no longer does is given to one that is configured: the sandbox is gone, or a key has come. An agent that
 * somebody has changed keeps its vendors as long as they are there.
 */
async function followVendors(options: DemoOptions, tenant: Tenant, agent: AgentRecord) {
  const { database, agents, modelSearch, log } = options;
  const providers = await database.providers.listVisible(tenant.organization.id);
  const providersById = new Map(providers.map((provider) => [provider.id, provider]));
  const isAsMade = agent.updatedAtMs === agent.createdAtMs;
  const better = (currentId: string, model: FoundModel | undefined) => {
    const current = providersById.get(currentId);
    const next = model && providersById.get(model.providerId);
    if (next === undefined) return undefined;
    if (current?.active !== true) return model;
    return isAsMade && !isSetUp(current) && isSetUp(next) ? model : undefined;
  };
  const { llm, tts, stt } = await chooseModels(modelSearch, tenant);
  const changes = referencesTo({
    llm: better(agent.llmProviderId, llm),
    tts: better(agent.ttsProviderId, tts),
    stt: better(agent.sttProviderId, stt),
  });
  if (Object.keys(changes).length === 0) return;
  await agents.update(tenant, agent.id, changes);
  log.info(
    { agentId: agent.id, ...changes },
    "the demo agent moved to the vendors that are set up",
  );
}
