import type { AgentTool } from "./tenancy/agent-tool.js";

/** The records that the stores take and give. Times are epoch milliseconds; ids are opaque. */

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
  /** Sees and looks after every organization of the platform. */
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
  /** null = global, owned by the platform. */
  readonly orgId: string | null;
  readonly category: Category;
  readonly providerKey: string;
  readonly name: string;
  /** `<iv_hex>:<authTag_hex>:<ciphertext_hex>` of the credentials' JSON, or null when the vendor needs none. */
  readonly sealedCredentials: string | null;
  readonly models: readonly ProviderModel[];
  readonly settings: JsonObject;
  readonly active: boolean;
  /** A global provider follows the environment (the default), or was made by an operator. */
  readonly origin?: "environment" | "operator";
  /** Absent: not tested since its credentials, models or settings were changed. */
  readonly lastTest?: ProviderTest;
  readonly createdAtMs: number;
  readonly updatedAtMs: number;
}

/** How the newest test of a provider went. */
export interface ProviderTest {
  readonly ok: boolean;
  readonly latencyMs: number;
  /** In plain words and without credentials; null where it answered. */
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

/** What an agent says by itself, in its own language and voice. */
export interface StockPhrases {
  /** No reply could be made. */
  readonly apology: string;
  /** The agent is at work: one after the other, when it takes longer. */
  readonly waiting: readonly string[];
  readonly stillThere: string;
  /** Nobody has answered that. */
  readonly callerIdleGoodbye: string;
  /** The caller spoke, and the STT returned no words. */
  readonly notRecognized: string;
  readonly timeIsUp: string;
  /** The caller cannot be understood any more. */
  readonly sttFailedApology: string;
  /** The caller was never understood in this call. */
  readonly cannotHearAtAll: string;
  /** The caller was cut off, and is there again. */
  readonly interrupted: string;
  /** Somebody of the organization has the call handed on. */
  readonly transferring: string;
  /** Nobody took the call that was to be handed on. */
  readonly cannotTransfer: string;
  /** The caller is back from a transfer to a line that was busy. */
  readonly lineBusy: string;
  /** The caller is back from a transfer that rang for too long. */
  readonly noAnswer: string;
  /** The organization's calls were ended by the operator. */
  readonly suspended: string;
  /** Somebody of the organization ends the call. */
  readonly callEndedByOrganization: string;
}

export interface Persona {
  readonly systemPrompt: string;
  readonly greeting: string;
  readonly personality: string;
  readonly language: string;
  readonly guardrails: string;
  /** An IANA name: the model is told date and time there. */
  readonly timeZone: string;
  /** What the author has the agent say in place of its language's phrases. */
  readonly stockPhrases: Partial<StockPhrases>;
  /** Names and terms that callers say, for an STT that takes them. */
  readonly keyterms: readonly string[];
  readonly pronunciations: readonly Pronunciation[];
}

/** How the voice says a word or phrase; the transcript keeps it as it is written. */
export interface Pronunciation {
  readonly word: string;
  readonly say: string;
}

export type InterruptionSensitivity = "low" | "medium" | "high";

/** What the agent does with backchannels ("uh-huh") that it hears while it speaks: nothing, or a reply once it has spoken. */
export type BackchannelHandling = "ignore" | "reply";

/** What happens to a call without working vendors; `transfer`: with the agent's first transfer tool. */
export type OnProviderFailure = "end" | "transfer";

/** What the agent does when the caller spoke and the STT returned no words: asks the caller to repeat it, or nothing. */
export type OnUnrecognizedSpeech = "ask" | "ignore";

export interface AgentThresholds {
  readonly silenceTimeoutMs: number;
  readonly maxCallDurationSec: number;
  readonly interruptionSensitivity: InterruptionSensitivity;
  readonly backchannels: BackchannelHandling;
  /** Backchannels of this agent's callers, beside those of its language. */
  readonly backchannelPhrases: readonly string[];
  /** These stop the agent at every sensitivity, beside the stop words of its language. */
  readonly interruptionPhrases: readonly string[];
  /** The LLM is asked before the end of the caller's turn is certain, which may waste replies. */
  readonly preemptiveGeneration: boolean;
  readonly onProviderFailure: OnProviderFailure;
  /** null: `ask` on the telephone, `ignore` on the web. */
  readonly onUnrecognizedSpeech: OnUnrecognizedSpeech | null;
  readonly endpointingMs: number;
  /** How long a caller may pause who is dictating, or has left a sentence open. */
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

/** Whether the agent's calls are recorded, and for how long a recording is kept. */
export interface AgentRecording {
  readonly enabled: boolean;
  readonly retentionDays: number;
}

/** Who stands in for a vendor that fails. */
export interface AgentFallback {
  readonly providerId: string;
  readonly modelId: string;
}

/** Its voice is the provider's setting, or the model itself. */
export interface VoiceFallback extends AgentFallback {
  readonly speed: number;
}

export interface SttFallback {
  readonly providerId: string;
  /** null: the provider's own, as without a model of the agent's. */
  readonly modelId: string | null;
}

/** In the order in which they are asked, after the agent's own vendors. */
export interface AgentFallbacks {
  readonly llm: readonly AgentFallback[];
  readonly tts: readonly VoiceFallback[];
  readonly stt: readonly SttFallback[];
  /** The next language model is asked too when the first is later than it usually is. */
  readonly hedging: boolean;
}

/** What an LLM takes out of an agent's calls after their end: by the schema, or judged by the criteria, or both. */
export interface AgentAnalysis {
  /** JSON Schema of an object. */
  readonly schema: JsonObject | null;
  /** In words. */
  readonly successCriteria: string | null;
  /** Shorter calls are left out. */
  readonly minDurationSec: number;
  /** From 0 to 1: the share of calls. */
  readonly sampleRate: number;
  /** null: the agent's own LLM. Behind it come the agent's own and its fallbacks. */
  readonly llmProviderId: string | null;
  readonly llmModelId: string | null;
}

/** What an agent's organization is asked before each call: who calls, and what the agent should know. */
export interface AgentPreCall {
  readonly url: string;
  /** The call goes on without an answer then. */
  readonly timeoutMs: number;
  /** The values are in the agent's `sealedPreCall`. */
  readonly headerNames: readonly string[];
  /** By a secret that is in `sealedPreCall` too. */
  readonly isSigned: boolean;
}

/** What the agent can look up in its calls. */
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
    /** null: not sent, so that the model's own counts. */
    readonly temperature: number | null;
    readonly maxTokens: number;
  };
  readonly ttsProviderId: string;
  readonly ttsModelId: string;
  readonly ttsConfig: {
    readonly speed: number;
    /** The vendor's id of a voice; null: the provider's own. */
    readonly voice: string | null;
  };
  readonly sttProviderId: string;
  /** null: the provider's first that the plan allows. */
  readonly sttModelId: string | null;
  readonly fallbacks: AgentFallbacks;
  readonly thresholds: AgentThresholds;
  readonly tools: readonly AgentTool[];
  /** Sealed like credentials: by the name of the tool, an object of its headers; by `fixed` and the name, of its fixed parameters. null when no tool has any. */
  readonly sealedToolHeaders: string | null;
  readonly recording: AgentRecording;
  /** Sites whose pages may call without key or token. */
  readonly allowedOrigins: readonly string[];
  /** null: calls are not analyzed. */
  readonly analysis: AgentAnalysis | null;
  /** null: nobody is asked before a call. */
  readonly preCall: AgentPreCall | null;
  /** Sealed like credentials: headers and signing secret of `preCall`. null when it has neither. */
  readonly sealedPreCall: string | null;
  readonly knowledge: AgentKnowledge;
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
  /** Epoch milliseconds at which it began to be said. */
  readonly timestamp: number;
}

/** Why no analysis could be made. */
export type AnalysisError = "llmFailed" | "invalidAnswer" | "noLlm" | "analysisRemoved";

export interface CallAnalysis {
  readonly status: "completed" | "failed";
  /** As the agent's schema has it; null without a schema. */
  readonly data: JsonObject | null;
  /** null without success criteria. */
  readonly success: boolean | null;
  /** In the LLM's words. */
  readonly reason: string | null;
  /** null of a completed one. */
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
  /** The transcript is empty in lists and whole in `findById`. */
  readonly transcript: readonly TranscriptMessage[];
  /** In `findById` with `turns`, the stages of every turn. */
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
}

/** A number at which an organization is called, and from which its agents may call. */
export interface PhoneNumberRecord {
  /** E.164, or a SIP address. */
  readonly number: string;
  readonly orgId: string;
  readonly createdAtMs: number;
  /** Whose webhooks may name it; null: any vendor's. */
  readonly vendor: string | null;
  /** The agent that answers; null: the first active one. */
  readonly agentId: string | null;
}
