import { useMutation } from "@tanstack/react-query";
import { answered, api } from "../model/api.js";
import type { Answered } from "../model/contract-paths.js";
import { queryClient, useAgent, useMcpTools } from "../model/queries.js";
import { Fault } from "./states.js";

type ServerTools = Answered<"listAgentMcpTools">[number];

/** What the LLM is offered of the saved MCP servers, and what is left out and why. */
export function McpToolList({ agentId }: { agentId: string }) {
  const agent = useAgent(agentId).data;
  const hasServers = (agent?.mcpServers.length ?? 0) > 0;
  const { data, error, isLoading } = useMcpTools(agentId, agent?.updatedAt, hasServers);
  const refresh = useMutation({
    mutationFn: () => {
      const params = { path: { id: agentId }, query: { refresh: "true" as const } };
      return answered(api.GET("/api/dashboard/agents/{id}/mcp-tools", { params }));
    },
    onSuccess: (answer) =>
      queryClient.setQueryData(["agents", agentId, "mcpTools", agent?.updatedAt], answer),
  });
  if (!hasServers) return null;
  return (
    <section className="card stack" aria-labelledby="mcp-tools-title">
      <div className="row">
        <h2 id="mcp-tools-title" style={{ flex: "1 1 200px" }}>
          Tools of the MCP servers
        </h2>
        <button
          type="button"
          className="button"
          disabled={refresh.isPending}
          onClick={() => refresh.mutate()}
        >
          {refresh.isPending ? "Asking…" : "Ask the servers again"}
        </button>
      </div>
      {isLoading ? <p className="soft">Asking the servers…</p> : null}
      {error === null ? null : <Fault error={error} />}
      {refresh.error === null ? null : <Fault error={refresh.error} />}
      {(data ?? []).map((server) => (
        <ServerToolList key={server.name} server={server} />
      ))}
    </section>
  );
}

function ServerToolList({ server }: { server: ServerTools }) {
  const { name, error, protocolVersion, tools, omitted, isCut } = server;
  const facts = [
    `${tools.length} offered`,
    `${omitted.length} left out`,
    ...(protocolVersion === null ? [] : [`protocol ${protocolVersion}`]),
  ];
  return (
    <div className="stack tight">
      <h3>{name}</h3>
      {error === null ? null : <p className="wrong">{error}</p>}
      {error !== null && tools.length === 0 ? null : <p className="soft">{facts.join(" · ")}</p>}
      {tools.length === 0 ? null : (
        <details open={tools.length <= 5}>
          <summary>Offered to the LLM</summary>
          <ul>
            {tools.map((tool) => (
              <li key={tool.offeredAs}>
                <code>{tool.offeredAs}</code> {tool.description}
              </li>
            ))}
          </ul>
        </details>
      )}
      {omitted.length === 0 ? null : (
        <details open={omitted.length <= 5}>
          <summary>Left out</summary>
          <ul>
            {omitted.map((tool) => (
              <li key={`${tool.reason} ${tool.name}`}>
                <code>{tool.name}</code> {tool.message}
              </li>
            ))}
          </ul>
        </details>
      )}
      {isCut ? <p className="soft">The server has more tools than are read.</p> : null}
    </div>
  );
}
