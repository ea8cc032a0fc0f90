import type { Answered, Sent } from "./contract-paths.js";

type Agent = Answered<"getAgent">;

/** What can be changed of an agent, as the editor holds it. Tools and stand-ins are edited as JSON. */
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
    | "thresholds"
    | "recording"
    | "publicOrigins"
  > {
  readonly toolsText: string;
  readonly fallbacksText: string;
  readonly hedging: boolean;
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
  "thresholds",
  "recording",
  "publicOrigins",
] as const;

export function draftOf(agent: Agent): AgentDraft {
  const { hedging, ...standIns } = agent.fallbacks;
  const toolsText = JSON.stringify(agent.tools.map(withoutHeaderNames), null, 2);
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
    thresholds: agent.thresholds,
    recording: agent.recording,
    publicOrigins: agent.publicOrigins,
    toolsText,
    fallbacksText: JSON.stringify(standIns, null, 2),
    hedging,
  };
}

export function isChanged(saved: AgentDraft, draft: AgentDraft): boolean {
  return JSON.stringify(saved) !== JSON.stringify(draft);
}

/** Only what differs is sent, so that two people who change different things do not undo each other's. */
export function changesOf(saved: AgentDraft, draft: AgentDraft): Sent<"updateAgent"> {
  const changed = FIELDS.filter(
    (field) => JSON.stringify(saved[field]) !== JSON.stringify(draft[field]),
  );
  const changes = Object.fromEntries(changed.map((field) => [field, draft[field]]));
  return {
    ...changes,
    ...(saved.toolsText === draft.toolsText ? {} : { tools: JSON.parse(draft.toolsText) }),
    ...(saved.fallbacksText === draft.fallbacksText && saved.hedging === draft.hedging
      ? {}
      : { fallbacks: { ...JSON.parse(draft.fallbacksText), hedging: draft.hedging } }),
  };
}

const NO_JSON = "this is no JSON yet";

/** What is wrong with the text of the tools; the server judges the rest. */
export function toolsFault(text: string): string | undefined {
  const value = parsed(text);
  if (value === undefined) return NO_JSON;
  return Array.isArray(value) ? undefined : "expected a list of tools, in JSON";
}

/** As `toolsFault`, of the stand-ins. */
export function fallbacksFault(text: string): string | undefined {
  const value = parsed(text);
  if (value === undefined) return NO_JSON;
  const isObject = typeof value === "object" && value !== null && !Array.isArray(value);
  return isObject ? undefined : "expected an object with llm, tts and stt, in JSON";
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** The values of headers never leave the server; left out, they stay as they are. */
function withoutHeaderNames(tool: Agent["tools"][number]) {
  if (tool.type !== "http") return tool;
  const { headerNames: _names, ...rest } = tool;
  return rest;
}
