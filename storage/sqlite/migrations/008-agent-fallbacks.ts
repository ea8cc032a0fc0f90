import { type Kysely, sql } from "kysely";

/** Agents of before have nobody to stand in, and listen with their provider's own model. */
const AGENT_FALLBACKS = [
  "alter table agents add column sttModelId text",
  `alter table agents add column fallbacks text not null default '{"llm":[],"tts":[],"stt":[]}'`,
];

export async function up(db: Kysely<unknown>): Promise<void> {
  for (const statement of AGENT_FALLBACKS) await sql.raw(statement).execute(db);
}
