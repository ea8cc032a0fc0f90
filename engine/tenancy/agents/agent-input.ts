import type {
  AgentAnalysis,
  AgentKnowledge,
  AgentRecord,
  AgentRecording,
  AgentThresholds,
  Persona,
} from "../../../storage/records.js";
import type { ToolSentences } from "../../../storage/tenancy/agent-tool.js";
import { changedFields } from "../audit-entry.js";
import { type FallbacksInput, NO_FALLBACKS, withFallbacks } from "./agent-fallbacks.js";
import type { McpServerInput } from "./agent-mcp.js";
import type { PreCallInput } from "./agent-pre-call.js";
import { type AgentToolInput, speakingToolNames } from "./agent-tools.js";

/** Fields may be left out or undefined, since the API's parser sets omitted fields to undefined. */
type PartialInput<Fields> = { readonly [Key in keyof Fields]?: Fields[Key] | undefined };

type LlmConfig = AgentRecord["llmConfig"];
type TtsConfig = AgentRecord["ttsConfig"];

interface StructuredAgentFields {
  readonly persona?: PartialInput<Persona> | undefined;
  readonly llmConfig?: PartialInput<LlmConfig> | undefined;
  readonly ttsConfig?: PartialInput<TtsConfig> | undefined;
  readonly thresholds?: PartialInput<AgentThresholds> | undefined;
  readonly recording?: PartialInput<AgentRecording> | undefined;
  readonly fallbacks?: FallbacksInput | undefined;
  /** Replaces the whole list. */
  readonly allowedOrigins?: readonly string[] | undefined;
  /** Replaces the whole analysis; null turns the analysis of calls off. */
  readonly analysis?: AnalysisInput | null | undefined;
  /** Replaces the whole value. */
  readonly knowledge?: AgentKnowledge | undefined;
  /** Replaces the whole list. */
  readonly tools?: readonly AgentToolInput[] | undefined;
  /** Replaces the whole request, except secrets that are left out; null turns the request before calls off. */
  readonly preCall?: PreCallInput | null | undefined;
  /** Replaces the whole list, except secrets that are left out. */
  readonly mcpServers?: readonly McpServerInput[] | undefined;
}

/** The analysis in a request. */
export type AnalysisInput = PartialInput<AgentAnalysis>;

const DEFAULT_ANALYSIS: AgentAnalysis = {
  schema: null,
  successCriteria: null,
  minDurationSec: 0,
  sampleRate: 1,
  llmProviderId: null,
  llmModelId: null,
};

function analysisOf(input: AnalysisInput | null | undefined): AgentAnalysis | null {
  return input ? merged(DEFAULT_ANALYSIS, input) : null;
}

export type AgentReferences = Pick<
  AgentRecord,
  "llmProviderId" | "llmModelId" | "ttsProviderId" | "ttsModelId" | "sttProviderId"
>;

/** The fields that decide whether an agent may use its vendors. */
export type AgentVendorChoice = AgentReferences &
  Pick<AgentRecord, "sttModelId" | "fallbacks" | "analysis" | "persona" | "ttsConfig">;

/** The fields of a new agent; fields that are left out get the contract's defaults. */
export interface AgentInput
  extends AgentReferences,
    PartialInput<Pick<AgentRecord, "sttModelId">>,
    StructuredAgentFields {
  readonly name: string;
}

/** Fields that are left out stay as they are, also inside nested objects. */
export interface AgentPatch
  extends PartialInput<AgentReferences & PlainFields>,
    StructuredAgentFields {}

const DEFAULT_PERSONA: Persona = {
  systemPrompt:
    "You are a helpful assistant who talks with people on the phone. Answer what is asked, and say so when you do not know.",
  greeting: "Hello! How can I help you today?",
  personality: "friendly and professional",
  language: "en-US",
  guardrails:
    "Keep every answer to 1-3 short sentences, in plain spoken language without lists, symbols or markup.",
  timeZone: "UTC",
  stockPhrases: {},
  keyterms: [],
  pronunciations: [],
  languages: [],
  languageTexts: [],
  briefingLanguage: null,
  outbound: { voicemailMessage: null, screeningAnswer: null, whileDetecting: "greet" },
};
const DEFAULT_LLM_CONFIG: LlmConfig = { temperature: 0.4, maxTokens: 200 };
const DEFAULT_TTS_CONFIG: TtsConfig = { speed: 1, voice: null, languageVoices: [] };
const DEFAULT_THRESHOLDS: AgentThresholds = {
  silenceTimeoutMs: 700,
  maxCallDurationSec: 1_800,
  interruptionSensitivity: "medium",
  backchannels: "ignore",
  backchannelPhrases: [],
  interruptionPhrases: [],
  preemptiveGeneration: false,
  onProviderFailure: "end",
  onUnrecognizedSpeech: null,
  endpointingMs: 200,
  maxEndpointingDelayMs: 1_500,
  dtmfDigits: 0,
  fillerAfterMs: 1_500,
  idleTimeoutMs: null,
};
const NO_KNOWLEDGE: AgentKnowledge = { documentIds: [] };
const DEFAULT_RECORDING: AgentRecording = { enabled: false, retentionDays: 30 };

type PlainFields = Pick<AgentRecord, "name" | "active" | "sttModelId">;

export type AgentIdentity = Pick<AgentRecord, "id" | "orgId" | "createdAtMs" | "updatedAtMs">;

