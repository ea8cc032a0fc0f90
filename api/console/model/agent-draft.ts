import { type ToolDraft, toolDraftOf, toolsOf } from "./agent-tools.js";
import type { Answered, Sent } from "./contract-paths.js";
import { type McpServerDraft, mcpServerDraftOf, sentMcpServer } from "./mcp-servers.js";

type Agent = Answered<"getAgent">;

/** What can be changed of an agent, as the editor holds it. */
export interface AgentDraft
  extends Pick<
    Agent,
    | "name"
    | "active"
    | "persona"
    | "llmProviderId"
    | "llmModelId"
    | "llmConfig"
    | "ttsProviderId"
    | "ttsModelId"
    | "ttsConfig"
    | "sttProviderId"
    | "sttModelId"
    | "fallbacks"
    | "thresholds"
    | "recording"
    | "allowedOrigins"
    | "knowledge"
  > {
  readonly analysis: AnalysisDraft | null;
  readonly preCall: PreCallDraft | null;
  readonly tools: readonly ToolDraft[];
  /** The tools as somebody writes them in JSON; undefined while they are edited in forms. */
  readonly toolsText: string | undefined;
  readonly mcpServers: readonly McpServerDraft[];
}

/** With headers and secret only where they were typed anew: those that were saved stay without. */
export interface PreCallDraft extends Partial<NonNullable<Agent["preCall"]>> {
  readonly url: string;
  readonly timeoutMs: number;
  readonly headers?: Readonly<Record<string, string>>;
  /** null: the requests are not signed any more. */
  readonly secret?: string | null | undefined;
}

const SECRET_BYTES = 32;

/** A secret as Standard Webhooks has it. */
export function newSigningSecret(): string {
  const bytes = crypto.getRandomValues(new Uint8Array(SECRET_BYTES));
  return `whsec_${btoa(String.fromCodePoint(...bytes))}`;
}

/** Without the fields that are null: the API takes them only when they are left out. */
export type AnalysisDraft = NonNullable<Sent<"updateAgent">["analysis"]>;

function analysisDraftOf(analysis: Agent["analysis"]): AnalysisDraft | null {
  if (analysis === null) return null;
  const { schema, successCriteria, minDurationSec, sampleRate, llmProviderId, llmModelId } =
    analysis;
  return {
    ...(schema !== null && { schema }),
    ...(successCriteria !== null && { successCriteria }),
    minDurationSec,
    sampleRate,
    ...(llmProviderId !== null && { llmProviderId }),
    ...(llmModelId !== null && { llmModelId }),
  };
}

const FIELDS = [
  "name",
  "active",
  "persona",
  "llmProviderId",
  "llmModelId",
  "llmConfig",
  "ttsProviderId",
  "ttsModelId",
  "ttsConfig",
  "sttProviderId",
  "sttModelId",
  "fallbacks",
  "thresholds",
  "tools",
  "recording",
  "allowedOrigins",
  "analysis",
  "preCall",
  "knowledge",
  "mcpServers",
] as const;

export function draftOf(agent: Agent): AgentDraft {
  return {
    name: agent.name,
    active: agent.active,
    persona: agent.persona,
    llmProviderId: agent.llmProviderId,
    llmModelId: agent.llmModelId,
    llmConfig: agent.llmConfig,
    ttsProviderId: agent.ttsProviderId,
    ttsModelId: agent.ttsModelId,
    ttsConfig: agent.ttsConfig,
    sttProviderId: agent.sttProviderId,
    sttModelId: agent.sttModelId,
    fallbacks: agent.fallbacks,
    thresholds: agent.thresholds,
    recording: agent.recording,
    allowedOrigins: agent.allowedOrigins,
    analysis: analysisDraftOf(agent.analysis),
    preCall: agent.preCall,
    knowledge: agent.knowledge,
    tools: agent.tools.map(toolDraftOf),
    toolsText: undefined,
    mcpServers: agent.mcpServers.map(mcpServerDraftOf),
  };
}

export function isChanged(saved: AgentDraft, draft: AgentDraft): boolean {
  return changedFields(saved, draft).length > 0 || toolsFault(draft) !== undefined;
}

/** The draft once `sent` is stored as `saved`: fields that were edited while the request was under way stay as edited. */
export function draftAfterSaving(
  sent: AgentDraft,
  draft: AgentDraft,
  saved: AgentDraft,
): AgentDraft {
  const toolsText = draft.toolsText === sent.toolsText ? saved.toolsText : draft.toolsText;
  return { ...saved, ...editsOf(sent, draft), toolsText };
}

/** Only what differs is sent, so that two people who change different things do not undo each other's. */
export function changesOf(saved: AgentDraft, draft: AgentDraft): Sent<"updateAgent"> {
  const mcpServers = draft.mcpServers.map(sentMcpServer);
  const persona = sentPersona(draft);
  const edits = editsOf(saved, { ...draft, persona, mcpServers });
  return "preCall" in edits ? { ...edits, preCall: sentPreCall(draft.preCall) } : edits;
}

/** Sentences of a tool that was removed or renamed go with its name: the server refuses names that it does not know. */
function sentPersona({ persona, tools, mcpServers }: AgentDraft): AgentDraft["persona"] {
  const names = new Set(
    [...tools, ...mcpServers].flatMap((each) => ("name" in each ? [each.name] : [])),
  );
  const languageTexts = persona.languageTexts.map((texts) => {
    const { toolSentences } = texts;
    if (toolSentences === undefined) return texts;
    const kept = Object.entries(toolSentences).filter(([name]) => names.has(name));
    return { ...texts, toolSentences: Object.fromEntries(kept) };
  });
  return { ...persona, languageTexts };
}

/** With tools that a user writes as JSON, as far as they are valid. */
export function withToolsText(draft: AgentDraft, toolsText: string): AgentDraft {
  return { ...draft, toolsText, tools: toolsOf(toolsText) ?? draft.tools };
}

/** What is wrong with the tools as they are written; the server judges the rest. */
export function toolsFault({ toolsText }: AgentDraft): string | undefined {
  if (toolsText === undefined || toolsOf(toolsText) !== undefined) return undefined;
  return "expected a list of tools, in JSON";
}

function changedFields(saved: AgentDraft, draft: AgentDraft): readonly (typeof FIELDS)[number][] {
  return FIELDS.filter((field) => JSON.stringify(saved[field]) !== JSON.stringify(draft[field]));
}

/** The fields that differ, as the draft has them. */
function editsOf(before: AgentDraft, draft: AgentDraft) {
  return Object.fromEntries(changedFields(before, draft).map((field) => [field, draft[field]]));
}

/** As the API takes it. */
export function sentPreCall(preCall: PreCallDraft | null): Sent<"updateAgent">["preCall"] {
  if (preCall === null) return null;
  const { url, timeoutMs, headers, secret } = preCall;
  return {
    url,
    timeoutMs,
    ...(headers !== undefined && { headers: { ...headers } }),
    ...(secret !== undefined && { secret }),
  };
}
