import { type Kysely, sql } from "kysely";

/** As SQLite's thirteenth: members stand in the audit trail too. */
const MEMBERS = [
  `alter table "auditEntries" drop constraint "auditEntries_targetType_check"`,
  `alter table "auditEntries" add constraint "auditEntries_targetType_check"
    check ("targetType" in ('agent', 'provider', 'apiKey', 'organization', 'node', 'member'))`,
];

export async function up(db: Kysely<unknown>): Promise<void> {
  for (const statement of MEMBERS) await sql.raw(statement).execute(db);
}