/** Returns a new agent without tools, MCP servers and pre-call request, since their secrets have to be sealed first. */
export function newAgent(identity: AgentIdentity, input: AgentInput): AgentRecord {
  const ttsConfig = merged(DEFAULT_TTS_CONFIG, input.ttsConfig);
  return {
    ...identity,
    name: input.name,
    persona: merged(DEFAULT_PERSONA, input.persona),
    llmProviderId: input.llmProviderId,
    llmModelId: input.llmModelId,
    llmConfig: merged(DEFAULT_LLM_CONFIG, input.llmConfig),
    ttsProviderId: input.ttsProviderId,
    ttsModelId: input.ttsModelId,
    ttsConfig,
    sttProviderId: input.sttProviderId,
    sttModelId: input.sttModelId ?? null,
    fallbacks: withFallbacks(NO_FALLBACKS, input.fallbacks, ttsConfig.speed),
    thresholds: merged(DEFAULT_THRESHOLDS, input.thresholds),
    tools: [],
    sealedToolHeaders: null,
    recording: merged(DEFAULT_RECORDING, input.recording),
    allowedOrigins: input.allowedOrigins ?? [],
    analysis: analysisOf(input.analysis),
    preCall: null,
    sealedPreCall: null,
    knowledge: input.knowledge ?? NO_KNOWLEDGE,
    mcpServers: [],
    sealedMcpSecrets: null,
    active: true,
  };
}

/** Leaves the tools, MCP servers and pre-call request as stored, since their secrets have to be sealed first. */
export function patchedAgent(agent: AgentRecord, patch: AgentPatch, nowMs: number): AgentRecord {
  const { persona, llmConfig, thresholds, recording, tools: _tools, analysis, ...others } = patch;
  const { preCall: _preCall, mcpServers: _mcpServers, knowledge, ...rest } = others;
  const { ttsConfig: givenTts, fallbacks, allowedOrigins = agent.allowedOrigins, ...plain } = rest;
  const ttsConfig = merged(withoutStaleVoices(agent, patch), givenTts);
  return {
    ...merged<AgentReferences & PlainFields>(withoutStaleModel(agent, patch), plain),
    id: agent.id,
    orgId: agent.orgId,
    persona: merged(withoutStaleTexts(agent, patch), persona),
    llmConfig: merged(agent.llmConfig, llmConfig),
    ttsConfig,
    fallbacks: withFallbacks(agent.fallbacks, fallbacks, ttsConfig.speed),
    thresholds: merged(agent.thresholds, thresholds),
    tools: agent.tools,
    sealedToolHeaders: agent.sealedToolHeaders,
    recording: merged(agent.recording, recording),
    allowedOrigins,
    analysis: analysis === undefined ? agent.analysis : analysisOf(analysis),
    preCall: agent.preCall,
    sealedPreCall: agent.sealedPreCall,
    knowledge: knowledge ?? agent.knowledge,
    mcpServers: agent.mcpServers,
    sealedMcpSecrets: agent.sealedMcpSecrets,
    createdAtMs: agent.createdAtMs,
    updatedAtMs: nowMs,
  };
}

/** A model belongs to one provider, so a change of the STT provider clears the chosen model. */
function withoutStaleModel(agent: AgentRecord, { sttProviderId }: AgentPatch): AgentRecord {
  const isKept = sttProviderId === undefined || sttProviderId === agent.sttProviderId;
  return isKept ? agent : { ...agent, sttModelId: null };
}

/**
 * A voice belongs to one vendor, so a change of the TTS provider clears the chosen voice; a voice for a language goes
 * with its language.
 */
function withoutStaleVoices(agent: AgentRecord, { ttsProviderId, persona }: AgentPatch): TtsConfig {
  const { voice, languageVoices, ...plain } = agent.ttsConfig;
  const isKept = ttsProviderId === undefined || ttsProviderId === agent.ttsProviderId;
  const languages = persona?.languages;
  return {
    ...plain,
    voice: isKept ? voice : null,
    languageVoices:
      languages === undefined
        ? languageVoices
        : languageVoices.filter(({ language }) => languages.includes(language)),
  };
}

/** The texts for a language go with it, and so do the briefings in it; the sentences of a tool go with the tool. */
function withoutStaleTexts(
  { persona: before, tools, mcpServers }: AgentRecord,
  { persona, tools: newTools = tools, mcpServers: newServers = mcpServers }: AgentPatch,
): Persona {
  const { language = before.language, languages = before.languages } = persona ?? {};
  const { languageTexts, briefingLanguage } = before;
  const isSpoken = (tag: string) => tag === language || languages.includes(tag);
  const names = speakingToolNames(newTools, newServers);
  const isKept = ([name]: readonly [string, ToolSentences]) => names.has(name);
  return {
    ...before,
    languageTexts: languageTexts
      .filter((texts) => languages.includes(texts.language))
      .map(({ toolSentences, ...texts }) => ({
        ...texts,
        ...(toolSentences && {
          toolSentences: Object.fromEntries(Object.entries(toolSentences).filter(isKept)),
        }),
      })),
    briefingLanguage:
      briefingLanguage !== null && isSpoken(briefingLanguage) ? briefingLanguage : null,
  };
}

const SEALED_IN: Readonly<Record<string, string>> = {
  sealedToolHeaders: "tools",
  sealedPreCall: "preCall",
  sealedMcpSecrets: "mcpServers",
};

/** Returns the names of the fields that differ; sealed text counts as part of the field it belongs to. */
export function changedAgentFields(before: AgentRecord, after: AgentRecord): readonly string[] {
  const { updatedAtMs } = before;
  const names = changedFields(before, { ...after, updatedAtMs });
  return [...new Set(names.map((name) => SEALED_IN[name] ?? name))];
}

/** Copies only fields that `base` has, so that unknown fields of a request never reach a record. */
function merged<Fields extends object>(
  base: Fields,
  given: PartialInput<Fields> | undefined,
): Fields {
  const result = { ...base };
  for (const key of Object.keys(base) as (keyof Fields)[]) {
    const value = given?.[key];
    if (value !== undefined) result[key] = value;
  }
  return result;
}
