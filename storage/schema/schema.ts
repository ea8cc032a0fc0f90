import {
  type ColumnDefinitionBuilder,
  type CreateTableBuilder,
  type Kysely,
  type Migration,
  sql,
} from "kysely";
import * as v from "valibot";
import { tables } from "../tables.js";
import { COLUMN_TYPES, type Column, type DatabaseKind, type Table } from "./columns.js";
import { migrationNames, migrations, type RenamedField, type SchemaChange } from "./migrations.js";
import { postgresFunctions, postgresTables, sqliteTables, triggers } from "./triggers.js";

/** For Kysely's migrator: every migration by name. */
export function migrationsOf(kind: DatabaseKind): Record<string, Migration> {
  const steps = migrationNames(kind).map((name): [string, Migration] => [
    name,
    { up: async (db) => migrations[name]?.(new Schema(db, kind)) },
  ]);
  return Object.fromEntries(steps);
}

const COLUMNS = {
  sqlite: `select t.name as "table", c.name as "column" from sqlite_schema t, pragma_table_info(t.name) c
    where t.type = 'table'`,
  postgres: `select table_name as "table", column_name as "column" from information_schema.columns
    where table_schema = current_schema()`,
};

const INDEXES_AND_TRIGGERS = {
  sqlite: "select name from sqlite_schema where type in ('index', 'trigger')",
  postgres: `select indexname as name from pg_indexes where schemaname = current_schema()
    union all select trigger_name from information_schema.triggers where trigger_schema = current_schema()`,
};

/** SQLite does not name checks: they are read from the definition of their table. */
const CHECKS = {
  sqlite: `select name as "table", null as "check", sql as "text" from sqlite_schema where type = 'table'`,
  postgres: `select relname as "table", conname as "check", pg_get_constraintdef(pg_constraint.oid) as "text"
    from pg_constraint join pg_class on pg_class.oid = conrelid join pg_namespace on pg_namespace.oid = relnamespace
    where contype = 'c' and nspname = current_schema()`,
};

/** Bounds the memory that a migration of a large table takes. */
const ROWS_AT_ONCE = 500;

const FoundJson = v.array(v.object({ id: v.string(), json: v.string() }));
const JsonObject = v.record(v.string(), v.unknown());
const FoundColumns = v.array(v.object({ table: v.string(), column: v.string() }));
const FoundNames = v.array(v.object({ name: v.string() }));
const FoundChecks = v.array(
  v.object({ table: v.string(), check: v.nullable(v.string()), text: v.string() }),
);

/** The schema of one database: `tables.ts` describes it for both, and Kysely's schema builder creates it. */
export class Schema implements SchemaChange {
  readonly kind: DatabaseKind;
  readonly #db: Kysely<unknown>;

  constructor(db: Kysely<unknown>, kind: DatabaseKind) {
    this.#db = db;
    this.kind = kind;
  }

