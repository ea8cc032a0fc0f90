/** The records that the stores take and give. Times are epoch milliseconds; ids are opaque. */

export type Category = "llm" | "tts" | "stt";
export type JsonObject = { readonly [key: string]: unknown };

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
  readonly createdAtMs: number;
  readonly updatedAtMs: number;
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

export interface Persona {
  readonly systemPrompt: string;
  readonly greeting: string;
  readonly personality: string;
  readonly language: string;
  readonly guardrails: string;
}

export type InterruptionSensitivity = "low" | "medium" | "high";

export interface AgentThresholds {
  readonly silenceTimeoutMs: number;
  readonly maxCallDurationSec: number;
  readonly interruptionSensitivity: InterruptionSensitivity;
  readonly endpointingMs: number;
}

/** Whether the agent's calls are recorded, and for how long a recording is kept. */
export interface AgentRecording {
  readonly enabled: boolean;
  readonly retentionDays: number;
}

/** What the agent's model may do besides talking. The built-in ones are named as their types. */
export type AgentTool =
  | { readonly type: "hangup" }
  | TransferTool
  | { readonly type: "sendDigits" }
  | HttpTool;

export interface TransferTool {
  readonly type: "transfer";
  /** E.164 or a SIP address. */
  readonly to: string;
  /** When to transfer, in words for the model. */
  readonly description?: string;
}

/** A service of the organization's own, reached from the call. */
export interface HttpTool {
  readonly type: "http";
  readonly name: string;
  /** When to use it, in words for the model. */
  readonly description: string;
  /** JSON schema of the arguments, which are an object. */
  readonly parameters: JsonObject;
  readonly url: string;
  readonly method: "GET" | "POST";
  /** The values are in the agent's `sealedToolHeaders`. */
  readonly headerNames: readonly string[];
  readonly timeoutMs: number;
  /** What the service answers is spoken as it is, instead of given to the model. */
  readonly speak: boolean;
}

export interface AgentRecord {
  readonly id: string;
  readonly orgId: string;
  readonly name: string;
  readonly persona: Persona;
  readonly llmProviderId: string;
  readonly llmModelId: string;
  readonly llmConfig: { readonly temperature: number; readonly maxTokens: number };
  readonly ttsProviderId: string;
  readonly ttsModelId: string;
  readonly ttsConfig: { readonly speed: number };
  readonly sttProviderId: string;
  readonly thresholds: AgentThresholds;
  readonly tools: readonly AgentTool[];
  /** Sealed like credentials: by the name of the tool, an object of its headers. null when no tool has any. */
  readonly sealedToolHeaders: string | null;
  readonly recording: AgentRecording;
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

/** A user or an API key of the organization; `administrator`: whoever acts for the platform, by the name of an account. */
export interface AuditActor {
  readonly type: "user" | "apiKey" | "administrator";
  readonly id: string;
}

export type AuditAction =
  | "agent.create"
  | "agent.update"
  | "agent.delete"
  | "agent.reseal"
  | "provider.create"
  | "provider.update"
  | "provider.delete"
  | "provider.reseal"
  | "apiKey.create"
  | "apiKey.revoke"
  | "organization.create"
  | "organization.rename"
  | "organization.activate"
  | "organization.suspend"
  | "organization.changePlan"
  | "organization.allowNumber"
  | "organization.revokeNumber";

/** A number, in E.164, from which an organization's agents may call. */
export interface PhoneNumberRecord {
  readonly number: string;
  readonly orgId: string;
  readonly createdAtMs: number;
}

/** Who changed what, and when. Names what was changed, never holds what it was changed to. */
export interface AuditRecord {
  readonly id: string;
  /** null = what was changed is the platform's. */
  readonly orgId: string | null;
  readonly atMs: number;
  readonly actor: AuditActor;
  readonly action: AuditAction;
  readonly targetType: "agent" | "provider" | "apiKey" | "organization";
  readonly targetId: string;
  /** The target's name at the time. */
  readonly targetName: string;
  /** Names of the fields that an update changed, those of nested objects with dots. */
  readonly changes: readonly string[];
}
