import type { DatabaseKind } from "./columns.js";
import { postgresPostings } from "./triggers.js";

/** The operations of a migration. */
export interface SchemaChange {
  readonly kind: DatabaseKind;
  /** Creates all of `tables.ts` in an empty database; rejects if a table of the same name exists. */
  create(): Promise<void>;
  /** Creates what the database lacks of `tables.ts`: tables, columns, indexes, values of closed lists, triggers. */
  align(): Promise<void>;
  run(statement: string): Promise<void>;
  /** Copies a column into another one of the same table and drops it. Does nothing if the table has no such column. */
  moveColumn(table: string, from: string, to: string): Promise<void>;
  /**
   * Renames fields, and text values, of the JSON objects in a column of a table that has an `id`. Other rows are
   * not written.
   */
  renameJson(table: string, column: string, names: readonly RenamedField[]): Promise<void>;
}

/**
 * A field of a JSON object and its new name. `values`: replaced texts of the field. `inEachOf`: the field is in
 * each object of that list.
 */
export interface RenamedField {
  readonly inEachOf?: string;
  readonly from: string;
  readonly to: string;
  readonly values?: Readonly<Record<string, string>>;
}

/** Passages of one document whose postings are a row: as many as an upload writes at once in PostgreSQL. */
const PASSAGES_AT_ONCE = 400;

type Migration = (schema: SchemaChange) => Promise<void>;

/**
 * The migrations of both databases, in the order of their names; a released name never changes. The first one creates
 * everything in an empty database. Every other step finds the tables as `tables.ts` has them, or as any earlier release
 * left them, and does not touch what is right already: most do no more than `(schema) => schema.align()`.
 */
export const migrations: Readonly<Record<string, Migration>> = {
  "001-first-tables": (schema) => schema.create(),
  /** Unifies the schemas of all earlier releases; until then each database had its own. */
  "017-one-schema": async (schema) => {
    if (schema.kind === "sqlite") {
      // These tables lacked `sequence`, or had another name than in PostgreSQL.
      for (const index of DIFFERENT_INDEXES) await schema.run(`drop index if exists "${index}"`);
    }
    await schema.align();
  },
  /** Renames settings and call metadata to the terms of docs/reference/glossary.md. */
  "018-settings-in-the-fields-words": async (schema) => {
    await schema.align();
    await schema.moveColumn("agents", "publicOrigins", "allowedOrigins");
    await schema.renameJson("agents", "thresholds", RENAMED_THRESHOLDS);
    await schema.renameJson("calls", "metadata", RENAMED_CALL_METADATA);
  },
  "019-jobs-and-webhooks": (schema) => schema.align(),
  "020-call-analysis": (schema) => schema.align(),
  /** Before this migration, every global provider came from the environment. */
  "021-origin-of-global-providers": async (schema) => {
    await schema.align();
    await schema.run(`update "providers" set "origin" = 'environment' where "orgId" is null`);
  },
  "022-pre-call-requests": (schema) => schema.align(),
  "023-agents-of-phone-numbers": (schema) => schema.align(),
  "024-telephony-accounts": (schema) => schema.align(),
  "026-provider-tests": (schema) => schema.align(),
  "025-knowledge": (schema) => schema.align(),
  "027-mcp-servers": (schema) => schema.align(),
  "028-audit-of-calls": (schema) => schema.align(),
  "034-do-not-call-numbers": (schema) => schema.align(),
  "035-call-lists": (schema) => schema.align(),
  "036-embeddings": (schema) => schema.align(),
  "037-holds-of-call-lists": (schema) => schema.align(),
  "038-passages-by-document-and-term": (schema) => schema.align(),
  /** Call lists also get an index by which they are counted for the metrics. */
  "040-idempotency-keys": (schema) => schema.align(),
  /** PostgreSQL gets postings of the passages. Its older indexes stay for servers of earlier releases. */
  "042-postings-of-passages": async (schema) => {
    await schema.align();
    if (schema.kind !== "postgres") return;
    await schema.run(
      postgresPostings('"knowledgePassages"', `1, 2, floor(p."position" / ${PASSAGES_AT_ONCE})`),
    );
  },
};

const RENAMED_THRESHOLDS: readonly RenamedField[] = [
  { from: "patienceMs", to: "maxEndpointingDelayMs" },
  {
    from: "agreementWords",
    to: "backchannels",
    values: { ignored: "ignore", answered: "reply" },
  },
  { from: "waitingWordMs", to: "fillerAfterMs" },
  { from: "callerSilenceMs", to: "idleTimeoutMs" },
  { from: "earlyReply", to: "preemptiveGeneration" },
  { from: "keypadDigits", to: "dtmfDigits" },
  { from: "onVendorsLost", to: "onProviderFailure" },
];

const RENAMED_CALL_METADATA: readonly RenamedField[] = [
  { from: "deafMs", to: "sttOutageMs" },
  { from: "deafForLong", to: "longSttOutage" },
  { from: "endReason", to: "endReason", values: { listeningFailed: "sttFailed" } },
  { inEachOf: "turns", from: "waitingWords", to: "fillerCount" },
  { inEachOf: "turns", from: "earlyMs", to: "preemptiveMs" },
];

const DIFFERENT_INDEXES = [
  "callsInOrder",
  "callsOfAgent",
  "callsInStatus",
  "callsOfAgentInStatus",
  "auditEntriesInOrder",
  "globalProviders",
];

/**
 * The migrations of each database from the time of separate lists. They do nothing now: `017-one-schema` does it
 * all.
 */
const FORMER_NAMES: Readonly<Record<DatabaseKind, readonly string[]>> = {
  sqlite: [
    "002-audit-trail",
    "003-agent-tools",
    "004-recordings",
    "005-phone-numbers",
    "006-run-clocks",
    "007-dial-targets",
    "008-agent-fallbacks",
    "009-public-agents",
    "011-operators",
    "013-members",
    "014-encryption-key-check",
    "015-call-numbers",
    "016-conversation-summaries",
  ],
  postgres: [
    "002-totals-and-patches",
    "008-agent-fallbacks",
    "009-public-agents",
    "010-nodes",
    "011-operators",
    "012-commit-marks",
    "013-members",
    "014-encryption-key-check",
    "015-call-numbers",
    "016-conversation-summaries",
  ],
};

export function migrationNames(kind: DatabaseKind): readonly string[] {
  return [...FORMER_NAMES[kind], ...Object.keys(migrations)].toSorted();
}

/** The number of migrations; a database that has had all of them stores this number. */
export function schemaVersion(kind: DatabaseKind): number {
  return migrationNames(kind).length;
}
