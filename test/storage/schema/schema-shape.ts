import type BetterSqlite3 from "better-sqlite3";

/** A comparable description of a database of either kind, in sorted lines. */
export type SchemaShape = readonly string[];

interface FoundColumn {
  readonly table: string;
  readonly column: string;
  readonly type: string;
  readonly isNullable: boolean;
  readonly defaultValue: string | null;
}

interface FoundKey {
  readonly table: string;
  readonly kind: "primary key" | "unique" | "foreign key";
  readonly columns: string;
  readonly target: string;
}

interface FoundIndex {
  readonly table: string;
  readonly name: string;
  readonly columns: string;
  readonly isUnique: boolean;
  readonly where: string | null;
}

interface Found {
  readonly columns: readonly FoundColumn[];
  readonly keys: readonly FoundKey[];
  readonly indexes: readonly FoundIndex[];
}

/** The migrator's own tables, those that only a PostgreSQL server needs, and the full-text index of each database. */
const OWN_TABLES =
  /^(?:kysely_migration|kysely_migration_lock|schemaState|commitMarks|knowledgeIndex(?:_\w+)?|knowledgePostings)$/;

function shapeOf({ columns, keys, indexes }: Found): SchemaShape {
  const lines = [
    ...columns.map(({ table, column, type, isNullable, defaultValue }) => {
      const kind = /text/i.test(type) ? "text" : "number";
      const rest = defaultValue === null ? "" : ` default ${plain(defaultValue)}`;
      return [table, `${column} ${kind}${isNullable ? " null" : ""}${rest}`];
    }),
    ...keys.map(({ table, kind, columns: names, target }) => [
      table,
      `${kind} (${names})${target && ` references ${target}`}`,
    ]),
    ...indexes.map(({ table, name, columns: names, isUnique, where }) => [
      table,
      `${isUnique ? "unique " : ""}index ${name} (${names})${where === null ? "" : ` where ${plain(where)}`}`,
    ]),
  ];
  return lines
    .filter(([table = ""]) => !OWN_TABLES.test(table))
    .map((line) => line.join(": "))
    .toSorted();
}

/** Writes the same expression in one form for both databases. */
function plain(expression: string): string {
  return expression.replace(/::text|[()"]/g, "").toLowerCase();
}

const TABLES = `sqlite_schema t where t.type = 'table' and t.name not like 'sqlite_%'`;

export function sqliteShape(file: BetterSqlite3.Database): SchemaShape {
  const columns = file
    .prepare(
      `select t.name as "table", c.name as "column", c.type, c."notnull" = 0 and c.pk = 0 as isNullable,
         c.dflt_value as defaultValue
       from ${TABLES.replace(" where", ", pragma_table_info(t.name) c where")}`,
    )
    .all() as FoundColumn[];
  const primaryKeys = file
    .prepare(
      `select "table", 'primary key' as kind, group_concat(name) as columns, '' as target from (
         select t.name as "table", c.name from ${TABLES.replace(" where", ", pragma_table_info(t.name) c where")}
         and c.pk > 0 order by t.name, c.pk) group by 1`,
    )
    .all() as FoundKey[];
  const foreignKeys = file
    .prepare(
      `select t.name as "table", 'foreign key' as kind, k."from" as columns,
         k."table" || '(' || k."to" || ') ' || lower(k.on_delete) as target
       from ${TABLES.replace(" where", ", pragma_foreign_key_list(t.name) k where")}`,
    )
    .all() as FoundKey[];
  const found = file
    .prepare(
      `select t.name as "table", i.name, i.origin, i."unique" as isUnique,
         (select group_concat(name) from (select name from pragma_index_info(i.name) order by seqno)) as columns,
         (select sql from sqlite_schema s where s.name = i.name) as sql
       from ${TABLES.replace(" where", ", pragma_index_list(t.name) i where")}`,
    )
    .all() as (FoundIndex & { readonly origin: string; readonly sql: string | null })[];
  const uniques = found
    .filter(({ origin }) => origin === "u")
    .map(({ table, columns: names }) => ({
      table,
      kind: "unique" as const,
      columns: names,
      target: "",
    }));
  const indexes = found
    .filter(({ origin }) => origin === "c")
    .map((index) => ({ ...index, where: /\bwhere\s+(.*)$/is.exec(index.sql ?? "")?.[1] ?? null }));
  return shapeOf({ columns, keys: [...primaryKeys, ...foreignKeys, ...uniques], indexes });
}

const COLUMNS_OF = (keys: string, table: string) =>
  `(select string_agg(attname, ',' order by place) from unnest(${keys}) with ordinality as k (number, place)
    join pg_attribute on attrelid = ${table} and attnum = k.number)`;

const POSTGRES = {
  columns: `select table_name as "table", column_name as "column", data_type as "type",
      is_nullable = 'YES' as "isNullable", column_default as "defaultValue"
    from information_schema.columns where table_schema = 'public'`,
  keys: `select c.relname as "table",
      case contype when 'p' then 'primary key' when 'u' then 'unique' else 'foreign key' end as kind,
      ${COLUMNS_OF("conkey", "conrelid")} as columns,
      case contype when 'f' then f.relname || '(' || ${COLUMNS_OF("confkey", "confrelid")} || ') ' ||
        case confdeltype when 'c' then 'cascade' when 'a' then 'no action' else confdeltype::text end
      else '' end as target
    from pg_constraint join pg_class c on c.oid = conrelid left join pg_class f on f.oid = confrelid
    where contype in ('p', 'u', 'f') and connamespace = 'public'::regnamespace`,
  indexes: `select t.relname as "table", i.relname as name, ${COLUMNS_OF("indkey::int2[]", "indrelid")} as columns,
      indisunique as "isUnique", pg_get_expr(indpred, indrelid) as "where"
    from pg_index join pg_class i on i.oid = indexrelid join pg_class t on t.oid = indrelid
    where i.relnamespace = 'public'::regnamespace
      and not exists (select 1 from pg_constraint where conindid = indexrelid and contype in ('p', 'u'))`,
};

/** Describes the database that `query` reads. */
export async function postgresShape(
  query: (sql: string) => Promise<{ readonly rows: unknown[] }>,
): Promise<SchemaShape> {
  return shapeOf({
    columns: (await query(POSTGRES.columns)).rows as FoundColumn[],
    keys: (await query(POSTGRES.keys)).rows as FoundKey[],
    indexes: (await query(POSTGRES.indexes)).rows as FoundIndex[],
  });
}
