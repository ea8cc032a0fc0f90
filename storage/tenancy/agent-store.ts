import type { Insertable, Kysely, Selectable } from "kysely";
import * as v from "valibot";
import type { AgentRecord } from "../records.js";
import type { AtomicRequests } from "../statements/atomic-requests.js";
import { jsonObject, readJson, stringList, writeJson } from "../statements/json-column.js";
import type { Tables } from "../tables.js";
import type { AuditRecord } from "./audit-record.js";
import { auditOf } from "./audit-store.js";

const stockPhrases = v.object({
  apology: v.exactOptional(v.string()),
  waiting: v.exactOptional(stringList),
  stillThere: v.exactOptional(v.string()),
  callerIdleGoodbye: v.exactOptional(v.string()),
  notRecognized: v.exactOptional(v.string()),
  timeIsUp: v.exactOptional(v.string()),
  sttFailedApology: v.exactOptional(v.string()),
  cannotHearAtAll: v.exactOptional(v.string()),
  interrupted: v.exactOptional(v.string()),
  transferring: v.exactOptional(v.string()),
  cannotTransfer: v.exactOptional(v.string()),
  lineBusy: v.exactOptional(v.string()),
  noAnswer: v.exactOptional(v.string()),
  suspended: v.exactOptional(v.string()),
  callEndedByOrganization: v.exactOptional(v.string()),
  briefingGreeting: v.exactOptional(v.string()),
  briefingQuestion: v.exactOptional(v.string()),
});
const outboundSpeech = v.object({
  voicemailMessage: v.nullable(v.string()),
  screeningAnswer: v.nullable(v.string()),
  whileDetecting: v.picklist(["greet", "wait"]),
});
const toolSentences = {
  onStart: v.exactOptional(v.string()),
  onDelay: v.exactOptional(v.string()),
  onFailure: v.exactOptional(v.string()),
};
const persona = v.object({
  systemPrompt: v.string(),
  greeting: v.string(),
  personality: v.string(),
  language: v.string(),
  guardrails: v.string(),
  // Agents of older releases have no time zone.
  timeZone: v.optional(v.string(), "UTC"),
  // Agents of older releases have no custom phrases.
  stockPhrases: v.optional(stockPhrases, {}),
  keyterms: v.optional(stringList, []),
  pronunciations: v.optional(v.array(v.object({ word: v.string(), say: v.string() })), []),
  languages: v.optional(stringList, []),
  languageTexts: v.optional(
    v.array(
      v.object({
        language: v.string(),
        greeting: v.nullable(v.string()),
        stockPhrases,
        toolSentences: v.exactOptional(v.record(v.string(), v.object(toolSentences))),
      }),
    ),
    [],
  ),
  briefingLanguage: v.optional(v.nullable(v.string()), null),
  // Agents of older releases hang up on machines, and greet at once.
  outbound: v.optional(outboundSpeech, {
    voicemailMessage: null,
    screeningAnswer: null,
    whileDetecting: "greet",
  }),
});
const llmConfig = v.object({ temperature: v.nullable(v.number()), maxTokens: v.number() });
const ttsConfig = v.object({
  speed: v.number(),
  // Agents of older releases have no voice of their own.
  voice: v.optional(v.nullable(v.string()), null),
  languageVoices: v.optional(
    v.array(
      v.object({
        language: v.string(),
        providerId: v.string(),
        modelId: v.string(),
        voice: v.nullable(v.string()),
      }),
    ),
    [],
  ),
});
const thresholds = v.object({
  silenceTimeoutMs: v.number(),
  maxCallDurationSec: v.number(),
  interruptionSensitivity: v.picklist(["low", "medium", "high"]),
  // Agents of older releases lack this setting.
  backchannels: v.optional(v.picklist(["ignore", "reply"]), "ignore"),
  backchannelPhrases: v.optional(stringList, []),
  interruptionPhrases: v.optional(stringList, []),
  preemptiveGeneration: v.optional(v.boolean(), false),
  onProviderFailure: v.optional(v.picklist(["end", "transfer"]), "end"),
  onUnrecognizedSpeech: v.optional(v.nullable(v.picklist(["ask", "ignore"])), null),
  endpointingMs: v.number(),
  // Agents of older releases have the defaults of these settings.
  maxEndpointingDelayMs: v.optional(v.number(), 1_500),
  dtmfDigits: v.optional(v.number(), 0),
  fillerAfterMs: v.optional(v.number(), 1_500),
  idleTimeoutMs: v.optional(v.nullable(v.number()), null),
});
const fallback = { providerId: v.string(), modelId: v.string() };
const fallbacks = v.object({
  llm: v.array(v.object(fallback)),
  tts: v.array(v.object({ ...fallback, speed: v.number() })),
  stt: v.array(v.object({ ...fallback, modelId: v.nullable(v.string()) })),
  // Agents of older releases lack this setting.
  hedging: v.optional(v.boolean(), false),
});
const recording = v.object({ enabled: v.boolean(), retentionDays: v.number() });
const analysis = v.object({
  schema: v.nullable(jsonObject),
  successCriteria: v.nullable(v.string()),
  minDurationSec: v.number(),
  sampleRate: v.number(),
  llmProviderId: v.nullable(v.string()),
  llmModelId: v.nullable(v.string()),
});
const preCall = v.object({
  url: v.string(),
  timeoutMs: v.number(),
  headerNames: stringList,
  isSigned: v.boolean(),
});
const knowledge = v.object({ documentIds: stringList });
const besideSpeech = {
  ...toolSentences,
  onDelayMs: v.exactOptional(v.number()),
  background: v.exactOptional(v.picklist(["quiet", "reply"])),
  cancellable: v.exactOptional(v.boolean()),
};
const mcpServers = v.array(
  v.object({
    name: v.string(),
    url: v.string(),
    auth: v.variant("type", [
      v.object({ type: v.literal("none") }),
      v.object({ type: v.literal("bearer") }),
      v.object({
        type: v.literal("clientCredentials"),
        tokenUrl: v.string(),
        clientId: v.string(),
        scope: v.exactOptional(v.string()),
      }),
    ]),
    headerNames: stringList,
    allowedTools: v.nullable(stringList),
    timeoutMs: v.number(),
    ...besideSpeech,
  }),
);
const tools = v.array(
  v.variant("type", [
    v.object({ type: v.literal("hangup") }),
    v.object({
      type: v.literal("transfer"),
      to: v.string(),
      description: v.exactOptional(v.string()),
      mode: v.exactOptional(v.picklist(["blind", "warm"])),
    }),
    v.object({ type: v.literal("sendDigits") }),
    v.object({
      type: v.literal("http"),
      name: v.string(),
      description: v.string(),
      parameters: jsonObject,
      url: v.string(),
      method: v.picklist(["GET", "POST"]),
      headerNames: stringList,
      fixedParameterNames: v.exactOptional(stringList),
      timeoutMs: v.number(),
      speak: v.boolean(),
      sendCallInfo: v.exactOptional(v.boolean()),
      ...besideSpeech,
    }),
    v.object({
      type: v.literal("client"),
      name: v.string(),
      description: v.string(),
      parameters: jsonObject,
      timeoutMs: v.number(),
      ...besideSpeech,
    }),
  ]),
);

