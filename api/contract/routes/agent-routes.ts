import * as v from "valibot";
import { Agent, AgentBody, AgentPatchBody } from "../agent.js";
import { AnalysisRunBody, AnalysisRunView } from "../call.js";
import { Success } from "../fields.js";
import { McpServerTools, McpToolsQuery } from "../mcp-server.js";
import {
  Provider,
  ProviderBody,
  ProviderInUse,
  ProviderPatchBody,
  ProviderQuery,
  RegistryEntry,
} from "../provider.js";
import {
  CHAT_EVENTS,
  ChatBody,
  PreviewBody,
  ProviderTest,
  ProviderVoiceList,
  ToolTest,
  ToolTestBody,
  VoicePreview,
} from "../trial.js";
import type { Route } from "./route.js";
import { created, ok, refused, streamed } from "./route-answer.js";

const dashboard = { auth: "dashboard", limit: "general" } as const;
const trial = { auth: "dashboard", limit: "vendor" } as const;
const notInPlan = refused(403, "The plan does not include it, or the organization is pending");

/** Agents and the providers that they are made of. */
export const AGENT_ROUTES = {
  listAgents: {
    method: "get",
    path: "/api/dashboard/agents",
    group: "Agents",
    summary: "List the agents",
    ...dashboard,
    success: ok("All agents in the order of their creation", v.array(Agent)),
  },
  createAgent: {
    method: "post",
    path: "/api/dashboard/agents",
    group: "Agents",
    summary: "Create an agent",
    ...dashboard,
    body: AgentBody,
    success: created("The agent", Agent),
    others: [notInPlan],
  },
  getAgent: {
    method: "get",
    path: "/api/dashboard/agents/:id",
    group: "Agents",
    summary: "Show an agent",
    ...dashboard,
    success: ok("The agent", Agent),
  },
  updateAgent: {
    method: "patch",
    path: "/api/dashboard/agents/:id",
    group: "Agents",
    summary: "Change an agent, field by field",
    ...dashboard,
    body: AgentPatchBody,
    success: ok("The agent as it is now", Agent),
    others: [notInPlan],
  },
  deleteAgent: {
    method: "delete",
    path: "/api/dashboard/agents/:id",
    group: "Agents",
    summary: "Delete an agent",
    ...dashboard,
    success: ok("Deleted; its calls are kept", Success),
  },
  startAnalysisRun: {
    method: "post",
    path: "/api/dashboard/agents/:id/analysis/runs",
    group: "Agents",
    summary: "Analyze past calls of an agent, by the analysis that it has now",
    ...dashboard,
    body: AnalysisRunBody,
    success: created("The run, which has begun", AnalysisRunView),
    others: [refused(409, "The agent has no analysis, or another run is not over")],
  },
  listAnalysisRuns: {
    method: "get",
    path: "/api/dashboard/agents/:id/analysis/runs",
    group: "Agents",
    summary: "Show the progress of an agent's latest 20 analysis runs",
    ...dashboard,
    success: ok("Newest first", v.array(AnalysisRunView)),
  },
  chatWithAgent: {
    method: "post",
    path: "/api/dashboard/agents/:id/chat",
    group: "Agents",
    summary: "Try an agent in text: its prompt and language model as in a call",
    ...trial,
    body: ChatBody,
    success: streamed(
      "The reply as server-sent events: `token` for every piece, then `done`, or `error` if the model fails",
      CHAT_EVENTS,
    ),
    others: [refused(409, "The agent is not active; the message says why")],
  },
  testAgentTool: {
    method: "post",
    path: "/api/dashboard/agents/:id/tool-tests",
    group: "Agents",
    summary: "Run an HTTP tool or an MCP server's tool of an agent once, as a call would",
    ...trial,
    body: ToolTestBody,
    success: ok("What was asked, and what came of it", ToolTest),
  },
  listAgentMcpTools: {
    method: "get",
    path: "/api/dashboard/agents/:id/mcp-tools",
    group: "Agents",
    summary: "List the tools of an agent's MCP servers, and those that are left out",
    ...trial,
    query: McpToolsQuery,
    success: ok("The servers in the agent's order", v.array(McpServerTools)),
  },
  listRegistry: {
    method: "get",
    path: "/api/dashboard/providers/registry",
    group: "Providers",
    summary: "List the vendors that a provider can be made of",
    ...dashboard,
    success: ok("The catalogue", v.array(RegistryEntry)),
  },
  listProviders: {
    method: "get",
    path: "/api/dashboard/providers",
    group: "Providers",
    summary: "List the providers",
    ...dashboard,
    query: ProviderQuery,
    success: ok("The platform's providers, then the own ones", v.array(Provider)),
  },
  getProvider: {
    method: "get",
    path: "/api/dashboard/providers/:id",
    group: "Providers",
    summary: "Show a provider",
    ...dashboard,
    success: ok("The provider, without credentials", Provider),
  },
  createProvider: {
    method: "post",
    path: "/api/dashboard/providers",
    group: "Providers",
    summary: "Add an own provider",
    ...dashboard,
    body: ProviderBody,
    success: created("The provider, without credentials", Provider),
    others: [notInPlan, refused(409, "Another provider of this vendor has the name")],
  },
  updateProvider: {
    method: "patch",
    path: "/api/dashboard/providers/:id",
    group: "Providers",
    summary: "Change an own provider",
    ...dashboard,
    body: ProviderPatchBody,
    success: ok("The provider as it is now, without credentials", Provider),
    others: [
      refused(403, "The provider is the platform's, or the organization is pending"),
      refused(409, "Another provider of this vendor has the name"),
    ],
  },
  testNewProvider: {
    method: "post",
    path: "/api/dashboard/providers/test",
    group: "Providers",
    summary: "Try an own provider before it is added",
    ...trial,
    body: ProviderBody,
    success: ok("As of a provider that is stored; nothing is stored", ProviderTest),
    others: [notInPlan],
  },
  testProvider: {
    method: "post",
    path: "/api/dashboard/providers/:id/test",
    group: "Providers",
    summary: "Try a provider with one small call to its vendor",
    ...trial,
    success: ok(
      "What came back: a token, a word or a listening stream, or the vendor's refusal, which is a result too",
      ProviderTest,
    ),
    others: [
      refused(
        403,
        "A provider of the platform that is switched off or has no model in the plan, or the organization is pending",
      ),
    ],
  },
  listProviderVoices: {
    method: "get",
    path: "/api/dashboard/providers/:id/voices",
    group: "Providers",
    summary: "List the voices of a tts provider, as its vendor names them",
    ...dashboard,
    success: ok("The voices, kept for ten minutes", ProviderVoiceList),
    others: [
      refused(400, "The provider is no tts provider"),
      refused(403, "The platform has switched the provider off, or the organization is pending"),
    ],
  },
  previewVoice: {
    method: "post",
    path: "/api/dashboard/providers/:id/preview",
    group: "Providers",
    summary: "Speak one sentence with a voice of a tts provider",
    ...trial,
    body: PreviewBody,
    success: ok("The audio, or the vendor's refusal, which is a result too", VoicePreview),
    others: [
      refused(
        403,
        "A provider of the platform that is switched off, or a model that the plan does not include",
      ),
    ],
  },
  deleteProvider: {
    method: "delete",
    path: "/api/dashboard/providers/:id",
    group: "Providers",
    summary: "Delete an own provider",
    ...dashboard,
    success: ok("Deleted", Success),
    others: [
      refused(403, "The provider is the platform's, or the organization is pending"),
      refused(409, "Agents use the provider; they are listed", ProviderInUse),
    ],
  },
} as const satisfies Record<string, Route>;