  async run(statement: string): Promise<void> {
    await sql.raw(statement).execute(this.#db);
  }

  async create(): Promise<void> {
    for (const [name, table] of Object.entries<Table>(tables)) await this.#createTable(name, table);
    await this.#createOwn(new Map());
    await this.#createIndexesAndTriggers(new Set());
  }

  async align(): Promise<void> {
    const columnsByTable = await this.#columnsByTable();
    for (const [name, table] of Object.entries<Table>(tables)) {
      const found = columnsByTable.get(name);
      if (found === undefined) await this.#createTable(name, table);
      else await this.#addColumns(name, table, found);
    }
    await this.#createOwn(columnsByTable);
    await this.#widenLists(columnsByTable);
    const found = v.parse(FoundNames, await this.#rowsOf(INDEXES_AND_TRIGGERS));
    await this.#createIndexesAndTriggers(new Set(found.map(({ name }) => name)));
  }

  async moveColumn(table: string, from: string, to: string): Promise<void> {
    if ((await this.#columnsByTable()).get(table)?.has(from) !== true) return;
    await sql`update ${sql.table(table)} set ${sql.ref(to)} = ${sql.ref(from)}`.execute(this.#db);
    await this.#db.schema.alterTable(table).dropColumn(from).execute();
  }

  async renameJson(table: string, column: string, names: readonly RenamedField[]): Promise<void> {
    const hasOne = sql.join(
      names.flatMap(patternsOf).map((pattern) => sql`${sql.ref(column)} like ${pattern}`),
      sql` or `,
    );
    for (let lastId = ""; ; ) {
      const { rows } =
        await sql`select id, ${sql.ref(column)} as json from ${sql.table(table)} where id > ${lastId} and (${hasOne})
          order by id limit ${ROWS_AT_ONCE}`.execute(this.#db);
      const found = v.parse(FoundJson, rows);
      for (const { id, json } of found) {
        const renamed = JSON.stringify(renamedFields(json, names));
        await sql`update ${sql.table(table)} set ${sql.ref(column)} = ${renamed} where id = ${id}`.execute(
          this.#db,
        );
      }
      lastId = found.at(-1)?.id ?? "";
      if (found.length < ROWS_AT_ONCE) return;
    }
  }

  async #createTable(name: string, table: Table, createdName = name): Promise<void> {
    let builder: CreateTableBuilder<string, string> = this.#db.schema.createTable(createdName);
    for (const [columnName, column] of Object.entries(table.columns)) {
      builder = builder.addColumn(columnName, this.#typeOf(column), (built) =>
        withRules(built, columnName, column),
      );
      const { isPrimaryKey, isUnique } = column.shape;
      if (isPrimaryKey) builder = withPrimaryKey(builder, name, [columnName]);
      if (isUnique) builder = withUnique(builder, name, [columnName]);
    }
    if (table.primaryKey !== undefined) builder = withPrimaryKey(builder, name, table.primaryKey);
    for (const columns of table.uniques ?? []) builder = withUnique(builder, name, columns);
    if (this.kind === "sqlite") {
      builder = builder.modifyEnd(table.withoutRowid ? sql`strict, without rowid` : sql`strict`);
    }
    await builder.execute();
  }

  async #addColumns(name: string, table: Table, found: ReadonlySet<string>): Promise<void> {
    for (const [columnName, column] of Object.entries(table.columns)) {
      if (found.has(columnName)) continue;
      await this.#db.schema
        .alterTable(name)
        .addColumn(columnName, this.#typeOf(column), (built) =>
          withRules(built, columnName, column),
        )
        .execute();
    }
  }

  #typeOf({ shape }: Column<unknown>) {
    return sql.raw(COLUMN_TYPES[shape.type][this.kind]);
  }

  /** The operations that only one kind of database has. */
  async #createOwn(found: ReadonlyMap<string, unknown>): Promise<void> {
    if (this.kind === "sqlite") {
      for (const [name, statement] of Object.entries(sqliteTables)) {
        if (!found.has(name)) await this.run(statement);
      }
      return;
    }
    for (const statement of postgresFunctions) await this.run(statement);
    for (const [name, statements] of Object.entries(postgresTables)) {
      if (found.has(name)) continue;
      for (const statement of statements) await this.run(statement);
    }
  }

  /** Recreates a closed list of an earlier release that lacks current values. */
  async #widenLists(found: ReadonlyMap<string, unknown>): Promise<void> {
    const checks = v.parse(FoundChecks, await this.#rowsOf(CHECKS));
    for (const [name, table] of Object.entries<Table>(tables)) {
      if (!found.has(name)) continue;
      const here = checks.filter((check) => check.table === name);
      for (const [columnName, { shape }] of Object.entries(table.columns)) {
        const { type, values } = shape;
        if (type !== "text" || values === undefined) continue;
        const check = this.#listOf(here, name, columnName);
        if (values.every((value) => check?.includes(`'${value}'`))) continue;
        await this.#widenList(name, table, columnName, values);
      }
    }
  }

  #listOf(
    checks: v.InferOutput<typeof FoundChecks>,
    table: string,
    column: string,
  ): string | undefined {
    if (this.kind === "postgres") {
      return checks.find(({ check }) => check === checkName(table, column))?.text;
    }
    return new RegExp(`"?\\b${column}"? in \\(([^)]*)\\)`).exec(checks[0]?.text ?? "")?.[1];
  }

  async #widenList(
    name: string,
    table: Table,
    column: string,
    values: readonly unknown[],
  ): Promise<void> {
    if (this.kind === "sqlite") {
      await this.#rebuildTable(name, table);
      return;
    }
    const change = this.#db.schema.alterTable(name);
    await change.dropConstraint(checkName(name, column)).execute();
    await change.addCheckConstraint(checkName(name, column), isIn(column, values)).execute();
  }