/** Omitted encrypted text stays unchanged, so that no update undoes a change of the encryption key. */
export type AgentReplacement = Omit<AgentRecord, SealedField> &
  Partial<Pick<AgentRecord, SealedField>>;
type SealedField = "sealedToolHeaders" | "sealedPreCall" | "sealedMcpSecrets";

export interface ModelUse {
  readonly providerId: string;
  readonly modelId: string;
  readonly agents: number;
}

export interface AgentReference {
  readonly id: string;
  readonly orgId: string;
  readonly name: string;
}

/** Inserting or updating an agent throws `ForeignKeyViolationError` if one of its providers does not exist. */
export class AgentStore {
  readonly #db: Kysely<Tables>;
  readonly #atomic: AtomicRequests;

  constructor(db: Kysely<Tables>, atomic: AtomicRequests) {
    this.#db = db;
    this.#atomic = atomic;
  }

  /** Returns false if the organization already has `maxAgents` agents, active or not. */
  insert(agent: AgentRecord, maxAgents: number, entry?: AuditRecord): Promise<boolean> {
    const limited = {
      table: "agents",
      row: rowOf(agent),
      orgId: agent.orgId,
      max: maxAgents,
    } as const;
    return this.#atomic.insertWithin(this.#db, limited, auditOf(this.#db, entry));
  }

