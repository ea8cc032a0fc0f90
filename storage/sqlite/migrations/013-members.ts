import { type Kysely, sql } from "kysely";

/**
 * Members stand in the audit trail too. SQLite changes no check of a table, so the trail is written again under the new one,
 * with its places in the order; its totals stay as they are, since the triggers come back last.
 */
const MEMBERS = [
  `create table auditEntriesAnew (
    sequence integer primary key,
    id text not null unique,
    orgId text references organizations (id),
    atMs real not null,
    actorType text not null check (actorType in ('user', 'apiKey', 'administrator')),
    actorId text not null,
    action text not null,
    targetType text not null
      check (targetType in ('agent', 'provider', 'apiKey', 'organization', 'member')),
    targetId text not null,
    targetName text not null,
    changes text not null
  ) strict`,
  `insert into auditEntriesAnew
      (sequence, id, orgId, atMs, actorType, actorId, action, targetType, targetId, targetName, changes)
    select sequence, id, orgId, atMs, actorType, actorId, action, targetType, targetId, targetName, changes
    from auditEntries`,
  "drop table auditEntries",
  "alter table auditEntriesAnew rename to auditEntries",
  "create index auditEntriesInOrder on auditEntries (orgId, atMs)",
  "create index auditEntriesByAge on auditEntries (atMs)",
  `create trigger auditEntriesAreFinal before update on auditEntries
    begin select raise(abort, 'an audit entry is never changed'); end`,
  `create trigger auditTotalsOnInsert after insert on auditEntries when new.orgId is not null begin
    insert into auditTotals (orgId, entries) values (new.orgId, 1)
    on conflict (orgId) do update set entries = entries + 1;
  end`,
  `create trigger auditTotalsOnDelete after delete on auditEntries when old.orgId is not null begin
    update auditTotals set entries = entries - 1 where orgId = old.orgId;
  end`,
];

export async function up(db: Kysely<unknown>): Promise<void> {
  for (const statement of MEMBERS) await sql.raw(statement).execute(db);
}
