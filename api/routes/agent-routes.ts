import type { Agents, AgentView } from "../../engine/tenancy/agents/agents.js";
import type { Handlers } from "../http/endpoints/api-endpoint.js";
import { timestamp } from "./timestamp.js";

export function agentRoutes(
  agents: Agents,
): Handlers<"listAgents" | "createAgent" | "getAgent" | "updateAgent" | "deleteAgent"> {
  // What is kept of an organization's agents is listed again and again.
  const listed = new WeakMap<readonly AgentView[], ReturnType<typeof agentJson>[]>();
  return {
    listAgents: async ({ tenant }) => {
      const views = await agents.list(tenant);
      const known = listed.get(views) ?? views.map(agentJson);
      listed.set(views, known);
      return known;
    },
    createAgent: async ({ tenant, body }) => agentJson(await agents.create(tenant, body)),
    getAgent: async ({ tenant, id }) => agentJson(await agents.get(tenant, id)),
    updateAgent: async ({ tenant, id, body }) => agentJson(await agents.update(tenant, id, body)),
    deleteAgent: async ({ tenant, id }) => {
      await agents.remove(tenant, id);
      return { success: true };
    },
  };
}

/** All but the values of the tools' headers, which are secrets. */
function agentJson(view: AgentView) {
  const { id, createdAtMs, updatedAtMs, sealedToolHeaders: _sealed, ...shown } = view;
  const { tools, fallbacks, modelNotices, ...agent } = shown;
  return {
    _id: id,
    ...agent,
    fallbacks: {
      llm: [...fallbacks.llm],
      tts: [...fallbacks.tts],
      stt: [...fallbacks.stt],
      hedging: fallbacks.hedging,
    },
    modelNotices: [...modelNotices],
    publicOrigins: [...agent.publicOrigins],
    tools: tools.map((tool) =>
      tool.type === "http" ? { ...tool, headerNames: [...tool.headerNames] } : tool,
    ),
    createdAt: timestamp(createdAtMs),
    updatedAt: timestamp(updatedAtMs),
  };
}
