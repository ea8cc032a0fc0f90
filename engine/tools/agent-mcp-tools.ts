import type { JsonObject } from "../../storage/records.js";
import type { McpServer } from "../../storage/tenancy/mcp-server.js";
import type { CredentialCipher } from "../security/credential-cipher.js";
import type { Agents } from "../tenancy/agents/agents.js";
import type { Tenant } from "../tenancy/tenant.js";
import { openMcpServers, ownToolNames } from "./call-mcp-tools.js";
import { type McpOmission, mcpOffer } from "./mcp-offer.js";
import type { McpListState, McpToolLists } from "./mcp-tool-lists.js";

/** What an agent has of one of its MCP servers. */
export interface AgentMcpServerTools {
  readonly name: string;
  /** Why the newest request failed; null where it did not. The tools of an earlier list stay. */
  readonly error: string | null;
  readonly protocolVersion: string | null;
  readonly fetchedAtMs: number | null;
  /** The server has more tools than are read. */
  readonly isCut: boolean;
  readonly tools: readonly {
    readonly name: string;
    readonly offeredAs: string;
    readonly description: string;
    /** The JSON schema that the LLM gets. */
    readonly parameters: JsonObject;
  }[];
  readonly omitted: readonly McpOmission[];
}

const SECRETS_LOST: McpListState = {
  tools: undefined,
  isCut: false,
  protocolVersion: undefined,
  fetchedAtMs: undefined,
  error: "the stored headers and secrets cannot be opened",
};

export interface AgentMcpToolsOptions {
  readonly agents: Pick<Agents, "get">;
  readonly cipher: CredentialCipher;
  readonly lists: McpToolLists;
}

/** Shows which tools an agent's LLM is offered of MCP servers, and which are left out and why. */
export class AgentMcpTools {
  readonly #options: AgentMcpToolsOptions;

  constructor(options: AgentMcpToolsOptions) {
    this.#options = options;
  }

  /** RequestError `not_found`: no such agent. `refresh`: the servers are asked anew. */
  async list(
    tenant: Tenant,
    agentId: string,
    refresh: boolean,
  ): Promise<readonly AgentMcpServerTools[]> {
    const { agents, cipher, lists } = this.#options;
    const agent = await agents.get(tenant, agentId);
    const opened = openMcpServers(agent, cipher);
    const states = new Map<McpServer, McpListState>(
      await Promise.all(
        agent.mcpServers.map(async (server) => {
          const open = opened.get(server);
          const state = open === undefined ? SECRETS_LOST : await lists.read(open, refresh);
          return [server, state] as const;
        }),
      ),
    );
    const listOf = (server: McpServer) => states.get(server)?.tools;
    const offer = mcpOffer(agent.mcpServers, listOf, ownToolNames(agent));
    return agent.mcpServers.map((server) => {
      const { error, protocolVersion, fetchedAtMs, isCut } = states.get(server) ?? SECRETS_LOST;
      return {
        name: server.name,
        error: error ?? null,
        protocolVersion: protocolVersion ?? null,
        fetchedAtMs: fetchedAtMs ?? null,
        isCut,
        tools: offer.tools
          .filter((tool) => tool.server === server)
          .map(({ name, offeredAs, description, schema: parameters }) => ({
            name,
            offeredAs,
            description,
            parameters,
          })),
        omitted: offer.omitted.get(server) ?? [],
      };
    });
  }
}
