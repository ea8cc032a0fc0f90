import { type Kysely, sql } from "kysely";

/** Agents of before do not record. A recording has a row from its beginning, so that a crash leaves none unknown. */
const RECORDINGS = [
  `alter table agents add column recording text not null default '{"enabled":false,"retentionDays":30}'`,
  `create table recordings (
    callId text primary key references calls (id) on delete cascade,
    orgId text not null,
    isFinished integer not null check (isFinished in (0, 1)),
    expiresAtMs real not null
  ) strict, without rowid`,
  "create index recordingsByExpiry on recordings (expiresAtMs)",
  "create index recordingsUnfinished on recordings (callId) where isFinished = 0",
];

export async function up(db: Kysely<unknown>): Promise<void> {
  for (const statement of RECORDINGS) await sql.raw(statement).execute(db);
}
