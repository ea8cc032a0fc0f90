import type { Generated } from "kysely";
import type {
  CallChannel,
  CallStatus,
  Category,
  OrganizationRecord,
  Sentiment,
  UsageRecord,
  UserRecord,
} from "./records.js";
import type { AuditActor, AuditRecord } from "./tenancy/audit-record.js";
import type { PhoneNumberRecord } from "./tenancy/phone-number-record.js";

/** The order of creation, given by the database. */
interface Sequenced {
  readonly sequence: Generated<number>;
}

/** 0 or 1: SQLite has no booleans. */
export type Flag = number;

/** Text that `writeJson` has made and `readJson` reads. */
export type Json = string;

export interface PlanRow extends Sequenced {
  id: string;
  slug: string;
  name: string;
  description: string;
  custom: Flag;
  public: Flag;
  pricing: Json;
  limits: Json;
  models: Json;
  features: Json;
  createdAtMs: number;
  updatedAtMs: number;
}

export interface OrganizationRow extends Sequenced, OrganizationRecord {}

export interface UserRow extends Sequenced, Omit<UserRecord, "isOperator"> {
  isOperator: Flag;
}

export interface ApiKeyRow extends Sequenced {
  id: string;
  orgId: string;
  keyHash: string;
  keyPrefix: string;
  name: string;
  scopes: Json;
  lastUsedAtMs: number | null;
  createdAtMs: number;
  revokedAtMs: number | null;
}

export interface EncryptionKeyCheckRow {
  /** There is one row. */
  id: 1;
  sealed: string;
}

export interface RegistryRow extends Sequenced {
  category: Category;
  providerKey: string;
  displayName: string;
  requiresKey: Flag;
  models: Json;
  settings: Json;
  createdAtMs: number;
}

export interface ProviderRow extends Sequenced {
  id: string;
  orgId: string | null;
  category: Category;
  providerKey: string;
  name: string;
  sealedCredentials: string | null;
  models: Json;
  settings: Json;
  active: Flag;
  createdAtMs: number;
  updatedAtMs: number;
}

export interface AgentRow extends Sequenced {
  id: string;
  orgId: string;
  name: string;
  persona: Json;
  llmProviderId: string;
  llmModelId: string;
  llmConfig: Json;
  ttsProviderId: string;
  ttsModelId: string;
  ttsConfig: Json;
  sttProviderId: string;
  sttModelId: string | null;
  fallbacks: Json;
  thresholds: Json;
  tools: Json;
  sealedToolHeaders: string | null;
  recording: Json;
  publicOrigins: Json;
  active: Flag;
  createdAtMs: number;
  updatedAtMs: number;
}

export interface CallRow extends Sequenced {
  id: string;
  orgId: string;
  agentId: string;
  sessionId: string;
  /** The run of the server that has the call. */
  runId: string;
  channel: CallChannel;
  status: CallStatus;
  startedAtMs: number;
  endedAtMs: number | null;
  durationSec: number | null;
  ttfbMs: number;
  avgLatencyMs: number;
  totalTokens: number;
  ttsChars: number;
  interruptions: number;
  turnCount: number;
  summary: string | null;
  sentiment: Sentiment | null;
  metadata: Json;
  lastSavedAtMs: number;
  createdAtMs: number;
  /** The run's own clock; null for a call of a release that did not write it. */
  beganUptimeMs: number | null;
  /** Null for a call of a release that did not write it, as are the numbers. */
  direction: string | null;
  fromNumber: string | null;
  toNumber: string | null;
}

export interface TranscriptMessageRow extends Sequenced {
  callId: string;
  role: "user" | "assistant";
  text: string;
  timestamp: number;
}

export interface CallTurnRow extends Sequenced {
  callId: string;
  turn: Json;
}

/** Kept by triggers on `calls`. */
export interface CallTotalRow {
  orgId: string;
  agentId: string;
  status: CallStatus;
  calls: number;
  durationSec: number;
}

export interface RunRow {
  id: string;
  heartbeatAtMs: number;
  /** The run's own clock at the heartbeat: it never steps. */
  uptimeMs: number | null;
}

export interface SessionHistoryRow {
  orgId: string;
  key: string;
  messages: Json;
  savedAtMs: number;
  summary: Generated<string | null>;
}

export interface RecordingRow {
  callId: string;
  orgId: string;
  isFinished: Flag;
  expiresAtMs: number;
}

export interface AuditEntryRow extends Sequenced {
  id: string;
  orgId: string | null;
  atMs: number;
  actorType: AuditActor["type"];
  actorId: string;
  action: AuditRecord["action"];
  targetType: AuditRecord["targetType"];
  targetId: string;
  targetName: string;
  changes: Json;
}

/** Kept by triggers on `auditEntries`. */
export interface AuditTotalRow {
  orgId: string;
  entries: number;
}

export interface DialTargetRow {
  orgId: string;
  /** The digits that a number begins with, or a whole SIP address. */
  target: string;
  createdAtMs: number;
}

/** A server among those of one PostgreSQL database; all that follows is not in SQLite. */
export interface NodeRow {
  /** One start of the server: another start of the same name is another node. */
  startId: string;
  name: string;
  /** Where the others send callers; null where one address serves all. */
  address: string | null;
  version: string;
  /** Calls at the same time; 0 = no such limit. */
  capacity: number;
  calls: number;
  /** Processes that wanted a core lately, by cores. */
  load: number;
  /** Would take a call. */
  isTaking: Flag;
  isDraining: Flag;
  /** Another node has taken it for dead, and closes its calls. */
  isLost: Flag;
  /** Both by the database's clock. */
  startedAtMs: number;
  heartbeatAtMs: number;
}

/** Which node a run of the call records is of. */
export interface NodeRunRow {
  runId: string;
  startId: string;
}

export interface CallSlotRow {
  callId: string;
  orgId: string;
  /** The node that has the call. */
  startId: string;
}

export interface OnceTokenRow {
  key: string;
  /** Whose it is, where one's are counted; else empty. */
  owner: string;
  value: string | null;
  untilMs: number;
}

export interface Tables {
  nodes: NodeRow;
  nodeRuns: NodeRunRow;
  callSlots: CallSlotRow;
  onceTokens: OnceTokenRow;
  plans: PlanRow;
  organizations: OrganizationRow;
  users: UserRow;
  apiKeys: ApiKeyRow;
  registry: RegistryRow;
  providers: ProviderRow;
  agents: AgentRow;
  calls: CallRow;
  transcriptMessages: TranscriptMessageRow;
  callTurns: CallTurnRow;
  callTotals: CallTotalRow;
  runs: RunRow;
  dailyUsage: UsageRecord;
  sessionHistory: SessionHistoryRow;
  recordings: RecordingRow;
  phoneNumbers: PhoneNumberRecord;
  dialTargets: DialTargetRow;
  auditEntries: AuditEntryRow;
  auditTotals: AuditTotalRow;
  encryptionKeyCheck: EncryptionKeyCheckRow;
}
