import type { DatabaseKind } from "./columns.js";

const SQLITE_ADD = `insert into callTotals (orgId, agentId, status, calls, durationSec)
  values (new.orgId, new.agentId, new.status, 1, coalesce(new.durationSec, 0))
  on conflict (orgId, agentId, status)
  do update set calls = calls + 1, durationSec = durationSec + excluded.durationSec;`;

const SQLITE_SUBTRACT = `update callTotals
  set calls = calls - 1, durationSec = durationSec - coalesce(old.durationSec, 0)
  where orgId = old.orgId and agentId = old.agentId and status = old.status;`;

/**
 * Every page of the call list contains the total number of calls, and counting a million index entries for it
 * would take tens of milliseconds of the one thread. So triggers maintain the counts, one row for each
 * organization, agent and status, so that no way of writing a call can miss them. Every filter of the list is a
 * sum of a few rows. The audit trail has its totals for the same reason.
 */
const SQLITE_TRIGGERS = {
  callTotalsOnInsert: `create trigger callTotalsOnInsert after insert on calls begin ${SQLITE_ADD} end`,
  callTotalsOnUpdate: `create trigger callTotalsOnUpdate after update of orgId, agentId, status, durationSec on calls
    begin ${SQLITE_SUBTRACT} ${SQLITE_ADD} end`,
  callTotalsOnDelete: `create trigger callTotalsOnDelete after delete on calls begin ${SQLITE_SUBTRACT} end`,
  auditEntriesAreFinal: `create trigger auditEntriesAreFinal before update on auditEntries
    begin select raise(abort, 'an audit entry is never changed'); end`,
  auditTotalsOnInsert: `create trigger auditTotalsOnInsert after insert on auditEntries when new.orgId is not null begin
    insert into auditTotals (orgId, entries) values (new.orgId, 1)
    on conflict (orgId) do update set entries = entries + 1;
  end`,
  auditTotalsOnDelete: `create trigger auditTotalsOnDelete after delete on auditEntries when old.orgId is not null begin
    update auditTotals set entries = entries - 1 where orgId = old.orgId;
  end`,
  knowledgeIndexOnInsert: `create trigger knowledgeIndexOnInsert after insert on knowledgePassages begin
    insert into knowledgeIndex (rowid, terms) values (new.sequence, new.terms);
  end`,
  knowledgeIndexOnDelete: `create trigger knowledgeIndexOnDelete after delete on knowledgePassages begin
    delete from knowledgeIndex where rowid = old.sequence;
  end`,
};

const POSTGRES_ADD = `insert into "callTotals" ("orgId", "agentId", "status", "calls", "durationSec")
  values (new."orgId", new."agentId", new."status", 1, coalesce(new."durationSec", 0))
  on conflict ("orgId", "agentId", "status") do update set "calls" = "callTotals"."calls" + 1,
    "durationSec" = "callTotals"."durationSec" + excluded."durationSec";`;

const POSTGRES_SUBTRACT = `update "callTotals"
  set "calls" = "calls" - 1, "durationSec" = "durationSec" - coalesce(old."durationSec", 0)
  where "orgId" = old."orgId" and "agentId" = old."agentId" and "status" = old."status";`;

const POSTGRES_TRIGGERS = {
  callTotalsOnInsert: `create trigger "callTotalsOnInsert" after insert or delete on "calls"
    for each row execute function "keepCallTotals"()`,
  callTotalsOnUpdate: `create trigger "callTotalsOnUpdate" after update of "orgId", "agentId", "status", "durationSec" on "calls"
    for each row execute function "keepCallTotals"()`,
  auditEntriesAreFinal: `create trigger "auditEntriesAreFinal" before update on "auditEntries"
    for each row execute function "refuseChange"()`,
  auditTotalsOnInsert: `create trigger "auditTotalsOnInsert" after insert on "auditEntries"
    for each row when (new."orgId" is not null) execute function "keepAuditTotals"()`,
  auditTotalsOnDelete: `create trigger "auditTotalsOnDelete" after delete on "auditEntries"
    for each row when (old."orgId" is not null) execute function "keepAuditTotals"()`,
  knowledgePostingsOnInsert: `create trigger "knowledgePostingsOnInsert" after insert on "knowledgePassages"
    referencing new table as "added" for each statement execute function "addPostings"()`,
  knowledgePostingsOnDelete: `create trigger "knowledgePostingsOnDelete" after delete on "knowledgePassages"
    referencing old table as "removed" for each statement execute function "removePostings"()`,
  knowledgePassagesBeforeDocument: `create trigger "knowledgePassagesBeforeDocument" before delete on "knowledgeDocuments"
    for each row execute function "removePassages"()`,
};

/**
 * Aggregates the passages of `source` into postings: a row for each term, document and statement that added passages.
 * `positions` are those of the passages that have the term.
 */
export function postgresPostings(source: string, group = "1, 2"): string {
  return `insert into "knowledgePostings" ("term", "document", "first", "last", "positions")
    select t.term, d."sequence", min(p."position"), max(p."position"),
      array_agg(p."position"::integer order by p."position")
    from ${source} p join "knowledgeDocuments" d on d."id" = p."documentId"
    cross join lateral unnest(string_to_array(p."terms", ' ')) as t(term) group by ${group}
    on conflict ("term", "document", "first")
      do update set "last" = excluded."last", "positions" = excluded."positions"`;
}