  async findById(orgId: string, id: string): Promise<AgentRecord | undefined> {
    const row = await this.#agents()
      .where("id", "=", id)
      .where("orgId", "=", orgId)
      .executeTakeFirst();
    return row && recordOf(row);
  }

  /** Returns any organization's agent if pages of some site may call it without a key. */
  async findPublic(id: string): Promise<AgentRecord | undefined> {
    const row = await this.#agents()
      .where("id", "=", id)
      .where("allowedOrigins", "<>", writeJson([]))
      .executeTakeFirst();
    return row && recordOf(row);
  }

  /** Lists the organization's agents in the order of their creation. */
  async list(orgId: string): Promise<AgentRecord[]> {
    const rows = await this.#agents()
      .where("orgId", "=", orgId)
      .orderBy("createdAtMs")
      .orderBy("sequence")
      .execute();
    return rows.map(recordOf);
  }

  /**
   * Replaces everything but id, organization and creation time. Returns undefined if there is no such agent, or it was
   * updated after `knownAtMs`.
   */
  async update(
    orgId: string,
    id: string,
    replacement: AgentReplacement,
    entry?: AuditRecord,
    knownAtMs?: number,
  ): Promise<AgentRecord | undefined> {
    const { id: _id, orgId: _orgId, createdAtMs: _createdAtMs, ...changes } = rowOf(replacement);
    const [{ rows }] = await this.#atomic.change([
      this.#db
        .updateTable("agents")
        .set(changes)
        .where("id", "=", id)
        .where("orgId", "=", orgId)
        .$if(knownAtMs !== undefined, (its) => its.where("updatedAtMs", "=", knownAtMs ?? 0))
        .returningAll(),
      ...auditOf(this.#db, entry),
    ]);
    return rows[0] && recordOf(rows[0]);
  }

  /** Returns false if there is no such agent. Its calls are kept; its telephone numbers have no agent afterwards. */
  async remove(orgId: string, id: string, entry?: AuditRecord): Promise<boolean> {
    const [, removed] = await this.#atomic.change([
      this.#db
        .updateTable("phoneNumbers")
        .set({ agentId: null })
        .where("agentId", "=", id)
        .where("orgId", "=", orgId),
      this.#db.deleteFrom("agents").where("id", "=", id).where("orgId", "=", orgId),
      ...auditOf(this.#db, entry),
    ]);
    return removed !== undefined && removed.changes > 0;
  }

  /** Lists the agents of all organizations that use the provider for anything. */
  listReferencing(providerId: string): Promise<AgentReference[]> {
    return this.#db
      .selectFrom("agents")
      .select(["id", "orgId", "name"])
      .where((where) =>
        where.or([
          where("llmProviderId", "=", providerId),
          where("ttsProviderId", "=", providerId),
          where("sttProviderId", "=", providerId),
          where("fallbacks", "like", namedIn(providerId)),
          where("analysis", "like", namedIn(providerId)),
          where("ttsConfig", "like", namedIn(providerId)),
        ]),
      )
      .orderBy("sequence")
      .execute();
  }

  /** Lists the organization's agents that use the document. */
  listUsingDocument(orgId: string, documentId: string): Promise<AgentReference[]> {
    return this.#db
      .selectFrom("agents")
      .select(["id", "orgId", "name"])
      .where("orgId", "=", orgId)
      .where("knowledge", "like", namedIn(documentId))
      .orderBy("sequence")
      .execute();
  }

  /**
   * Counts the active agents, of all organizations, by the model that they try first. Agents that name no STT model are
   * not counted for STT.
   */
  async listModelUses(): Promise<readonly ModelUse[]> {
    const [llm, tts, stt] = await Promise.all([
      this.#modelUses("llmProviderId", "llmModelId"),
      this.#modelUses("ttsProviderId", "ttsModelId"),
      this.#modelUses("sttProviderId", "sttModelId"),
    ]);
    return [...llm, ...tts, ...stt].flatMap(({ providerId, modelId, agents }) =>
      modelId === null ? [] : [{ providerId, modelId, agents }],
    );
  }

  #modelUses(
    providerId: "llmProviderId" | "ttsProviderId" | "sttProviderId",
    modelId: "llmModelId" | "ttsModelId" | "sttModelId",
  ) {
    return this.#db
      .selectFrom("agents")
      .select((select) => [
        select.ref(providerId).as("providerId"),
        select.ref(modelId).as("modelId"),
        select.fn.countAll<number>().as("agents"),
      ])
      .where("active", "=", 1)
      .groupBy([providerId, modelId])
      .execute();
  }

  async countActive(orgId: string): Promise<number> {
    const { count } = await this.#db
      .selectFrom("agents")
      .select((select) => select.fn.countAll<number>().as("count"))
      .where("orgId", "=", orgId)
      .where("active", "=", 1)
      .executeTakeFirstOrThrow();
    return count;
  }

  #agents() {
    return this.#db.selectFrom("agents").selectAll();
  }
}

