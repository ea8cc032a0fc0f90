import { type Kysely, sql } from "kysely";

/**
 * As SQLite's eleventh: users of before operate nothing but their own organization. Nodes, which only PostgreSQL
 * has, stand in the audit trail too.
 */
const OPERATORS = [
  `alter table "users" add column "isOperator" smallint not null default 0 check ("isOperator" in (0, 1))`,
  `alter table "auditEntries" drop constraint "auditEntries_targetType_check"`,
  `alter table "auditEntries" add constraint "auditEntries_targetType_check"
    check ("targetType" in ('agent', 'provider', 'apiKey', 'organization', 'node'))`,
];

export async function up(db: Kysely<unknown>): Promise<void> {
  for (const statement of OPERATORS) await sql.raw(statement).execute(db);
}
