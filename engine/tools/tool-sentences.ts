import type { AgentRecord } from "../../storage/records.js";
import type { AgentTool, ToolSentences } from "../../storage/tenancy/agent-tool.js";
import type { McpServer } from "../../storage/tenancy/mcp-server.js";

/** By the names of tools and MCP servers. A tool and a server of one name have the same sentences. */
export type SentencesByTool = Readonly<Record<string, ToolSentences>>;

type SpeakingTools = Pick<AgentRecord, "tools" | "mcpServers">;

/** What the agent says while its tools run, in its own language. */
export function sentencesByTool({ tools, mcpServers }: SpeakingTools): SentencesByTool {
  const named = [...mcpServers, ...tools.filter((tool) => "name" in tool)];
  const said = named.map((each) => [each.name, sentencesOf(each)] as const);
  return Object.fromEntries(said.filter(([, sentences]) => Object.keys(sentences).length > 0));
}

/** The same tools with other sentences; one that has none among them says nothing. */
export function withSentences(
  { tools, mcpServers }: SpeakingTools,
  sentences: SentencesByTool,
): SpeakingTools {
  const own = (name: string): ToolSentences =>
    Object.hasOwn(sentences, name) ? sentencesOf(sentences[name] ?? {}) : {};
  return {
    tools: tools.map((tool): AgentTool => {
      if (tool.type !== "http" && tool.type !== "client") return tool;
      const { onStart: _start, onDelay: _delay, onFailure: _failure, ...silent } = tool;
      return { ...silent, ...own(tool.name) };
    }),
    mcpServers: mcpServers.map((server): McpServer => {
      const { onStart: _start, onDelay: _delay, onFailure: _failure, ...silent } = server;
      return { ...silent, ...own(server.name) };
    }),
  };
}

function sentencesOf({ onStart, onDelay, onFailure }: ToolSentences): ToolSentences {
  return {
    ...(onStart !== undefined && { onStart }),
    ...(onDelay !== undefined && { onDelay }),
    ...(onFailure !== undefined && { onFailure }),
  };
}
