import { type Kysely, sql } from "kysely";

/** Agents of before have no tools. */
const AGENT_TOOLS = [
  "alter table agents add column tools text not null default '[]'",
  "alter table agents add column sealedToolHeaders text",
];

export async function up(db: Kysely<unknown>): Promise<void> {
  for (const statement of AGENT_TOOLS) await sql.raw(statement).execute(db);
}
