import { type Kysely, sql } from "kysely";

/**
 * A row of each transaction that writes, by which a server whose connection broke learns whether it was committed. `isUndone` is
 * written by whoever asks and finds none. SQLite, which has no connections, has none of it.
 */
const COMMIT_MARKS = [
  `create table "commitMarks" (
    "id" uuid constraint "commitMarks(id)" primary key default gen_random_uuid(),
    "atMs" bigint not null default (extract(epoch from clock_timestamp()) * 1000)::bigint,
    "isUndone" boolean not null default false
  )`,
  `create index "commitMarksByAge" on "commitMarks" ("atMs")`,
];

export async function up(db: Kysely<unknown>): Promise<void> {
  for (const statement of COMMIT_MARKS) await sql.raw(statement).execute(db);
}
