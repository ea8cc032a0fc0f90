import { type Kysely, sql } from "kysely";

/** As SQLite's fifteenth: who called whom, beside the metadata. */
const CALL_NUMBERS = [
  `alter table "calls" add column "direction" text collate "C"`,
  `alter table "calls" add column "fromNumber" text collate "C"`,
  `alter table "calls" add column "toNumber" text collate "C"`,
  `create index "callsFromNumber" on "calls" ("orgId", "fromNumber", "startedAtMs", "sequence")
    where "fromNumber" is not null`,
  `create index "callsToNumber" on "calls" ("orgId", "toNumber", "startedAtMs", "sequence")
    where "toNumber" is not null`,
];

export async function up(db: Kysely<unknown>): Promise<void> {
  for (const statement of CALL_NUMBERS) await sql.raw(statement).execute(db);
}
