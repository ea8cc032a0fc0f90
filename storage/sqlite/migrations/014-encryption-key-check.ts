import { type Kysely, sql } from "kysely";

/** One row: a text that only the key of this database opens, so that a wrong key shows where no credentials are stored. */
const CHECK = `create table encryptionKeyCheck (
    id integer primary key check (id = 1),
    sealed text not null
  ) strict`;

export async function up(db: Kysely<unknown>): Promise<void> {
  await sql.raw(CHECK).execute(db);
}
