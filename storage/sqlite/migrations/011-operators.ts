import { type Kysely, sql } from "kysely";

/** Users of before operate nothing but their own organization. */
const OPERATORS =
  "alter table users add column isOperator integer not null default 0 check (isOperator in (0, 1))";

export async function up(db: Kysely<unknown>): Promise<void> {
  await sql.raw(OPERATORS).execute(db);
}
