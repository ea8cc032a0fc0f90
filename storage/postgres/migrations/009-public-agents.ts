import { type Kysely, sql } from "kysely";

/** As SQLite's ninth: agents of before are public nowhere. */
const PUBLIC_AGENTS = `alter table "agents" add column "publicOrigins" text collate "C" not null default '[]'`;

export async function up(db: Kysely<unknown>): Promise<void> {
  await sql.raw(PUBLIC_AGENTS).execute(db);
}
