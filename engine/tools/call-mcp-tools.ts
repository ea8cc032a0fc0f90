import type { AgentRecord } from "../../storage/records.js";
import type { McpServer } from "../../storage/tenancy/mcp-server.js";
import type { ToolOutcome } from "../conversation/toolbox.js";
import type { CredentialCipher } from "../security/credential-cipher.js";
import { type McpSecrets, openMcpSecrets } from "../tenancy/agents/agent-mcp.js";
import type { ToolCall, ToolDefinition } from "../vendors/contracts.js";
import { type McpKnownTool, type McpOfferedTool, mcpOffer } from "./mcp-offer.js";
import type { McpToolLists, OpenMcpServer } from "./mcp-tool-lists.js";
import { type CallTexts, callHeaders, secretsIn } from "./tool-texts.js";

type McpAgent = Pick<AgentRecord, "orgId" | "tools" | "mcpServers" | "sealedMcpSecrets">;

/** An agent's MCP servers with their secrets. None where no key opens the secrets: calls go on without these tools. */
export function openMcpServers(
  agent: McpAgent,
  cipher: CredentialCipher,
): ReadonlyMap<McpServer, OpenMcpServer> {
  const { orgId, mcpServers } = agent;
  let opened: ReadonlyMap<string, McpSecrets>;
  try {
    opened = openMcpSecrets(agent, cipher);
  } catch {
    return new Map();
  }
  return new Map(
    mcpServers.map((server) => {
      const secrets = opened.get(server.name) ?? { headers: {} };
      return [server, { server, secrets, orgId }];
    }),
  );
}

/** The names that the agent's other tools have for the LLM. */
export function ownToolNames({ tools }: Pick<AgentRecord, "tools">): readonly string[] {
  return tools.map((tool) => ("name" in tool ? tool.name : tool.type));
}

/**
 * The MCP tools of one call. A server's tools stay the same for the whole call: those of its list when the call began, or when the list
 * came, if it was not known then. Tools that come later take no place of one that the LLM was offered before.
 */
export class CallMcpTools {
  readonly #lists: McpToolLists;
  readonly #servers: ReadonlyMap<McpServer, OpenMcpServer>;
  readonly #ownNames: readonly string[];
  readonly #texts: CallTexts;
  readonly #known = new Map<McpServer, readonly McpKnownTool[]>();
  #offered: ReadonlyMap<string, McpOfferedTool> = new Map();
  #definitions: readonly ToolDefinition[] | undefined;

  constructor(agent: McpAgent, cipher: CredentialCipher, lists: McpToolLists, texts: CallTexts) {
    this.#lists = lists;
    this.#texts = texts;
    this.#servers = openMcpServers(agent, cipher);
    this.#ownNames = ownToolNames(agent);
    this.#offer(this.#newlyKnown());
  }

  get secrets(): readonly string[] {
    return [...this.#servers.values()].flatMap((open) => {
      const { headers, secret } = open.secrets;
      const own = [secret, this.#lists.tokenOf(open)].filter((each) => each !== undefined);
      return [...secretsIn(headers, this.#texts), ...own];
    });
  }

  /** The same list until another server's tools have come. Read for each request to the LLM, so that late ones are offered. */
  definitionsBehind(own: readonly ToolDefinition[]): readonly ToolDefinition[] {
    const servers = this.#newlyKnown();
    if (servers.length > 0) this.#offer(servers);
    this.#definitions ??= [
      ...own,
      ...[...this.#offered.values()].map(({ offeredAs, description, schema }) => ({
        name: offeredAs,
        description,
        parameters: schema,
      })),
    ];
    return this.#definitions;
  }

  has(name: string): boolean {
    return this.#offered.has(name);
  }

  /** The tool that the LLM knows by this name; undefined where it is offered none. */
  offered(name: string): McpOfferedTool | undefined {
    return this.#offered.get(name);
  }

  run(
    { name, argumentsJson }: ToolCall,
    idempotencyKey: string | undefined,
    signal: AbortSignal,
  ): Promise<ToolOutcome> {
    const tool = this.#offered.get(name);
    const open = tool && this.#servers.get(tool.server);
    if (tool === undefined || open === undefined) throw new Error("no such MCP tool");
    const headers = callHeaders(open.secrets.headers, this.#texts);
    return this.#lists.call(tool, open, { argumentsJson, idempotencyKey, headers }, signal);
  }

  /** The servers whose lists have come since the last look; those still missing are wanted. */
  #newlyKnown(): readonly McpServer[] {
    const found: McpServer[] = [];
    for (const [server, open] of this.#servers) {
      if (this.#known.has(server)) continue;
      const tools = this.#lists.peek(open);
      if (tools === undefined) continue;
      this.#known.set(server, tools);
      found.push(server);
    }
    return found;
  }

  #offer(servers: readonly McpServer[]): void {
    const listOf = (server: McpServer) => this.#known.get(server);
    const { tools } = mcpOffer(servers, listOf, this.#ownNames, [...this.#offered.values()]);
    this.#offered = new Map(tools.map((tool) => [tool.offeredAs, tool]));
    this.#definitions = undefined;
  }
}
