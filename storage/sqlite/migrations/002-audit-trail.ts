import { type Kysely, sql } from "kysely";

/**
 * Entries are only ever added, and removed when they are old: the trigger refuses whatever would rewrite one. How many an
 * organization has is kept, as for calls, so that a page costs the same however long the trail is.
 */
const AUDIT_TRAIL = [
  `create table auditEntries (
    sequence integer primary key,
    id text not null unique,
    orgId text references organizations (id),
    atMs real not null,
    actorType text not null check (actorType in ('user', 'apiKey', 'administrator')),
    actorId text not null,
    action text not null,
    targetType text not null check (targetType in ('agent', 'provider', 'apiKey', 'organization')),
    targetId text not null,
    targetName text not null,
    changes text not null
  ) strict`,
  "create index auditEntriesInOrder on auditEntries (orgId, atMs)",
  "create index auditEntriesByAge on auditEntries (atMs)",
  `create trigger auditEntriesAreFinal before update on auditEntries
    begin select raise(abort, 'an audit entry is never changed'); end`,
  `create table auditTotals (
    orgId text not null primary key,
    entries real not null
  ) strict, without rowid`,
  `create trigger auditTotalsOnInsert after insert on auditEntries when new.orgId is not null begin
    insert into auditTotals (orgId, entries) values (new.orgId, 1)
    on conflict (orgId) do update set entries = entries + 1;
  end`,
  `create trigger auditTotalsOnDelete after delete on auditEntries when old.orgId is not null begin
    update auditTotals set entries = entries - 1 where orgId = old.orgId;
  end`,
];

export async function up(db: Kysely<unknown>): Promise<void> {
  for (const statement of AUDIT_TRAIL) await sql.raw(statement).execute(db);
}
