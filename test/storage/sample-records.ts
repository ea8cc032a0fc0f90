import type { Database } from "../../storage/database.js";
import type {
  AgentRecord,
  ApiKeyRecord,
  CallMetrics,
  CallRecord,
  OrganizationRecord,
  PlanRecord,
  ProviderRecord,
  RegistryRecord,
  UsageRecord,
  UserRecord,
} from "../../storage/records.js";

/** Noon of 2026-03-01, UTC. */
export const NOON_MS = Date.UTC(2026, 2, 1, 12);

export function planRecord(fields: Partial<PlanRecord> = {}): PlanRecord {
  return {
    id: "plan",
    slug: "free",
    name: "Free",
    description: "To try it out",
    custom: false,
    public: true,
    pricing: { monthly: 9.5, annual: 95, maxDiscountPercent: 20 },
    limits: {
      maxAgents: 1,
      maxConcurrentCalls: 2,
      maxCallDurationSec: 300,
      maxMonthlyMinutes: 60,
    },
    models: { llm: ["ollama/llama3.2"], tts: ["edge/aria", "edge/guy"], stt: [] },
    features: { customProviders: true, maxCustomProviders: 3 },
    createdAtMs: NOON_MS,
    updatedAtMs: NOON_MS,
    ...fields,
  };
}

export function organizationRecord(fields: Partial<OrganizationRecord> = {}): OrganizationRecord {
  return {
    id: "org",
    name: "Bakery",
    planId: "plan",
    status: "pending",
    ownerEmail: "owner@bakery.test",
    createdAtMs: NOON_MS,
    updatedAtMs: NOON_MS,
    ...fields,
  };
}

export function userRecord(fields: Partial<UserRecord> = {}): UserRecord {
  return {
    id: "user",
    orgId: "org",
    email: "owner@bakery.test",
    passwordHash: "00:ff",
    name: "Ola",
    role: "admin",
    isOperator: false,
    createdAtMs: NOON_MS,
    ...fields,
  };
}

export function providerRecord(fields: Partial<ProviderRecord> = {}): ProviderRecord {
  return {
    id: "provider",
    orgId: "org",
    category: "llm",
    providerKey: "openai",
    name: "Our models",
    sealedCredentials: "00:11:22",
    models: [{ modelId: "small", label: "Small" }],
    settings: { baseUrl: "https://models.test", nested: { retries: 2 } },
    active: true,
    createdAtMs: NOON_MS,
    updatedAtMs: NOON_MS,
    ...fields,
  };
}

export function registryRecord(fields: Partial<RegistryRecord> = {}): RegistryRecord {
  return {
    category: "llm",
    providerKey: "openai",
    displayName: "OpenAI",
    requiresKey: true,
    models: [{ modelId: "small", label: "Small", description: "The quick one" }],
    settings: [{ key: "baseUrl", label: "Address", type: "string", required: false }],
    createdAtMs: NOON_MS,
    ...fields,
  };
}

export function agentRecord(fields: Partial<AgentRecord> = {}): AgentRecord {
  return {
    id: "agent",
    orgId: "org",
    name: "Front desk",
    persona: {
      systemPrompt: "You take orders.",
      greeting: "Hello!",
      personality: "friendly",
      language: "en-US",
      guardrails: "Be brief.",
      timeZone: "UTC",
      stockPhrases: {},
      keyterms: [],
      pronunciations: [],
      languages: [],
      languageTexts: [],
      briefingLanguage: null,
      outbound: { voicemailMessage: null, screeningAnswer: null, whileDetecting: "greet" },
    },
    llmProviderId: "llm",
    llmModelId: "small",
    llmConfig: { temperature: 0.4, maxTokens: 200 },
    ttsProviderId: "tts",
    ttsModelId: "aria",
    ttsConfig: { speed: 1.25, voice: null, languageVoices: [] },
    sttProviderId: "stt",
    sttModelId: null,
    fallbacks: { llm: [], tts: [], stt: [], hedging: false },
    thresholds: {
      silenceTimeoutMs: 700,
      maxCallDurationSec: 1800,
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
    },
    tools: [],
    sealedToolHeaders: null,
    recording: { enabled: false, retentionDays: 30 },
    allowedOrigins: [],
    analysis: null,
    preCall: null,
    sealedPreCall: null,
    mcpServers: [],
    sealedMcpSecrets: null,
    knowledge: { documentIds: [] },
    active: true,
    createdAtMs: NOON_MS,
    updatedAtMs: NOON_MS,
    ...fields,
  };
}

export function apiKeyRecord(fields: Partial<ApiKeyRecord> = {}): ApiKeyRecord {
  return {
    id: "key",
    orgId: "org",
    keyHash: "abcd",
    keyPrefix: "vk_0123456",
    name: "Website",
    scopes: ["voice", "dashboard"],
    lastUsedAtMs: null,
    createdAtMs: NOON_MS,
    revokedAtMs: null,
    ...fields,
  };
}

export const NO_METRICS: CallMetrics = {
  ttfbMs: 0,
  avgLatencyMs: 0,
  totalTokens: 0,
  ttsChars: 0,
  interruptions: 0,
  turnCount: 0,
};

export const METRICS: CallMetrics = {
  ttfbMs: 412.5,
  avgLatencyMs: 390.25,
  totalTokens: 120,
  ttsChars: 340,
  interruptions: 1,
  turnCount: 3,
};

/** A call record whose session is named after its id. */
export function callRecord(fields: Partial<CallRecord> = {}): CallRecord {
  return {
    id: "call",
    orgId: "org",
    agentId: "agent",
    sessionId: `session of ${fields.id ?? "call"}`,
    channel: "web",
    status: "active",
    startedAtMs: NOON_MS,
    endedAtMs: null,
    durationSec: null,
    metrics: NO_METRICS,
    summary: null,
    sentiment: null,
    analysis: null,
    transcript: [],
    metadata: {},
    createdAtMs: NOON_MS,
    ...fields,
  };
}

export function usageRecord(fields: Partial<UsageRecord> = {}): UsageRecord {
  return {
    orgId: "org",
    date: "2026-03-01",
    calls: 1,
    minutes: 1.5,
    ttsChars: 340,
    llmTokens: 120,
    sttSeconds: 80,
    ...fields,
  };
}

/** Inserts a plan with two organizations, `org` and `other`. */
export async function insertOrganizations({ plans, organizations }: Database): Promise<void> {
  await plans.insertIfAbsent(planRecord());
  await organizations.insertWithOwner(organizationRecord(), userRecord());
  await organizations.insertWithOwner(
    organizationRecord({ id: "other", ownerEmail: "owner@florist.test" }),
    userRecord({ id: "other user", orgId: "other", email: "owner@florist.test" }),
  );
}

/** Inserts the organizations, and the global providers `llm`, `tts` and `stt` that agents refer to. */
export async function insertProviders(database: Database): Promise<void> {
  await insertOrganizations(database);
  for (const category of ["llm", "tts", "stt"] as const) {
    await database.providers.insertGlobalIfAbsent(
      providerRecord({ id: category, orgId: null, category, name: "Ours" }),
    );
  }
}
