import type { JobKind } from "./jobs/job-record.js";
import {
  bytes,
  flag,
  json,
  number,
  oneOf,
  onlyRow,
  type Row,
  sequence,
  type Table,
  text,
  whole,
} from "./schema/columns.js";
import type { AuditRecord } from "./tenancy/audit-record.js";
import type { EventType } from "./webhooks/event-record.js";

/**
 * The schema of both databases, and the types of their rows. Columns have the names of the records' fields. A new
 * table or column is declared here, and named in `schema/migrations.ts`; whatever a database lacks of it is
 * created then. Released parts are not changed here alone: `Schema.align` adds, and removes nothing.
 */
export const tables = {
  plans: {
    columns: {
      sequence: sequence(),
      id: text().unique(),
      slug: text().unique(),
      name: text(),
      description: text(),
      custom: flag(),
      public: flag(),
      pricing: json(),
      limits: json(),
      models: json(),
      features: json(),
      createdAtMs: number(),
      updatedAtMs: number(),
    },
  },
  organizations: {
    columns: {
      sequence: sequence(),
      id: text().unique(),
      name: text(),
      planId: text().references("plans.id"),
      status: oneOf("pending", "active"),
      ownerEmail: text(),
      createdAtMs: number(),
      updatedAtMs: number(),
    },
    indexes: { organizationsByOwner: ["ownerEmail"], organizationsByPlan: ["planId"] },
  },
  users: {
    columns: {
      sequence: sequence(),
      id: text().unique(),
      orgId: text().references("organizations.id"),
      email: text().unique(),
      passwordHash: text(),
      name: text(),
      role: oneOf("admin", "member"),
      isOperator: flag().defaultTo(0),
      createdAtMs: number(),
    },
    indexes: { usersByOrganization: ["orgId"] },
  },
  apiKeys: {
    columns: {
      sequence: sequence(),
      id: text().unique(),
      orgId: text().references("organizations.id"),
      keyHash: text().unique(),
      keyPrefix: text(),
      name: text(),
      scopes: json(),
      lastUsedAtMs: number().nullable(),
      createdAtMs: number(),
      revokedAtMs: number().nullable(),
    },
    indexes: { apiKeysByOrganization: ["orgId"] },
  },
  /**
   * A text encrypted with the key of this database, so that a wrong key is detected even without stored credentials.
   */
  encryptionKeyCheck: { columns: { id: onlyRow(), sealed: text() } },
  registry: {
    columns: {
      sequence: sequence(),
      category: oneOf("llm", "tts", "stt"),
      providerKey: text(),
      displayName: text(),
      requiresKey: flag(),
      models: json(),
      settings: json(),
      createdAtMs: number(),
    },
    uniques: [["category", "providerKey"]],
  },
  providers: {
    columns: {
      sequence: sequence(),
      id: text().unique(),
      orgId: text().nullable().references("organizations.id"),
      category: oneOf("llm", "tts", "stt"),
      providerKey: text(),
      name: text(),
      sealedCredentials: text().nullable(),
      models: json(),
      settings: json(),
      active: flag(),
      createdAtMs: number(),
      updatedAtMs: number(),
      /** Whether a global provider follows the environment; null: an organization owns the provider. */
      origin: oneOf("environment", "operator").nullable(),
      /** JSON; null: not tested since its credentials, models or settings changed. */
      lastTest: text().nullable(),
    },
    uniques: [["orgId", "category", "providerKey", "name"]],
    indexes: {
      // A null is never equal to a null in a unique rule, so the global providers have their own.
      "providers(category,providerKey,name)": {
        columns: ["category", "providerKey", "name"],
        isUnique: true,
        where: `"orgId" is null`,
      },
    },
  },
  agents: {
    columns: {
      sequence: sequence(),
      id: text().unique(),
      orgId: text().references("organizations.id"),
      name: text(),
      persona: json(),
      llmProviderId: text().references("providers.id"),
      llmModelId: text(),
      llmConfig: json(),
      ttsProviderId: text().references("providers.id"),
      ttsModelId: text(),
      ttsConfig: json(),
      sttProviderId: text().references("providers.id"),
      sttModelId: text().nullable(),
      fallbacks: json().defaultTo('{"llm":[],"tts":[],"stt":[]}'),
      thresholds: json(),
      tools: json().defaultTo("[]"),
      sealedToolHeaders: text().nullable(),
      recording: json().defaultTo('{"enabled":false,"retentionDays":30}'),
      allowedOrigins: json().defaultTo("[]"),
      analysis: text().nullable(),
      preCall: text().nullable(),
      sealedPreCall: text().nullable(),
      knowledge: json().defaultTo('{"documentIds":[]}'),
      mcpServers: json().defaultTo("[]"),
      sealedMcpSecrets: text().nullable(),
      active: flag(),
      createdAtMs: number(),
      updatedAtMs: number(),
    },
    indexes: {
      agentsInOrder: ["orgId", "createdAtMs"],
      agentsByLlm: ["llmProviderId"],
      agentsByTts: ["ttsProviderId"],
      agentsByStt: ["sttProviderId"],
    },
  },
  calls: {
    columns: {
      sequence: sequence(),
      id: text().unique(),
      orgId: text().references("organizations.id"),
      /** No reference: an agent may be removed while its calls are kept. */
      agentId: text(),
      sessionId: text().unique(),
      /** The run of the server that handles the call. */
      runId: text(),
      channel: oneOf("web", "phone"),
      status: oneOf("active", "completed", "failed"),
      startedAtMs: number(),
      endedAtMs: number().nullable(),
      durationSec: number().nullable(),
      ttfbMs: number(),
      avgLatencyMs: number(),
      totalTokens: number(),
      ttsChars: number(),
      interruptions: number(),
      turnCount: number(),
      summary: text().nullable(),
      sentiment: oneOf("positive", "neutral", "negative").nullable(),
      metadata: json(),
      lastSavedAtMs: number(),
      createdAtMs: number(),
      /** The run's monotonic clock; null for a call of a release that did not store it. */
      beganUptimeMs: number().nullable(),
      /** Also in the metadata, which has no index; null for a call of a release that did not store it. */
      direction: text().nullable(),
      fromNumber: text().nullable(),
      toNumber: text().nullable(),
      /** The whole analysis as JSON. The next columns repeat the parts that lists filter by. */
      analysis: text().nullable(),
      analysisStatus: oneOf("completed", "failed").nullable(),
      analysisSuccess: number().nullable(),
      /** The plain top-level fields of its data, one line of JSON each. */
      analysisFields: text().nullable(),
    },
    indexes: {
      callsInOrder: ["orgId", "startedAtMs", "sequence"],
      callsOfAgent: ["orgId", "agentId", "startedAtMs", "sequence"],
      callsInStatus: ["orgId", "status", "startedAtMs", "sequence"],
      callsOfAgentInStatus: ["orgId", "agentId", "status", "startedAtMs", "sequence"],
      callsInProgress: { columns: ["runId"], where: `"status" = 'active'` },
      callsFromNumber: {
        columns: ["orgId", "fromNumber", "startedAtMs", "sequence"],
        where: `"fromNumber" is not null`,
      },
      callsToNumber: {
        columns: ["orgId", "toNumber", "startedAtMs", "sequence"],
        where: `"toNumber" is not null`,
      },
    },
  },
  transcriptMessages: {
    columns: {
      sequence: sequence(),
      callId: text().references("calls.id"),
      role: oneOf("user", "assistant"),
      text: text(),
      timestamp: number(),
    },
    indexes: { transcriptMessagesOfCall: ["callId"] },
  },
  callTurns: {
    columns: { sequence: sequence(), callId: text().references("calls.id"), turn: json() },
    indexes: { callTurnsOfCall: ["callId"] },
  },
  /** Maintained by triggers on `calls`. */
  callTotals: {
    columns: {
      orgId: text(),
      agentId: text(),
      status: text<"active" | "completed" | "failed">(),
      calls: number(),
      durationSec: number(),
    },
    primaryKey: ["orgId", "agentId", "status"],
    withoutRowid: true,
  },
  runs: {
    columns: {
      id: text().primaryKey(),
      heartbeatAtMs: number(),
      /** The run's monotonic clock at the heartbeat. */
      uptimeMs: number().nullable(),
    },
  },
  dailyUsage: {
    columns: {
      orgId: text().references("organizations.id"),
      date: text(),
      calls: number(),
      minutes: number(),
      ttsChars: number(),
      llmTokens: number(),
      sttSeconds: number(),
    },
    primaryKey: ["orgId", "date"],
    withoutRowid: true,
  },
  sessionHistory: {
    columns: {
      orgId: text().references("organizations.id"),
      key: text(),
      messages: json(),
      savedAtMs: number(),
      /** A summary of the messages that were cut from a long conversation. */
      summary: text().nullable(),
    },
    primaryKey: ["orgId", "key"],
    indexes: { sessionHistoryByAge: ["savedAtMs"] },
  },
  /** A recording has a row from its beginning, so that a crash leaves no unknown file. */
  recordings: {
    columns: {
      callId: text().primaryKey().deletedWith("calls.id"),
      orgId: text(),
      isFinished: flag(),
      expiresAtMs: number(),
    },
    indexes: {
      recordingsByExpiry: ["expiresAtMs"],
      recordingsUnfinished: { columns: ["callId"], where: `"isFinished" = 0` },
    },
    withoutRowid: true,
  },
  /** The organizations' numbers for inbound and outbound calls; a number belongs to one organization at a time. */
  phoneNumbers: {
    columns: {
      /** E.164, or a SIP address. */
      number: text().primaryKey(),
      orgId: text().deletedWith("organizations.id"),
      createdAtMs: number(),
      /** The vendor whose webhooks may use it; null: any vendor's. */
      vendor: text().nullable(),
      /** The agent that answers; null: the first active one. */
      agentId: text().nullable(),
      /** The organization's own account at the vendor; null: the installation's. */
      accountId: text().nullable(),
      /** When it came from that account; null: the operator assigned it. */
      importedAtMs: number().nullable(),
    },
    indexes: { phoneNumbersOfOrganization: ["orgId"] },
    withoutRowid: true,
  },
  /** Accounts of organizations at telephony vendors, one for each vendor. */
  telephonyAccounts: {
    columns: {
      sequence: sequence(),
      id: text().unique(),
      orgId: text().references("organizations.id"),
      vendor: text(),
      name: text(),
      settings: json(),
      sealedCredentials: text().nullable(),
      createdAtMs: number(),
      updatedAtMs: number(),
    },
    uniques: [["orgId", "vendor"]],
  },
  /** The numbers that an organization's agents may call or transfer callers to, at the platform's cost. */
  dialTargets: {
    columns: {
      orgId: text().deletedWith("organizations.id"),
      /** A number's prefix, or a whole SIP address. */
      target: text(),
      createdAtMs: number(),
    },
    primaryKey: ["orgId", "target"],
    withoutRowid: true,
  },
  /** The numbers to which an organization's agents place no calls, whatever else allows them. */
  doNotCallNumbers: {
    columns: {
      orgId: text().deletedWith("organizations.id"),
      /** E.164. */
      number: text(),
      note: text().nullable(),
      createdAtMs: number(),
    },
    primaryKey: ["orgId", "number"],
    withoutRowid: true,
  },
  /** Requests that a client may send again, with the first answer to each. */
  idempotencyKeys: {
    columns: {
      orgId: text().deletedWith("organizations.id"),
      /** The SHA-256 of the key that the client chose. */
      key: text(),
      /** The SHA-256 of what is requested. */
      fingerprint: text(),
      /** What the request has created: a call, or a call list. */
      subjectId: text(),
      answer: json(),
      /** Until then the request may still be refused; 0: its answer is final. */
      pendingUntilMs: number(),
      createdAtMs: number(),
    },
    primaryKey: ["orgId", "key"],
    indexes: {
      idempotencyKeysOfOrganization: ["orgId", "createdAtMs"],
      idempotencyKeysByAge: ["createdAtMs"],
    },
    withoutRowid: true,
  },
  /** Lists of people whom an agent calls. */
  callLists: {
    columns: {
      sequence: sequence(),
      id: text().unique(),
      orgId: text().deletedWith("organizations.id"),
      name: text(),
      /** No reference: an agent may be removed while its lists are kept. */
      agentId: text(),
      /** The calling number in E.164. */
      fromNumber: text(),
      vendor: text().nullable(),
      detectMachine: flag(),
      /** Calls of the list at the same time. */
      callsMax: whole("integer"),
      windows: json(),
      retries: json(),
      state: oneOf("ready", "running", "paused", "completed", "cancelled"),
      /** Why the list places no calls now: a code of an error, and words. */
      holdCode: text().nullable(),
      holdReason: text().nullable(),
      /** Since when, for this reason. */
      heldSinceMs: number().nullable(),
      /** No call is placed before. */
      heldUntilMs: number(),
      /** Orders in a row that the telephony vendor did not accept. */
      vendorRefusals: whole("integer").defaultTo(0),
      /** When the next call is placed at the earliest, of a list that waits for hours or for a retry. */
      nextCallAtMs: number().nullable(),
      /** Calls in a row that the vendor or this server has failed. */
      failuresInRow: whole("integer"),
      apiKeyId: text().nullable(),
      /** Counts claims of rows; each claim locks the list. */
      claimCount: whole("integer"),
      createdAtMs: number(),
      updatedAtMs: number(),
    },
    indexes: {
      callListsOfOrganization: ["orgId", "sequence"],
      callListsByState: ["state", "holdCode"],
    },
  },
  /** The people of a list, in its order. */
  callListRows: {
    columns: {
      listId: text().deletedWith("callLists.id"),
      /** From 1. */
      position: whole("integer"),
      orgId: text(),
      /** The called number, E.164. */
      number: text(),
      /** The number's time zones, separated by blanks. */
      timeZones: text(),
      variables: json(),
      state: oneOf("waiting", "calling", "completed", "failed", "skipped", "cancelled"),
      /** Calls that were placed. */
      attempts: whole("integer"),
      /** The last call. */
      callId: text().nullable(),
      calledAtMs: number().nullable(),
      /** How the last call ended, or why there is none. */
      reason: text().nullable(),
      /** Not called before. */
      nextAtMs: number(),
      /** Orders of the present call that the vendor has refused for a time. */
      refusals: whole("integer"),
    },
    primaryKey: ["listId", "position"],
    indexes: {
      callListRowsByState: ["listId", "state", "timeZones", "nextAtMs"],
      callListRowsInProgress: { columns: ["orgId", "number"], where: `"state" = 'calling'` },
    },
    withoutRowid: true,
  },
  /** Entries are added, and removed when they are old: a trigger refuses to change one. */
  auditEntries: {
    columns: {
      sequence: sequence(),
      id: text().unique(),
      orgId: text().nullable().references("organizations.id"),
      atMs: number(),
      actorType: oneOf("user", "apiKey", "administrator"),
      actorId: text(),
      action: text<AuditRecord["action"]>(),
      targetType: oneOf(
        "agent",
        "provider",
        "apiKey",
        "organization",
        "node",
        "member",
        "webhook",
        "document",
        "telephonyAccount",
        "call",
        "callList",
      ),
      targetId: text(),
      targetName: text(),
      changes: json(),
    },
    indexes: {
      auditEntriesInOrder: ["orgId", "atMs", "sequence"],
      auditEntriesByAge: ["atMs"],
    },
  },
  /** Maintained by triggers on `auditEntries`. */
  auditTotals: {
    columns: { orgId: text().primaryKey(), entries: number() },
    withoutRowid: true,
  },
  /** Work that outlives the process that requested it. A job is removed when it is done. */
  jobs: {
    columns: {
      sequence: sequence(),
      id: text().unique(),
      orgId: text().references("organizations.id"),
      kind: text<JobKind>(),
      /** Jobs of one queue share a concurrency limit. */
      queue: text(),
      /** Jobs of one lane run one after the other, in the order of `sequence`. */
      lane: text().nullable(),
      payload: json(),
      state: oneOf("queued", "running", "failed"),
      runAfterMs: number(),
      attempts: number(),
      /** Increases with each claim: a process that has lost its lease can change nothing. */
      fence: number(),
      leaseBy: text().nullable(),
      leaseUntilMs: number().nullable(),
      lastError: text().nullable(),
      createdAtMs: number(),
      failedAtMs: number().nullable(),
    },
    indexes: {
      jobsDue: { columns: ["queue", "runAfterMs", "sequence"], where: `"state" = 'queued'` },
      jobsNext: { columns: ["runAfterMs"], where: `"state" = 'queued'` },
      jobsRunning: { columns: ["leaseUntilMs"], where: `"state" = 'running'` },
      jobsOfLane: { columns: ["lane", "sequence"], where: `"lane" is not null` },
      jobsOfOrganization: ["orgId", "state", "sequence"],
      jobsByKind: ["kind", "state", "createdAtMs"],
      jobsByFailure: { columns: ["failedAtMs"], where: `"state" = 'failed'` },
    },
  },
  /** Analyses of an agent's past calls, each of which is a job. */
  analysisRuns: {
    columns: {
      sequence: sequence(),
      id: text().unique(),
      orgId: text().references("organizations.id"),
      agentId: text(),
      fromMs: number(),
      toMs: number(),
      callsMax: number(),
      /** Whether all of its jobs are stored. */
      isListed: flag(),
      /** The call that was listed last; calls are listed newest first. */
      lastStartedAtMs: number().nullable(),
      lastSequence: number().nullable(),
      calls: number(),
      completed: number(),
      failed: number(),
      skipped: number(),
      createdAtMs: number(),
    },
    indexes: { analysisRunsOfAgent: ["orgId", "agentId", "sequence"] },
  },
  webhookEndpoints: {
    columns: {
      sequence: sequence(),
      id: text().unique(),
      orgId: text().references("organizations.id"),
      name: text(),
      url: text(),
      eventTypes: json(),
      includeTranscript: flag(),
      sealedSecrets: text(),
      state: oneOf("active", "disabled"),
      disabledReason: text().nullable(),
      /** Since when no delivery was acknowledged; null after a success. */
      failingSinceMs: number().nullable(),
      createdAtMs: number(),
      updatedAtMs: number(),
    },
    indexes: { webhookEndpointsOfOrganization: ["orgId"] },
  },
  /** Events that an endpoint wanted when they happened. */
  webhookEvents: {
    columns: {
      sequence: sequence(),
      id: text().unique(),
      orgId: text().references("organizations.id"),
      type: text<EventType>(),
      callId: text().nullable(),
      /** The position among the stored events of its call, from 1. */
      callSequence: whole("integer").nullable(),
      atMs: number(),
      data: json(),
    },
    indexes: {
      webhookEventsInOrder: ["orgId", "atMs", "sequence"],
      webhookEventsOfCall: ["callId", "callSequence"],
      webhookEventsByAge: ["atMs"],
    },
  },
  /** One row per attempt. */
  webhookDeliveries: {
    columns: {
      sequence: sequence(),
      id: text().unique(),
      orgId: text().references("organizations.id"),
      endpointId: text(),
      eventId: text(),
      type: text<EventType>(),
      attempt: number(),
      atMs: number(),
      durationMs: number(),
      requestBytes: number(),
      /** null: no response. */
      status: number().nullable(),
      error: text().nullable(),
      /** The first bytes of the response. */
      answer: text(),
    },
    indexes: {
      webhookDeliveriesOfEndpoint: ["endpointId", "sequence"],
      webhookDeliveriesByAge: ["atMs"],
    },
  },
  /** Documents that agents can search. A document of a few lines has its whole text, too. */
  knowledgeDocuments: {
    columns: {
      sequence: sequence(),
      id: text().unique(),
      orgId: text().references("organizations.id"),
      name: text(),
      source: oneOf("upload", "url"),
      url: text().nullable(),
      status: oneOf("processing", "ready", "failed"),
      error: text().nullable(),
      sizeBytes: number(),
      characters: number(),
      passages: number(),
      /** The position of the first passage of its current content. */
      firstPosition: number(),
      /** The whole text of a small document; null for a larger one. */
      text: text().nullable(),
      /** 0: fetched once. */
      refreshHours: number(),
      fetchedAtMs: number().nullable(),
      createdAtMs: number(),
      updatedAtMs: number(),
    },
    indexes: { knowledgeDocumentsOfOrganization: ["orgId", "sequence"] },
  },
  /** The searchable passages. `terms` contains the hashed terms of `text`, separated by spaces. */
  knowledgePassages: {
    columns: {
      sequence: sequence(),
      orgId: text(),
      documentId: text().deletedWith("knowledgeDocuments.id"),
      position: number(),
      text: text(),
      terms: text(),
    },
    uniques: [["documentId", "position"]],
  },
  /** The organizations whose passages are embedded, and the model that embeds them. */
  knowledgeEmbeddings: {
    columns: {
      orgId: text().primaryKey().references("organizations.id"),
      providerId: text().references("providers.id"),
      modelId: text(),
      /** The dimensions that the model is asked for; null for its own number. */
      requestedDimensions: number().nullable(),
      /** The dimensions of each vector. */
      dimensions: number(),
      /** Distinguishes the vectors of this choice from those of earlier ones, which are never compared with them. */
      setId: text(),
      /** Grows with each change of the vectors. */
      revision: number(),
      /** Tokens that the model has counted for passages. */
      tokens: number(),
      /** Why passages could not be embedded; null while they can. */
      error: text().nullable(),
      createdAtMs: number(),
      updatedAtMs: number(),
    },
  },
  /** The embedding of a passage: float32 values of length 1, in little-endian order. */
  knowledgeVectors: {
    columns: {
      passage: whole("bigint").primaryKey().deletedWith("knowledgePassages.sequence"),
      orgId: text(),
      documentId: text(),
      setId: text(),
      vector: bytes(),
    },
    indexes: { knowledgeVectorsOfSet: ["orgId", "setId", "documentId"] },
  },
  /**
   * One server of a PostgreSQL database with several. A SQLite file has one server, and no rows in this table and the
   * next three.
   */
  nodes: {
    columns: {
      /** One start of the server: another start of the same name is another node. */
      startId: text().primaryKey(),
      name: text().unique(),
      /** The address for callers; null if all servers share one address. */
      address: text().nullable(),
      version: text(),
      /** Concurrent calls; 0 = unlimited. */
      capacity: whole("integer"),
      calls: whole("integer"),
      /** Runnable processes per core, averaged over a recent period. */
      load: number(),
      /** Whether the node accepts calls. */
      isTaking: whole("smallint"),
      isDraining: whole("smallint"),
      /** Another node has declared this one dead, and closes its calls. */
      isLost: whole("smallint"),
      /** Both times are from the database's clock. */
      startedAtMs: whole("bigint"),
      heartbeatAtMs: whole("bigint"),
    },
  },
  /** The node of each run of the call records. */
  nodeRuns: {
    columns: { runId: text().primaryKey(), startId: text().deletedWith("nodes.startId") },
    indexes: { nodeRunsByNode: ["startId"] },
  },
  callSlots: {
    columns: {
      callId: text().primaryKey(),
      orgId: text(),
      /** The node that has the call. */
      startId: text().deletedWith("nodes.startId"),
    },
    indexes: { callSlotsByOrganization: ["orgId"], callSlotsByNode: ["startId"] },
  },
  onceTokens: {
    columns: {
      key: text().primaryKey(),
      /** The owner, if its rows are counted; otherwise empty. */
      owner: text(),
      value: text().nullable(),
      untilMs: whole("bigint"),
    },
    indexes: { onceTokensByAge: ["untilMs"], onceTokensByOwner: ["owner"] },
  },
} as const satisfies Readonly<Record<string, Table>>;

export type Tables = { [Name in keyof typeof tables]: Row<(typeof tables)[Name]["columns"]> };
