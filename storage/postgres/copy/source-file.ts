import * as v from "valibot";
import type { SqliteFile } from "../../sqlite/sqlite-file.js";

/** One table of a file, with the columns that it has there. */
export interface SourceTable {
  readonly name: string;
  readonly columns: readonly string[];
  readonly numbers: readonly string[];
}

/** How much a table holds: its rows, and the sum of each column of numbers. */
export interface TableMeasure {
  readonly rows: number;
  readonly sums: readonly number[];
}

const Names = v.array(v.string());
const Columns = v.array(v.object({ name: v.string(), type: v.string() }));

/** Those that refer to others come after them. */
export function tablesOf(file: SqliteFile): readonly SourceTable[] {
  const sql = `select name from sqlite_schema where type = 'table'
    and name not like 'sqlite_%' and name not like 'kysely_%' order by name`;
  const waiting = new Set(v.parse(Names, file.prepare(sql).pluck().all()));
  const ordered = new Set<string>();
  while (waiting.size > 0) {
    const ready = [...waiting].filter((name) =>
      parentsOf(file, name).every((parent) => ordered.has(parent) || parent === name),
    );
    if (ready.length === 0) throw new Error("the tables refer to each other in a circle");
    for (const name of ready) {
      ordered.add(name);
      waiting.delete(name);
    }
  }
  return [...ordered].map((name) => tableOf(file, name));
}

export function measureSource(file: SqliteFile, table: SourceTable): TableMeasure {
  return measureOf(file.prepare(measureSql(table)).get());
}

/** The same question for both kinds of database. */
export function measureSql({ name, numbers }: SourceTable): string {
  const sums = numbers.map((column, index) => `, coalesce(sum("${column}"), 0) as "sum${index}"`);
  return `select count(*) as "rows"${sums.join("")} from "${name}"`;
}

export function measureOf(row: unknown): TableMeasure {
  const { rows, ...sums } = v.parse(v.objectWithRest({ rows: v.number() }, v.number()), row);
  return { rows, sums: Object.values(sums) };
}

function parentsOf(file: SqliteFile, name: string): readonly string[] {
  const sql = `select distinct "table" from pragma_foreign_key_list(?)`;
  return v.parse(Names, file.prepare(sql).pluck().all(name));
}

function tableOf(file: SqliteFile, name: string): SourceTable {
  const columns = v.parse(
    Columns,
    file.prepare("select name, type from pragma_table_info(?)").all(name),
  );
  const numbers = columns.filter(({ type }) => type.toLowerCase() !== "text");
  return {
    name,
    columns: columns.map((column) => column.name),
    numbers: numbers.map((column) => column.name),
  };
}