/** A pattern for fallbacks, voices or the analysis that name the provider: JSON writes an id unchanged, in quotes. */
export function namedIn(providerId: string): string {
  return `%${JSON.stringify(providerId)}%`;
}

function rowOf(agent: AgentReplacement): Insertable<Tables["agents"]> {
  return {
    id: agent.id,
    orgId: agent.orgId,
    name: agent.name,
    persona: writeJson(agent.persona),
    llmProviderId: agent.llmProviderId,
    llmModelId: agent.llmModelId,
    llmConfig: writeJson(agent.llmConfig),
    ttsProviderId: agent.ttsProviderId,
    ttsModelId: agent.ttsModelId,
    ttsConfig: writeJson(agent.ttsConfig),
    sttProviderId: agent.sttProviderId,
    sttModelId: agent.sttModelId,
    fallbacks: writeJson(agent.fallbacks),
    thresholds: writeJson(agent.thresholds),
    tools: writeJson(agent.tools),
    ...(agent.sealedToolHeaders === undefined
      ? {}
      : { sealedToolHeaders: agent.sealedToolHeaders }),
    recording: writeJson(agent.recording),
    allowedOrigins: writeJson(agent.allowedOrigins),
    analysis: agent.analysis && writeJson(agent.analysis),
    preCall: agent.preCall && writeJson(agent.preCall),
    ...(agent.sealedPreCall === undefined ? {} : { sealedPreCall: agent.sealedPreCall }),
    knowledge: writeJson(agent.knowledge),
    mcpServers: writeJson(agent.mcpServers),
    ...(agent.sealedMcpSecrets === undefined ? {} : { sealedMcpSecrets: agent.sealedMcpSecrets }),
    active: Number(agent.active),
    createdAtMs: agent.createdAtMs,
    updatedAtMs: agent.updatedAtMs,
  };
}

function recordOf(row: Selectable<Tables["agents"]>): AgentRecord {
  return {
    id: row.id,
    orgId: row.orgId,
    name: row.name,
    persona: readJson("agents.persona", persona, row.persona),
    llmProviderId: row.llmProviderId,
    llmModelId: row.llmModelId,
    llmConfig: readJson("agents.llmConfig", llmConfig, row.llmConfig),
    ttsProviderId: row.ttsProviderId,
    ttsModelId: row.ttsModelId,
    ttsConfig: readJson("agents.ttsConfig", ttsConfig, row.ttsConfig),
    sttProviderId: row.sttProviderId,
    sttModelId: row.sttModelId,
    fallbacks: readJson("agents.fallbacks", fallbacks, row.fallbacks),
    thresholds: readJson("agents.thresholds", thresholds, row.thresholds),
    tools: readJson("agents.tools", tools, row.tools),
    sealedToolHeaders: row.sealedToolHeaders,
    recording: readJson("agents.recording", recording, row.recording),
    allowedOrigins: readJson("agents.allowedOrigins", stringList, row.allowedOrigins),
    analysis: row.analysis === null ? null : readJson("agents.analysis", analysis, row.analysis),
    preCall: row.preCall === null ? null : readJson("agents.preCall", preCall, row.preCall),
    sealedPreCall: row.sealedPreCall,
    knowledge: readJson("agents.knowledge", knowledge, row.knowledge),
    mcpServers: readJson("agents.mcpServers", mcpServers, row.mcpServers),
    sealedMcpSecrets: row.sealedMcpSecrets,
    active: row.active === 1,
    createdAtMs: row.createdAtMs,
    updatedAtMs: row.updatedAtMs,
  };
}
