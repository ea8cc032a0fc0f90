import type { AgentTool, ToolSentences } from "./tenancy/agent-tool.js";
import type { McpServer } from "./tenancy/mcp-server.js";

/** The records of the stores. Times are epoch milliseconds; ids are opaque. */

export type Category = "llm" | "tts" | "stt";
export type JsonObject = { readonly [key: string]: unknown };

export function isJsonObject(value: unknown): value is JsonObject {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

export interface PlanLimits {
  readonly maxAgents: number;
  readonly maxConcurrentCalls: number;
  readonly maxCallDurationSec: number;
  readonly maxMonthlyMinutes: number;
}

export interface PlanFeatures {
  readonly customProviders: boolean;
  readonly maxCustomProviders: number;
}

export interface PlanRecord {
  readonly id: string;
  readonly slug: string;
  readonly name: string;
  readonly description: string;
  readonly custom: boolean;
  readonly public: boolean;
  readonly pricing: {
    readonly monthly: number;
    readonly annual: number;
    readonly maxDiscountPercent: number;
  };
  readonly limits: PlanLimits;
  /** Entries are `<providerKey>/<modelId>`. */
  readonly models: Readonly<Record<Category, readonly string[]>>;
  readonly features: PlanFeatures;
  readonly createdAtMs: number;
  readonly updatedAtMs: number;
}

export interface OrganizationRecord {
  readonly id: string;
  readonly name: string;
  readonly planId: string;
  readonly status: "pending" | "active";
  readonly ownerEmail: string;
  readonly createdAtMs: number;
  readonly updatedAtMs: number;
}

export interface UserRecord {
  readonly id: string;
  readonly orgId: string;
  readonly email: string;
  /** `<salt_hex>:<hash_hex>` */
  readonly passwordHash: string;
  readonly name: string;
  readonly role: "admin" | "member";
  /** Whether the user sees and manages every organization of the platform. */
  readonly isOperator: boolean;
  readonly createdAtMs: number;
}

export interface ProviderModel {
  readonly modelId: string;
  readonly label: string;
  readonly description?: string;
}

export interface ProviderRecord {
  readonly id: string;
  /** null for a global provider, which the platform owns. */
  readonly orgId: string | null;
  readonly category: Category;
  readonly providerKey: string;
  readonly name: string;
  /** `<iv_hex>:<authTag_hex>:<ciphertext_hex>` of the credentials' JSON, or null if the vendor needs none. */
  readonly sealedCredentials: string | null;
  readonly models: readonly ProviderModel[];
  readonly settings: JsonObject;
  readonly active: boolean;
  /** Whether a global provider follows the environment (the default), or was created by an operator. */
  readonly origin?: "environment" | "operator";
  /** Absent: not tested since its credentials, models or settings changed. */
  readonly lastTest?: ProviderTest;
  readonly createdAtMs: number;
  readonly updatedAtMs: number;
}

/** The result of a provider's newest test. */
export interface ProviderTest {
  readonly ok: boolean;
  readonly latencyMs: number;
  /** Plain text without credentials; null if the test succeeded. */
  readonly error: string | null;
  readonly atMs: number;
}

export interface RegistrySetting {
  readonly key: string;
  readonly label: string;
  readonly type: string;
  readonly required: boolean;
}

export interface RegistryRecord {
  readonly category: Category;
  readonly providerKey: string;
  readonly displayName: string;
  readonly requiresKey: boolean;
  readonly models: readonly ProviderModel[];
  readonly settings: readonly RegistrySetting[];
  readonly createdAtMs: number;
}

/** What an agent says on its own, in its own language and voice. */
export interface StockPhrases {
  /** No reply could be generated. */
  readonly apology: string;
  /** Fillers, played one after the other while a reply takes longer. */
  readonly waiting: readonly string[];
  readonly stillThere: string;
  /** The caller did not respond to a reminder. */
  readonly callerIdleGoodbye: string;
  /** The caller spoke, and STT returned no words. */
  readonly notRecognized: string;
  readonly timeIsUp: string;
  /** STT has failed: the caller can no longer be understood. */
  readonly sttFailedApology: string;
  /** STT has failed before the first word of the call. */
  readonly cannotHearAtAll: string;
  /** The caller was cut off, and is back. */
  readonly interrupted: string;
  /** A member of the organization transfers the call. */
  readonly transferring: string;
  /** The transfer was not answered. */
  readonly cannotTransfer: string;
  /** The caller is back from a transfer to a busy line. */
  readonly lineBusy: string;
  /** The caller is back from a transfer that rang for too long. */
  readonly noAnswer: string;
  /** The organization's calls were ended by the operator. */
  readonly suspended: string;
  /** A member of the organization ends the call. */
  readonly callEndedByOrganization: string;
  /** The first words to a person whom a warm transfer calls, before the summary. */
  readonly briefingGreeting: string;
  /** Asks that person for key 1 or a yes, behind the summary. */
  readonly briefingQuestion: string;
}

export interface Persona {
  readonly systemPrompt: string;
  readonly greeting: string;
  readonly personality: string;
  readonly language: string;
  readonly guardrails: string;
  /** An IANA name: the LLM receives the date and time of this zone. */
  readonly timeZone: string;
  /** The author's replacements for the language's phrases. */
  readonly stockPhrases: Partial<StockPhrases>;
  /** Names and terms that callers say, for an STT that takes them. */
  readonly keyterms: readonly string[];
  readonly pronunciations: readonly Pronunciation[];
  /** Tags of the other languages that the agent speaks when the caller does. */
  readonly languages: readonly string[];
  readonly languageTexts: readonly LanguageTexts[];
  /** What the persons of warm transfers speak, one of the agent's languages; null: what the caller speaks. */
  readonly briefingLanguage: string | null;
  readonly outbound: OutboundSpeech;
}

/** What the author has written for one of the agent's other languages. */
export interface LanguageTexts {
  readonly language: string;
  /** null: the agent's first one. */
  readonly greeting: string | null;
  /** The author's replacements for the phrases of that language. */
  readonly stockPhrases: Partial<StockPhrases>;
  /** By the names of tools and MCP servers, which say nothing in that language otherwise. Absent: none. */
  readonly toolSentences?: Readonly<Record<string, ToolSentences>>;
}

/** What the agent says to the machines that may answer a call that it has placed. */
export interface OutboundSpeech {
  /** Left on an answering machine after its greeting; null: the agent hangs up on machines. */
  readonly voicemailMessage: string | null;
  /** Said to a machine that screens calls for a person; null: the agent's and the organization's name. */
  readonly screeningAnswer: string | null;
  /** What the agent does until the vendor has said whether a person has answered. */
  readonly whileDetecting: WhileDetecting;
}

/** `greet`: it says its greeting; `wait`: nothing. */
export type WhileDetecting = "greet" | "wait";

/** The voice of an agent in another of its languages. */
export interface LanguageVoice {
  readonly language: string;
  readonly providerId: string;
  readonly modelId: string;
  /** null: the provider's own. */
  readonly voice: string | null;
}

/** How the voice says a word or phrase; the transcript keeps the written form. */
export interface Pronunciation {
  readonly word: string;
  readonly say: string;
}

export type InterruptionSensitivity = "low" | "medium" | "high";

/** How the agent handles backchannels ("uh-huh") while it speaks: ignores them, or replies once it has spoken. */
export type BackchannelHandling = "ignore" | "reply";

/** What happens to a call without working vendors; `transfer`: with the agent's first transfer tool. */
export type OnProviderFailure = "end" | "transfer";

/** What the agent does when the caller spoke and STT returned no words: asks the caller to repeat it, or nothing. */
export type OnUnrecognizedSpeech = "ask" | "ignore";

export interface AgentThresholds {
  readonly silenceTimeoutMs: number;
  readonly maxCallDurationSec: number;
  readonly interruptionSensitivity: InterruptionSensitivity;
  readonly backchannels: BackchannelHandling;
  /** The agent's own backchannels, in addition to those of its language. */
  readonly backchannelPhrases: readonly string[];
  /** Phrases that stop the agent at every sensitivity, in addition to the stop words of its language. */
  readonly interruptionPhrases: readonly string[];
  /** The LLM request starts before the end of the caller's turn is certain, which may waste replies. */
  readonly preemptiveGeneration: boolean;
  readonly onProviderFailure: OnProviderFailure;
  /** null: `ask` on the telephone, `ignore` on the web. */
  readonly onUnrecognizedSpeech: OnUnrecognizedSpeech | null;
  readonly endpointingMs: number;
  /** How long a caller may pause while dictating, or after an open sentence. */
  readonly maxEndpointingDelayMs: number;
  /** Number of DTMF digits that completes an answer; 0 if unknown. */
  readonly dtmfDigits: number;
  /** Time in ms without agent audio after which the agent plays a filler; 0: never. */
  readonly fillerAfterMs: number;
  /**
   * Caller silence in ms after which the agent asks whether the caller is still there; 0: never, null: the line's
   * default.
   */
  readonly idleTimeoutMs: number | null;
}

/** Whether the agent's calls are recorded, and how long a recording is kept. */
export interface AgentRecording {
  readonly enabled: boolean;
  readonly retentionDays: number;
}

/** A provider that replaces one that fails. */
export interface AgentFallback {
  readonly providerId: string;
  readonly modelId: string;
}

/** The voice is the provider's setting, or the model itself. */
export interface VoiceFallback extends AgentFallback {
  readonly speed: number;
}

export interface SttFallback {
  readonly providerId: string;
  /** null: the provider's own model, as for an agent without a model. */
  readonly modelId: string | null;
}

/** Fallbacks in the order in which they are tried, after the agent's own vendors. */
export interface AgentFallbacks {
  readonly llm: readonly AgentFallback[];
  readonly tts: readonly VoiceFallback[];
  readonly stt: readonly SttFallback[];
  /** The next LLM is requested too if the first is later than usual. */
  readonly hedging: boolean;
}

/** What an LLM extracts from an agent's calls after their end: by the schema, or judged by the criteria, or both. */
export interface AgentAnalysis {
  /** A JSON Schema of an object. */
  readonly schema: JsonObject | null;
  /** As text. */
  readonly successCriteria: string | null;
  /** Shorter calls are skipped. */
  readonly minDurationSec: number;
  /** The share of calls that are analyzed, from 0 to 1. */
  readonly sampleRate: number;
  /** null: the agent's own LLM. If set, the agent's own LLM and its fallbacks are the fallbacks of this one. */
  readonly llmProviderId: string | null;
  readonly llmModelId: string | null;
}

/** The request to the organization's service before each call: who is calling, and what the agent should know. */
export interface AgentPreCall {
  readonly url: string;
  /** After this time the call continues without a response. */
  readonly timeoutMs: number;
  /** The values are in the agent's `sealedPreCall`. */
  readonly headerNames: readonly string[];
  /** Whether requests are signed with a secret, which is in `sealedPreCall` too. */
  readonly isSigned: boolean;
}

/** The agent's documents. */
export interface AgentKnowledge {
  readonly documentIds: readonly string[];
}

export interface AgentRecord {
  readonly id: string;
  readonly orgId: string;
  readonly name: string;
  readonly persona: Persona;
  readonly llmProviderId: string;
  readonly llmModelId: string;
  readonly llmConfig: {
    /** null: not sent, so the model's default applies. */
    readonly temperature: number | null;
    readonly maxTokens: number;
  };
  readonly ttsProviderId: string;
  readonly ttsModelId: string;
  readonly ttsConfig: {
    readonly languageVoices: readonly LanguageVoice[];
    readonly speed: number;
    /** The vendor's id of a voice; null: the provider's own. */
    readonly voice: string | null;
  };
  readonly sttProviderId: string;
  /** null: the provider's first model that the plan allows. */
  readonly sttModelId: string | null;
  readonly fallbacks: AgentFallbacks;
  readonly thresholds: AgentThresholds;
  readonly tools: readonly AgentTool[];
  /**
   * Encrypted like credentials: by tool name, an object of its headers; by `fixed` and the name, of its fixed
   * parameters. null if no tool has any.
   */
  readonly sealedToolHeaders: string | null;
  readonly recording: AgentRecording;
  /** Sites whose pages may call without key or token. */
  readonly allowedOrigins: readonly string[];
  /** null: calls are not analyzed. */
  readonly analysis: AgentAnalysis | null;
  /** null: no request before a call. */
  readonly preCall: AgentPreCall | null;
  /** Encrypted like credentials: headers and signing secret of `preCall`. null if it has neither. */
  readonly sealedPreCall: string | null;
  readonly knowledge: AgentKnowledge;
  readonly mcpServers: readonly McpServer[];
  /**
   * Encrypted like credentials: for each server's name, its headers and its token or client secret. null if no server
   * has any.
   */
  readonly sealedMcpSecrets: string | null;
  readonly active: boolean;
  readonly createdAtMs: number;
  readonly updatedAtMs: number;
}

export type ApiKeyScope = "voice" | "dashboard";

export interface ApiKeyRecord {
  readonly id: string;
  readonly orgId: string;
  /** SHA-256 of the full key, hex. */
  readonly keyHash: string;
  readonly keyPrefix: string;
  readonly name: string;
  readonly scopes: readonly ApiKeyScope[];
  readonly lastUsedAtMs: number | null;
  readonly createdAtMs: number;
  readonly revokedAtMs: number | null;
}

export type CallStatus = "active" | "completed" | "failed";
export type CallChannel = "web" | "phone";
export type Sentiment = "positive" | "neutral" | "negative";

export interface CallMetrics {
  readonly ttfbMs: number;
  readonly avgLatencyMs: number;
  readonly totalTokens: number;
  readonly ttsChars: number;
  readonly interruptions: number;
  readonly turnCount: number;
}

export interface TranscriptMessage {
  readonly role: "user" | "assistant";
  readonly text: string;
  /** Epoch milliseconds at which its speech began. */
  readonly timestamp: number;
}

/** Why a call could not be analyzed. */
export type AnalysisError = "llmFailed" | "invalidAnswer" | "noLlm" | "analysisRemoved";

export interface CallAnalysis {
  readonly status: "completed" | "failed";
  /** The extracted data, in the agent's schema; null without a schema. */
  readonly data: JsonObject | null;
  /** null without success criteria. */
  readonly success: boolean | null;
  /** The LLM's explanation. */
  readonly reason: string | null;
  /** null if it completed. */
  readonly error: AnalysisError | null;
  readonly model: string | null;
  readonly promptTokens: number;
  readonly completionTokens: number;
  readonly durationMs: number;
  readonly analyzedAtMs: number;
}

export interface CallRecord {
  readonly id: string;
  readonly orgId: string;
  readonly agentId: string;
  readonly sessionId: string;
  readonly channel: CallChannel;
  readonly status: CallStatus;
  readonly startedAtMs: number;
  readonly endedAtMs: number | null;
  readonly durationSec: number | null;
  readonly metrics: CallMetrics;
  readonly summary: string | null;
  readonly sentiment: Sentiment | null;
  readonly analysis: CallAnalysis | null;
  /** Empty in lists; complete in `findById`. */
  readonly transcript: readonly TranscriptMessage[];
  /** Includes `turns`, the stages of every turn, in `findById`. */
  readonly metadata: JsonObject;
  readonly createdAtMs: number;
}

export interface UsageRecord {
  readonly orgId: string;
  /** `YYYY-MM-DD`, UTC. */
  readonly date: string;
  readonly calls: number;
  readonly minutes: number;
  readonly ttsChars: number;
  readonly llmTokens: number;
  readonly sttSeconds: number;
}

export interface HistoryMessage {
  readonly role: "user" | "assistant";
  readonly content: string;
  /** What the assistant's tools returned before it said this, the oldest first. */
  readonly tools?: readonly ToolExchange[];
}

/** A call of a tool, with the result that the LLM has read. */
export interface ToolExchange {
  readonly name: string;
  readonly argumentsJson: string;
  readonly result: string;
}

/** A number of an organization, for inbound calls and as the caller id of its agents. */
export interface PhoneNumberRecord {
  /** E.164, or a SIP address. */
  readonly number: string;
  readonly orgId: string;
  readonly createdAtMs: number;
  /** The vendor whose webhooks may use it; null: any vendor's. */
  readonly vendor: string | null;
  /** The agent that answers; null: the first active one. */
  readonly agentId: string | null;
  /** The organization's own account at the vendor; null: the installation's. */
  readonly accountId: string | null;
  /** When the number was imported from that account; null: the operator assigned it. */
  readonly importedAtMs: number | null;
}

/** An organization's own account at a telephony vendor. */
export interface TelephonyAccountRecord {
  readonly id: string;
  readonly orgId: string;
  readonly vendor: string;
  readonly name: string;
  /** Settings that may be read back, such as the account's id. */
  readonly settings: JsonObject;
  readonly sealedCredentials: string | null;
  readonly createdAtMs: number;
  readonly updatedAtMs: number;
}