  /**
   * SQLite cannot change a check of a table: its rows are copied. Its indexes and triggers are dropped with the
   * old one.
   */
  async #rebuildTable(name: string, table: Table): Promise<void> {
    const rebuilt = `${name}Rebuilt`;
    await this.#createTable(name, table, rebuilt);
    const columns = sql.join(Object.keys(table.columns).map((column) => sql.ref(column)));
    await sql`insert into ${sql.table(rebuilt)} (${columns}) select ${columns} from ${sql.table(name)}`.execute(
      this.#db,
    );
    await this.#db.schema.dropTable(name).execute();
    await this.#db.schema.alterTable(rebuilt).renameTo(name).execute();
  }

  async #createIndexesAndTriggers(found: ReadonlySet<string>): Promise<void> {
    for (const [name, { indexes = {} }] of Object.entries<Table>(tables)) {
      for (const [indexName, index] of Object.entries(indexes)) {
        if (found.has(indexName)) continue;
        const { columns, where, isUnique } = "columns" in index ? index : { columns: index };
        let builder = this.#db.schema
          .createIndex(indexName)
          .on(name)
          .columns([...columns]);
        if (isUnique) builder = builder.unique();
        if (where !== undefined) builder = builder.where(sql.raw<boolean>(where));
        await builder.execute();
      }
    }
    for (const [name, statement] of Object.entries(triggers[this.kind])) {
      if (!found.has(name)) await this.run(statement);
    }
  }

  async #columnsByTable(): Promise<ReadonlyMap<string, ReadonlySet<string>>> {
    const columnsByTable = new Map<string, Set<string>>();
    for (const { table, column } of v.parse(FoundColumns, await this.#rowsOf(COLUMNS))) {
      const columns = columnsByTable.get(table) ?? new Set();
      columnsByTable.set(table, columns.add(column));
    }
    return columnsByTable;
  }

  async #rowsOf(query: Readonly<Record<DatabaseKind, string>>): Promise<readonly unknown[]> {
    return (await sql.raw(query[this.kind]).execute(this.#db)).rows;
  }
}

/** Patterns for the text of a JSON object that contains the field, or a changed value if the field keeps its name. */
function patternsOf({ from, to, values = {} }: RenamedField): readonly string[] {
  if (from !== to) return [`%"${from}":%`];
  return Object.keys(values).map((value) => `%"${from}":"${value}"%`);
}

/** Keeps the order of the fields. If an object has both names, the value under the new one is kept. */
function renamedFields(json: string, names: readonly RenamedField[]): object {
  const renamed = renamedIn(v.parse(JsonObject, JSON.parse(json)), names, undefined);
  for (const list of new Set(names.map(({ inEachOf }) => inEachOf))) {
    const items = list === undefined ? undefined : renamed[list];
    if (list === undefined || !Array.isArray(items)) continue;
    renamed[list] = items.map((item) =>
      v.is(JsonObject, item) ? renamedIn(item, names, list) : item,
    );
  }
  return renamed;
}

function renamedIn(
  object: Readonly<Record<string, unknown>>,
  names: readonly RenamedField[],
  list: string | undefined,
): Record<string, unknown> {
  const entries = Object.entries(object).flatMap(([name, value]): [string, unknown][] => {
    const rename = names.find(({ from, inEachOf }) => from === name && inEachOf === list);
    if (rename === undefined) return [[name, value]];
    if (rename.to !== name && rename.to in object) return [];
    return [[rename.to, (typeof value === "string" ? rename.values?.[value] : undefined) ?? value]];
  });
  return Object.fromEntries(entries);
}

function withRules(
  built: ColumnDefinitionBuilder,
  name: string,
  { shape }: Column<unknown>,
): ColumnDefinitionBuilder {
  const { isNullable, values, references, defaultValue } = shape;
  let builder = isNullable ? built : built.notNull();
  if (defaultValue !== undefined) builder = builder.defaultTo(sql.lit(defaultValue));
  if (values !== undefined) builder = builder.check(isIn(name, values));
  if (references === undefined) return builder;
  builder = builder.references(references.target);
  return references.isDeletedWith ? builder.onDelete("cascade") : builder;
}

function isIn(column: string, values: readonly unknown[]) {
  return sql`${sql.ref(column)} in (${sql.join(values.map((value) => sql.lit(value)))})`;
}

function checkName(table: string, column: string): string {
  return `${table}_${column}_check`;
}

/** Rules are named by their table and columns, from which a violation is parsed. */
function ruleName(table: string, columns: readonly string[]): string {
  return `${table}(${columns.join(",")})`;
}

function withPrimaryKey(
  builder: CreateTableBuilder<string, string>,
  table: string,
  columns: readonly string[],
) {
  return builder.addPrimaryKeyConstraint(ruleName(table, columns), [...columns]);
}

function withUnique(
  builder: CreateTableBuilder<string, string>,
  table: string,
  columns: readonly string[],
) {
  return builder.addUniqueConstraint(ruleName(table, columns), [...columns]);
}
