import type { AnalysisRuns } from "../../engine/analysis/analysis-runs.js";
import { type AgentChats, ChatError } from "../../engine/calls/agent-chats.js";
import { agentVariables, type SealedTexts } from "../../engine/calls/agent-texts.js";
import type { ToolTests } from "../../engine/calls/tool-tests.js";
import type { Agents, AgentView } from "../../engine/tenancy/agents/agents.js";
import type { ProviderChecks } from "../../engine/tenancy/providers/provider-check.js";
import type { ProviderVoices } from "../../engine/tenancy/providers/provider-voices.js";
import type { AgentMcpTools } from "../../engine/tools/agent-mcp-tools.js";
import type { AnalysisRun } from "../../storage/calls/call-analyses.js";
import type { StockPhrases } from "../../storage/records.js";
import type { HttpTool } from "../../storage/tenancy/agent-tool.js";
import type { McpServer } from "../../storage/tenancy/mcp-server.js";
import type { Handlers } from "../http/endpoints/api-endpoint.js";
import { timestamp } from "./timestamp.js";

export interface TrialParts {
  readonly agentChats: AgentChats;
  readonly providerChecks: ProviderChecks;
  readonly providerVoices: ProviderVoices;
  readonly toolTests: Pick<ToolTests, "run">;
  readonly agentMcpTools: Pick<AgentMcpTools, "list">;
}

/** Lets users try their settings before the first call. */
export function trialRoutes({
  agentChats,
  providerChecks,
  providerVoices,
  toolTests,
  agentMcpTools,
}: TrialParts): Handlers<
  | "testAgentTool"
  | "listAgentMcpTools"
  | "chatWithAgent"
  | "testNewProvider"
  | "testProvider"
  | "listProviderVoices"
  | "previewVoice"
> {
  return {
    listAgentMcpTools: async ({ tenant, id, query }) => {
      const servers = await agentMcpTools.list(tenant, id, query.refresh === "true");
      return servers.map(({ fetchedAtMs, tools, omitted, ...server }) => ({
        ...server,
        fetchedAt: fetchedAtMs === null ? null : timestamp(fetchedAtMs),
        tools: [...tools],
        omitted: [...omitted],
      }));
    },
    testAgentTool: ({ tenant, id, body, signal }) => toolTests.run(tenant, id, body, signal),
    listProviderVoices: async ({ tenant, id }) => {
      const { voices, ...list } = await providerVoices.list(tenant, id);
      return { ...list, voices: [...voices] };
    },
    previewVoice: async ({ tenant, id, body, signal }) => {
      const result = await providerVoices.preview(tenant, id, body, signal);
      if (!result.ok) return result;
      return { ...result, audio: Buffer.from(result.audio).toString("base64") };
    },
    testNewProvider: ({ tenant, body, signal }) => providerChecks.checkNew(tenant, body, signal),
    testProvider: ({ tenant, id, signal }) => providerChecks.check(tenant, id, signal),
    chatWithAgent: async ({ tenant, id, body, signal }) => {
      const chat = await agentChats.start(tenant, id, body.messages, signal);
      return {
        produce: async (send) => {
          try {
            const usage = await chat.reply((text) => send.event("token", { text }));
            const totalTokens = usage.promptTokens + usage.completionTokens;
            send.event("done", { usage: { ...usage, totalTokens } });
          } catch (error) {
            if (!(error instanceof ChatError)) throw error;
            send.event("error", { message: error.message });
          }
        },
      };
    },
  };
}

export function agentRoutes(
  agents: Agents,
): Handlers<"listAgents" | "createAgent" | "getAgent" | "updateAgent" | "deleteAgent"> {
  // Cached, because an organization's agents are listed often.
  const listed = new WeakMap<readonly AgentView[], ReturnType<typeof agentJson>[]>();
  const shown = (view: AgentView) => agentJson(view, agents.sealedTexts(view));
  return {
    listAgents: async ({ tenant }) => {
      const views = await agents.list(tenant);
      const known = listed.get(views) ?? views.map(shown);
      listed.set(views, known);
      return known;
    },
    createAgent: async ({ tenant, body }) => shown(await agents.create(tenant, body)),
    getAgent: async ({ tenant, id }) => shown(await agents.get(tenant, id)),
    updateAgent: async ({ tenant, id, body }) => shown(await agents.update(tenant, id, body)),
    deleteAgent: async ({ tenant, id }) => {
      await agents.remove(tenant, id);
      return { success: true };
    },
  };
}

