import { type Kysely, sql } from "kysely";

/** From which numbers an organization's agents may call; a number belongs to one organization at a time. */
const PHONE_NUMBERS = [
  `create table phoneNumbers (
    number text primary key,
    orgId text not null references organizations (id) on delete cascade,
    createdAtMs real not null
  ) strict, without rowid`,
  "create index phoneNumbersOfOrganization on phoneNumbers (orgId)",
];

export async function up(db: Kysely<unknown>): Promise<void> {
  for (const statement of PHONE_NUMBERS) await sql.raw(statement).execute(db);
}
