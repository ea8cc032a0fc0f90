import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import * as v from "valibot";
import type { Database } from "../../storage/database.js";
import type { Category, ProviderRecord } from "../../storage/records.js";
import type { Agents } from "./agents.js";
import type { ApiKeys } from "./api-keys.js";
import type { Organizations } from "./organizations.js";

const DEMO_FILE = "demo.json";
const DEMO_EMAIL = "demo@localhost";
/** What the demo agent takes of each category, the first that is active. */
const PREFERENCES: Readonly<Record<Category, readonly string[]>> = {
  llm: ["openai", "groq", "ollama"],
  tts: ["openai", "elevenlabs", "edge"],
  stt: ["deepgram"],
};

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
  readonly dataDir: string;
}

/** Makes an active organization with an agent and an API key when there is no organization at all. */
export async function ensureDemo(options: DemoOptions): Promise<Demo | undefined> {
  const existing = await options.organizations.list();
  if (existing.length > 0) return readDemo(options.dataDir);
  const { organizations, dataDir } = options;
  const made = await organizations.setUp({
    orgName: "Demo",
    email: DEMO_EMAIL,
    name: "Demo",
    planSlug: "enterprise",
  });
  const apiKey = made.apiKey.rawKey;
  const agentId = await createAgent(options, apiKey);
  const demo: Demo = {
    email: DEMO_EMAIL,
    password: made.password,
    apiKey,
    ...(agentId === undefined ? {} : { agentId }),
  };
  await writeFile(join(dataDir, DEMO_FILE), `${JSON.stringify(demo, undefined, 2)}\n`, {
    mode: 0o600,
  });
  return demo;
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

/** Undefined when a category has no active provider: then there is nothing that an agent could be made of. */
async function createAgent(options: DemoOptions, apiKey: string): Promise<string | undefined> {
  const tenant = await options.apiKeys.authenticate(apiKey);
  if (tenant === undefined) throw new Error("the demo organization's own key is not accepted");
  const providers = await options.database.providers.listVisible(tenant.organization.id);
  const llm = preferred(providers, "llm");
  const tts = preferred(providers, "tts");
  const stt = preferred(providers, "stt");
  if (llm === undefined || tts === undefined || stt === undefined) return undefined;
  const agent = await options.agents.create(tenant, {
    name: "Demo agent",
    llmProviderId: llm.id,
    llmModelId: llm.models[0]?.modelId ?? "",
    ttsProviderId: tts.id,
    ttsModelId: tts.models[0]?.modelId ?? "",
    sttProviderId: stt.id,
  });
  return agent.id;
}

function preferred(providers: readonly ProviderRecord[], category: Category) {
  const active = providers.filter((provider) => provider.category === category && provider.active);
  for (const providerKey of PREFERENCES[category]) {
    const found = active.find((provider) => provider.providerKey === providerKey);
    if (found !== undefined) return found;
  }
  return undefined;
}
