import { type Kysely, sql } from "kysely";

/**
 * What SQLite has built in: an RFC 7396 merge of two JSON objects. On `json`, not `jsonb`, which knows no NUL. Known fields keep
 * their place, new ones come after them.
 */
const JSON_PATCH = [
  `create function "mergedJson"(target json, patch json) returns json immutable language plpgsql as $$
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
  `create function json_patch(target text, patch text) returns text immutable language sql as
    $$ select "mergedJson"(target::json, patch::json)::text $$`,
];

const ADD_NEW = `insert into "callTotals" ("orgId", "agentId", "status", "calls", "durationSec")
  values (new."orgId", new."agentId", new."status", 1, coalesce(new."durationSec", 0))
  on conflict ("orgId", "agentId", "status") do update set "calls" = "callTotals"."calls" + 1,
    "durationSec" = "callTotals"."durationSec" + excluded."durationSec";`;

const TAKE_OLD = `update "callTotals"
  set "calls" = "calls" - 1, "durationSec" = "durationSec" - coalesce(old."durationSec", 0)
  where "orgId" = old."orgId" and "agentId" = old."agentId" and "status" = old."status";`;

/** As in SQLite, so that a page of a list says how many there are in all without counting them. */
const TOTALS = [
  `create function "keepCallTotals"() returns trigger language plpgsql as $$ begin
    if tg_op <> 'INSERT' then ${TAKE_OLD} end if;
    if tg_op <> 'DELETE' then ${ADD_NEW} end if;
    return null;
  end $$`,
  `create trigger "callTotalsOnInsert" after insert or delete on "calls"
    for each row execute function "keepCallTotals"()`,
  `create trigger "callTotalsOnUpdate" after update of "orgId", "agentId", "status", "durationSec" on "calls"
    for each row execute function "keepCallTotals"()`,
  `create function "refuseChange"() returns trigger language plpgsql as $$ begin
    raise exception 'an audit entry is never changed';
  end $$`,
  `create trigger "auditEntriesAreFinal" before update on "auditEntries"
    for each row execute function "refuseChange"()`,
  `create function "keepAuditTotals"() returns trigger language plpgsql as $$ begin
    if tg_op = 'INSERT' then
      insert into "auditTotals" ("orgId", "entries") values (new."orgId", 1)
      on conflict ("orgId") do update set "entries" = "auditTotals"."entries" + 1;
    else
      update "auditTotals" set "entries" = "entries" - 1 where "orgId" = old."orgId";
    end if;
    return null;
  end $$`,
  `create trigger "auditTotalsOnInsert" after insert on "auditEntries"
    for each row when (new."orgId" is not null) execute function "keepAuditTotals"()`,
  `create trigger "auditTotalsOnDelete" after delete on "auditEntries"
    for each row when (old."orgId" is not null) execute function "keepAuditTotals"()`,
];

export async function up(db: Kysely<unknown>): Promise<void> {
  for (const statement of [...JSON_PATCH, ...TOTALS]) await sql.raw(statement).execute(db);
}
