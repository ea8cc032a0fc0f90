import { type Kysely, sql } from "kysely";

/** What was cut from the messages of a long conversation is kept as a short summary beside them. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql.raw("alter table sessionHistory add column summary text").execute(db);
}
