import type { AgentDraft } from "./agent-draft.js";
import type { Answered, Sent } from "./contract-paths.js";
import { copiedMcpServer } from "./mcp-servers.js";

type Providers = Answered<"listProviders">;
type NewAgent = Sent<"createAgent">;

const CATEGORIES = ["llm", "tts", "stt"] as const;
const FORM = 1;
/** More than the longest agent that the API takes. */
export const AGENT_FILE_BYTES_MAX = 1024 * 1024;

interface AgentFile {
  readonly parleyAgent: number;
  readonly agent: NewAgent;
  /** The vendor of each provider that the agent names, since another installation has other ids. */
  readonly vendors: Readonly<Record<string, string>>;
}

/** The agent as one sends it to make another, without secrets, also without those that were typed and not saved. */
export function newAgentOf(draft: AgentDraft, name: string): NewAgent {
  const { active: _active, toolsText: _text, tools, mcpServers, preCall, ...agent } = draft;
  return {
    ...agent,
    name,
    tools: [...tools],
    mcpServers: mcpServers.map(copiedMcpServer),
    preCall: preCall && { url: preCall.url, timeoutMs: preCall.timeoutMs },
  };
}

export function agentFile(draft: AgentDraft, providers: Providers): string {
  // Documents belong to the organization: another one does not have them.
  const agent = { ...newAgentOf(draft, draft.name), knowledge: { documentIds: [] } };
  const ids = new Set([
    ...CATEGORIES.map((category) => agent[`${category}ProviderId`]),
    ...CATEGORIES.flatMap((category) => draft.fallbacks[category].map((each) => each.providerId)),
  ]);
  const used = providers.filter(({ _id }) => ids.has(_id));
  const vendors = Object.fromEntries(used.map(({ _id, providerKey }) => [_id, providerKey]));
  const file: AgentFile = { parleyAgent: FORM, agent, vendors };
  return `${JSON.stringify(file, null, 2)}\n`;
}

/** What an exported file asks for, by providers that this organization has. Throws an error for people. */
export function importedAgent(text: string, providers: Providers): NewAgent {
  const file = parsed(text);
  if (!isAgentFile(file)) throw new Error("This file is not an agent that Parley exported.");
  const { agent, vendors } = file;
  const here = (id: string, category: (typeof CATEGORIES)[number]) => {
    const ofCategory = providers.filter((each) => each.category === category);
    const found =
      ofCategory.find(({ _id }) => _id === id) ??
      ofCategory.find(({ providerKey }) => providerKey === vendors[id]);
    if (found !== undefined) return found._id;
    throw new Error(
      `There is no ${category.toUpperCase()} provider of ${vendors[id] ?? "this vendor"} here. Add one under Providers first.`,
    );
  };
  const { llm = [], tts = [], stt = [], hedging = false } = agent.fallbacks ?? {};
  return {
    ...agent,
    llmProviderId: here(agent.llmProviderId, "llm"),
    ttsProviderId: here(agent.ttsProviderId, "tts"),
    sttProviderId: here(agent.sttProviderId, "stt"),
    fallbacks: {
      llm: llm.map((each) => ({ ...each, providerId: here(each.providerId, "llm") })),
      tts: tts.map((each) => ({ ...each, providerId: here(each.providerId, "tts") })),
      stt: stt.map((each) => ({ ...each, providerId: here(each.providerId, "stt") })),
      hedging,
    },
  };
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** The server checks the fields; here it is known only that it is such a file. */
function isAgentFile(file: unknown): file is AgentFile {
  if (typeof file !== "object" || file === null) return false;
  if (!("parleyAgent" in file) || file.parleyAgent !== FORM) return false;
  if (!("agent" in file) || !("vendors" in file)) return false;
  const { agent, vendors } = file;
  return (
    typeof agent === "object" && agent !== null && typeof vendors === "object" && vendors !== null
  );
}
