import { type Kysely, sql } from "kysely";

/** Whom an organization's agents may call or hand callers on to, at the cost of the platform's account. */
const DIAL_TARGETS = [
  `create table dialTargets (
    orgId text not null references organizations (id) on delete cascade,
    target text not null,
    createdAtMs real not null,
    primary key (orgId, target)
  ) strict, without rowid`,
];

export async function up(db: Kysely<unknown>): Promise<void> {
  for (const statement of DIAL_TARGETS) await sql.raw(statement).execute(db);
}
