import { type Kysely, sql } from "kysely";

/** As SQLite's eighth: agents of before have nobody to stand in, and listen with their provider's own model. */
const AGENT_FALLBACKS = [
  `alter table "agents" add column "sttModelId" text collate "C"`,
  `alter table "agents" add column "fallbacks" text collate "C" not null default '{"llm":[],"tts":[],"stt":[]}'`,
];

export async function up(db: Kysely<unknown>): Promise<void> {
  for (const statement of AGENT_FALLBACKS) await sql.raw(statement).execute(db);
}
