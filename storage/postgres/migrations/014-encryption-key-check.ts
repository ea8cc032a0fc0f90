import { type Kysely, sql } from "kysely";

/** As SQLite's fourteenth. */
const CHECK = `create table "encryptionKeyCheck" (
    "id" smallint primary key check ("id" = 1),
    "sealed" text collate "C" not null
  )`;

export async function up(db: Kysely<unknown>): Promise<void> {
  await sql.raw(CHECK).execute(db);
}
