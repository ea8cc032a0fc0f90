import type { DatabaseKind } from "./columns.js";

/** What a migration may do to the database that is brought up to date. */
export interface SchemaChange {
  readonly kind: DatabaseKind;
  /** Makes all of `tables.ts` in an empty database; rejects where there is a table of the same name. */
  create(): Promise<void>;
  /** Makes what the database lacks of `tables.ts`: tables, columns, indexes, values of closed lists, triggers. */
  align(): Promise<void>;
  run(statement: string): Promise<void>;
}

type Migration = (schema: SchemaChange) => Promise<void>;

/**
 * The steps of both databases, in the order of their names; a name that was released stays. An empty database gets everything
 * in the first. Every other step finds the tables as `tables.ts` has them, or as any earlier release left them, and leaves
 * alone what is right already: most do no more than `(schema) => schema.align()`.
 */
export const migrations: Readonly<Record<string, Migration>> = {
  "001-first-tables": (schema) => schema.create(),
  /** Brings what any earlier release has made to one schema; until then each database had its own. */
  "017-one-schema": async (schema) => {
    if (schema.kind === "sqlite") {
      // They were without `sequence`, or had another name than in PostgreSQL.
      for (const index of DIFFERENT_INDEXES) await schema.run(`drop index if exists "${index}"`);
    }
    await schema.align();
  },
};

const DIFFERENT_INDEXES = [
  "callsInOrder",
  "callsOfAgent",
  "callsInStatus",
  "callsOfAgentInStatus",
  "auditEntriesInOrder",
  "globalProviders",
];

/** What databases have noted since each had a list of its own. Nothing is left to do in them: `017-one-schema` does it all. */
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

/** How many migrations there are: a database that has had them all says so. */
export function schemaVersion(kind: DatabaseKind): number {
  return migrationNames(kind).length;
}
