import { Client } from "pg";
import * as v from "valibot";
import { openStoreFile } from "../sqlite/open-store-file.js";
import type { SqliteFile } from "../sqlite/sqlite-file.js";
import { SqliteError } from "../sqlite/sqlite-library.js";
import { storageAdvice } from "../sqlite/storage-advice.js";
import { StorageUnavailableError } from "../statements/storage-error.js";
import { addressOf } from "./postgres-address.js";
import { PostgresClaim } from "./postgres-claim.js";
import { faultOfPostgres, postgresFault } from "./postgres-fault.js";
import { connectionSettings, newPool } from "./postgres-pool.js";
import { updatePostgresSchema } from "./postgres-schema.js";
import { escapeText } from "./postgres-values.js";

/** Rows per request, whichever limit is reached first. */
const BATCH_ROWS_MAX = 1_000;
const BATCH_CHARS_MAX = 1_000_000;
/** Sums may differ by rounding, because the same numbers may be added in another order. */
const SUM_TOLERANCE = 1e-9;
/** The triggers of these tables maintain totals, which are copied as they are. */
const TABLES_WITH_TRIGGERS = ["calls", "auditEntries"];

export interface CopiedTable {
  readonly table: string;
  readonly rows: number;
}

const Ids = v.array(v.object({ id: v.string() }));
const ColumnNames = v.array(v.object({ name: v.string() }));

/**
 * Copies all data of a file to a PostgreSQL database, replacing an earlier copy: as one transaction, which is
 * committed if rows and sums of every table are the same on both sides. No server may be using either. Rejects
 * with `StorageUnavailableError` if it must not be done.
 */
export async function copyToPostgres(
  filePath: string,
  url: string,
): Promise<readonly CopiedTable[]> {
  const address = addressOf(url);
  const { file, claim } = await openStoreFile({ filePath, isServer: true, mustExist: true });
  try {
    return await copyInto(file, url, address);
  } catch (error) {
    if (error instanceof StorageUnavailableError) throw error;
    const advice =
      error instanceof SqliteError
        ? storageAdvice(filePath, error)
        : postgresFault(faultOfPostgres(error), address)?.advice;
    throw advice === undefined ? error : new StorageUnavailableError(advice, { cause: error });
  } finally {
    file.close();
    claim?.close();
  }
}

async function copyInto(file: SqliteFile, url: string, address: string) {
  const claim = await PostgresClaim.take(url, address);
  // The statement timeout is off: no request waits for the copy, and a large table takes minutes.
  const withoutTimeouts = { statement_timeout: 0, query_timeout: 0 };
  const target = new Client({ ...connectionSettings(url), ...withoutTimeouts });
  target.on("error", () => undefined);
  try {
    await prepare(url, address);
    await target.connect();
    const tables = tablesOf(file);
    await target.query("begin");
    await refuseOthersWork(file, target, address);
    for (const table of tables) await requireColumns(target, table);
    await setTriggers(target, "disable");
    await target.query(`truncate ${tables.map(({ name }) => `"${name}"`).join(", ")}`);
    for (const table of tables) await copyTable(file, target, table);
    await setTriggers(target, "enable");
    const copied: CopiedTable[] = [];
    for (const table of tables) {
      const { rows } = await requireSameRows(file, target, table);
      copied.push({ table: table.name, rows });
    }
    await target.query("commit");
    return copied;
  } finally {
    await target.end();
    await claim.close();
  }
}

async function prepare(url: string, address: string): Promise<void> {
  const pool = newPool(url, 1);
  try {
    await updatePostgresSchema(pool, address);
  } finally {
    await pool.end();
  }
}

/** Existing data is replaced only if all of it came from this file. */
async function refuseOthersWork(file: SqliteFile, target: Client, address: string): Promise<void> {
  for (const [table, what] of [
    ["organizations", "organizations that the file does not have"],
    ["runs", "been used by a server since"],
  ] as const) {
    const known = file.prepare(`select 1 from "${table}" where id = ?`);
    const { rows } = await target.query(`select "id" from "${table}"`);
    if (v.parse(Ids, rows).every(({ id }) => known.get(id) !== undefined)) continue;
    throw new StorageUnavailableError(
      `PostgreSQL at ${address} has ${what}: nothing was copied; give an empty database`,
    );
  }
}

