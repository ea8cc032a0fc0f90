import { type Kysely, sql } from "kysely";

/** As SQLite's sixteenth: the summary of what was cut from the messages of a long conversation. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql.raw(`alter table "sessionHistory" add column "summary" text collate "C"`).execute(db);
}