export function analysisRoutes(
  runs: Pick<AnalysisRuns, "start" | "list">,
): Handlers<"startAnalysisRun" | "listAnalysisRuns"> {
  return {
    startAnalysisRun: async ({ tenant, id, body }) => {
      const { from, to, limit: callsMax } = body;
      const range = { fromMs: Date.parse(from), toMs: Date.parse(to), callsMax };
      return runView(await runs.start(tenant.organization.id, id, range));
    },
    listAnalysisRuns: async ({ tenant, id }) =>
      (await runs.list(tenant.organization.id, id)).map(runView),
  };
}

function runView(run: AnalysisRun) {
  const { id, agentId, fromMs, toMs, callsMax: limit, createdAtMs, isListed } = run;
  const { calls, completed, failed, skipped } = run;
  const isOver = isListed && completed + failed + skipped >= calls;
  return {
    id,
    agentId,
    state: isOver ? ("completed" as const) : ("running" as const),
    from: timestamp(fromMs),
    to: timestamp(toMs),
    limit,
    calls,
    completed,
    failed,
    skipped,
    createdAt: timestamp(createdAtMs),
  };
}

function httpToolJson({ headerNames, fixedParameterNames, ...tool }: HttpTool) {
  return {
    ...tool,
    headerNames: [...headerNames],
    ...(fixedParameterNames && { fixedParameterNames: [...fixedParameterNames] }),
  };
}

function mcpServerJson({ headerNames, allowedTools, ...server }: McpServer) {
  return {
    ...server,
    headerNames: [...headerNames],
    allowedTools: allowedTools && [...allowedTools],
  };
}

function phrasesJson({ waiting, ...phrases }: Partial<StockPhrases>) {
  return { ...phrases, ...(waiting && { waiting: [...waiting] }) };
}

/** Every field except the encrypted ones, which are secret. */
function agentJson(view: AgentView, sealedTexts: SealedTexts) {
  const { id, createdAtMs, updatedAtMs, ...all } = view;
  const {
    sealedToolHeaders: _tools,
    sealedPreCall: _preCall,
    sealedMcpSecrets: _mcp,
    ...shown
  } = all;
  const { tools, preCall, fallbacks, modelNotices, persona, ttsConfig, thresholds, ...agent } =
    shown;
  return {
    _id: id,
    ...agent,
    persona: {
      ...persona,
      stockPhrases: phrasesJson(persona.stockPhrases),
      languageTexts: persona.languageTexts.map((texts) => ({
        ...texts,
        stockPhrases: phrasesJson(texts.stockPhrases),
      })),
      keyterms: [...persona.keyterms],
      pronunciations: persona.pronunciations.map((entry) => ({ ...entry })),
      languages: [...persona.languages],
    },
    ttsConfig: {
      ...ttsConfig,
      languageVoices: ttsConfig.languageVoices.map((voice) => ({ ...voice })),
    },
    thresholds: {
      ...thresholds,
      backchannelPhrases: [...thresholds.backchannelPhrases],
      interruptionPhrases: [...thresholds.interruptionPhrases],
    },
    fallbacks: {
      llm: [...fallbacks.llm],
      tts: [...fallbacks.tts],
      stt: [...fallbacks.stt],
      hedging: fallbacks.hedging,
    },
    modelNotices: [...modelNotices],
    allowedOrigins: [...agent.allowedOrigins],
    variables: [...agentVariables(view, sealedTexts)],
    preCall: preCall && { ...preCall, headerNames: [...preCall.headerNames] },
    mcpServers: agent.mcpServers.map(mcpServerJson),
    knowledge: { documentIds: [...agent.knowledge.documentIds] },
    tools: tools.map((tool) => (tool.type === "http" ? httpToolJson(tool) : tool)),
    createdAt: timestamp(createdAtMs),
    updatedAt: timestamp(updatedAtMs),
  };
}