/** Triggers by name. No schema builder writes them, so each kind of database has its own SQL. */
export const triggers: Readonly<Record<DatabaseKind, Readonly<Record<string, string>>>> = {
  sqlite: SQLITE_TRIGGERS,
  postgres: POSTGRES_TRIGGERS,
};

/**
 * Functions that SQLite has built in, and those of triggers. `mergedJson` is an RFC 7396 merge of two JSON
 * objects, on `json`, not `jsonb`, which does not support NUL: known fields keep their position, new ones come
 * after them.
 */
export const postgresFunctions: readonly string[] = [
  `create or replace function "mergedJson"(target json, patch json) returns json immutable language plpgsql as $$
  declare merged json;
  begin
    if json_typeof(patch) <> 'object' then return patch; end if;
    if target is null or json_typeof(target) <> 'object' then target := '{}'; end if;
    select coalesce(json_object_agg(field.key, field.value order by field.place), '{}') into merged from (
      select known.key, known.place,
        case when change.key is null then known.value else "mergedJson"(known.value, change.value) end as value
      from json_each(target) with ordinality as known (key, value, place)
      left join json_each(patch) as change (key, value) on change.key = known.key
      where change.key is null or json_typeof(change.value) <> 'null'
      union all
      select change.key, 1000000000 + change.place, "mergedJson"(null, change.value)
      from json_each(patch) with ordinality as change (key, value, place)
      where json_typeof(change.value) <> 'null'
        and not exists (select 1 from json_each(target) as known where known.key = change.key)
    ) as field;
    return merged;
  end $$`,
  `create or replace function json_patch(target text, patch text) returns text immutable language sql as
    $$ select "mergedJson"(target::json, patch::json)::text $$`,
  `create or replace function "keepCallTotals"() returns trigger language plpgsql as $$ begin
    if tg_op <> 'INSERT' then ${POSTGRES_SUBTRACT} end if;
    if tg_op <> 'DELETE' then ${POSTGRES_ADD} end if;
    return null;
  end $$`,
  `create or replace function "refuseChange"() returns trigger language plpgsql as $$ begin
    raise exception 'an audit entry is never changed';
  end $$`,
  `create or replace function "keepAuditTotals"() returns trigger language plpgsql as $$ begin
    if tg_op = 'INSERT' then
      insert into "auditTotals" ("orgId", "entries") values (new."orgId", 1)
      on conflict ("orgId") do update set "entries" = "auditTotals"."entries" + 1;
    else
      update "auditTotals" set "entries" = "entries" - 1 where "orgId" = old."orgId";
    end if;
    return null;
  end $$`,
  `create or replace function "addPostings"() returns trigger language plpgsql as $$ begin
    ${postgresPostings('"added"')};
    return null;
  end $$`,
  // Only passages that are not part of a document's current content are removed, so a row whose last passage goes may
  // go as a whole.
  `create or replace function "removePostings"() returns trigger language plpgsql as $$ begin
    delete from "knowledgePostings" k using (
      select t.term, d."sequence" as document, max(p."position") as last
      from "removed" p join "knowledgeDocuments" d on d."id" = p."documentId"
      cross join lateral unnest(string_to_array(p."terms", ' ')) as t(term) group by 1, 2
    ) as gone
    where k."term" = gone.term and k."document" = gone.document and k."last" <= gone.last;
    return null;
  end $$`,
  // A cascade would remove them after the document, whose number in the postings is then unknown.
  `create or replace function "removePassages"() returns trigger language plpgsql as $$ begin
    delete from "knowledgePassages" where "documentId" = old."id";
    return old;
  end $$`,
];

/**
 * Tables of the PostgreSQL server itself: one row with the database's identity, for servers of other releases;
 * a row of each writing transaction, by which a server whose connection broke learns whether it was committed; and the
 * full-text index of passages, maintained by triggers. It begins with the term, since a term belongs to one organization,
 * and says how many passages have it without a look at any of them, which no index of PostgreSQL's own does.
 */
export const postgresTables: Readonly<Record<string, readonly string[]>> = {
  schemaState: [
    `create table "schemaState" (
    "only" boolean constraint "schemaState(only)" primary key check ("only"),
    "version" integer not null,
    "oldestBeside" integer not null
  )`,
  ],
  commitMarks: [
    `create table "commitMarks" (
    "id" uuid constraint "commitMarks(id)" primary key default gen_random_uuid(),
    "atMs" bigint not null default (extract(epoch from clock_timestamp()) * 1000)::bigint,
    "isUndone" boolean not null default false
  )`,
    `create index "commitMarksByAge" on "commitMarks" ("atMs")`,
  ],
  knowledgePostings: [
    `create table "knowledgePostings" (
    "document" bigint not null,
    "first" integer not null,
    "last" integer not null,
    "term" text collate "C" not null,
    "positions" integer[] not null,
    constraint "knowledgePostings(term,document,first)" primary key ("term", "document", "first")
  )`,
  ],
};

/**
 * The full-text index of passages, by their `sequence`, maintained by triggers. The terms are hashes, so no
 * folding is needed.
 */
export const sqliteTables: Readonly<Record<string, string>> = {
  knowledgeIndex: `create virtual table knowledgeIndex using fts5(
    terms, content='', contentless_delete=1, tokenize='ascii')`,
};
