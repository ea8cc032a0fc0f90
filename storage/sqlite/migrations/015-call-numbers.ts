import { type Kysely, sql } from "kysely";

/**
 * Who called whom, beside the metadata, which no index reaches. Calls of earlier releases have none of it. The indexes give
 * the calls of one number newest first, and have no entry for calls without numbers.
 */
const CALL_NUMBERS = [
  "alter table calls add column direction text",
  "alter table calls add column fromNumber text",
  "alter table calls add column toNumber text",
  `create index callsFromNumber on calls (orgId, fromNumber, startedAtMs, sequence)
    where fromNumber is not null`,
  `create index callsToNumber on calls (orgId, toNumber, startedAtMs, sequence)
    where toNumber is not null`,
];

export async function up(db: Kysely<unknown>): Promise<void> {
  for (const statement of CALL_NUMBERS) await sql.raw(statement).execute(db);
}