/** A column that one side lacks would be lost silently. */
async function requireColumns(target: Client, { name, columns }: SourceTable): Promise<void> {
  const sql = `select column_name as name from information_schema.columns
    where table_schema = current_schema() and table_name = $1`;
  const there = v.parse(ColumnNames, (await target.query(sql, [name])).rows);
  const names = new Set(there.map((column) => column.name));
  const lost = columns.filter((column) => !names.has(column));
  if (lost.length > 0) {
    throw new StorageUnavailableError(
      `PostgreSQL's table ${name} has no column ${lost.join(", ")}: nothing was copied`,
    );
  }
}

async function setTriggers(target: Client, state: "enable" | "disable"): Promise<void> {
  for (const table of TABLES_WITH_TRIGGERS) {
    await target.query(`alter table "${table}" ${state} trigger user`);
  }
}

async function copyTable(file: SqliteFile, target: Client, table: SourceTable): Promise<void> {
  const { name, columns } = table;
  const sql = `insert into "${name}" select * from json_populate_recordset(null::"${name}", $1)`;
  let batch: string[] = [];
  let chars = 0;
  const flush = async () => {
    await target.query(sql, [`[${batch.join(",")}]`]);
    batch = [];
    chars = 0;
  };
  for (const row of file.prepare(`select * from "${name}"`).iterate()) {
    const text = JSON.stringify(withHexBytes(row), escaped);
    batch.push(text);
    chars += text.length;
    if (batch.length === BATCH_ROWS_MAX || chars >= BATCH_CHARS_MAX) await flush();
  }
  if (batch.length > 0) await flush();
  if (columns.includes("sequence")) {
    await target.query(
      `select setval(pg_get_serial_sequence('"${name}"', 'sequence'), coalesce(max("sequence"), 0) + 1, false)
       from "${name}"`,
    );
  }
}

/** JSON has no bytes; PostgreSQL reads them in this form. */
function withHexBytes(row: unknown): unknown {
  const columns = Object.entries(Object(row)).map(([name, value]: [string, unknown]) => [
    name,
    Buffer.isBuffer(value) ? `\\x${value.toString("hex")}` : value,
  ]);
  return Object.fromEntries(columns);
}

function escaped(_column: string, value: unknown): unknown {
  return typeof value === "string" ? escapeText(value) : value;
}

async function requireSameRows(
  file: SqliteFile,
  target: Client,
  table: SourceTable,
): Promise<TableMeasure> {
  const here = measureSource(file, table);
  const { rows } = await target.query(measureSql(table));
  const there = measureOf(rows[0]);
  const isSame =
    here.rows === there.rows &&
    here.sums.every((sum, index) => isClose(sum, there.sums[index] ?? Number.NaN));
  if (isSame) return there;
  throw new StorageUnavailableError(
    `the copy of ${table.name} is not the same (rows: ${there.rows} of ${here.rows}); nothing was kept of it`,
  );
}

function isClose(one: number, other: number): boolean {
  return Math.abs(one - other) <= SUM_TOLERANCE * Math.max(1, Math.abs(one));
}

/** One table of a file, with its columns in the file. */
export interface SourceTable {
  readonly name: string;
  readonly columns: readonly string[];
  readonly numbers: readonly string[];
}

/** The size of a table: its rows, and the sum of each numeric column. */
export interface TableMeasure {
  readonly rows: number;
  readonly sums: readonly number[];
}

const Names = v.array(v.string());
const Columns = v.array(v.object({ name: v.string(), type: v.string() }));

/** Tables that refer to others come after them. */
export function tablesOf(file: SqliteFile): readonly SourceTable[] {
  const sql = `select name from pragma_table_list where schema = 'main' and type = 'table'
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

/** The same query for both kinds of database. */
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
  const numbers = columns.filter(({ type }) => !["text", "blob"].includes(type.toLowerCase()));
  return {
    name,
    columns: columns.map((column) => column.name),
    numbers: numbers.map((column) => column.name),
  };
}
