import type { TestContext } from "node:test";
import { openDatabase } from "../../../storage/database.js";
import { measureSql, tablesOf } from "../../../storage/postgres/copy-to-postgres.js";
import { POSTGRES_SCHEMA_VERSION } from "../../../storage/postgres/postgres-schema.js";
import { Sqlite } from "../../../storage/sqlite/sqlite-library.js";
import { callRecord, insertOrganizations, usageRecord } from "../sample-records.js";
import { createDatabaseFile, temporaryFile } from "../temporary-file.js";
import { type Row, ScriptedServer, type Told } from "./scripted-server.js";

const ROW = /^insert into "(\w+)" select \* from json_populate_recordset/;

/** A file with some rows, and an empty PostgreSQL database that has its tables and accepts inserts. */
export async function copiedFile(context: TestContext) {
  const filePath = temporaryFile();
  await createDatabaseFile(filePath);
  const database = await openDatabase({ filePath });
  await insertOrganizations(database);
  await database.calls.start(callRecord(), "run");
  await database.close();
  const file = new Sqlite(filePath);
  context.after(() => file.close());
  const usage = usageRecord();
  file
    .prepare(`insert into dailyUsage (${Object.keys(usage).join()}) values (?, ?, ?, ?, ?, ?, ?)`)
    .run(...Object.values(usage));
  const server = await ScriptedServer.start(context);
  const tables = new Map(tablesOf(file).map((table) => [measureSql(table), table.name]));
  const other = {
    /** The rows that the database already has, by table. */
    ids: {} as Readonly<Record<string, readonly string[]>>,
    lacks: [] as readonly string[],
    schema: { version: POSTGRES_SCHEMA_VERSION, oldestBeside: 1 },
    /** The measurements that the database reports, if they differ from the file's. */
    measured: (_table: string, row: Row): Row => row,
    refuse: (_told: Told): void => undefined,
  };
  server.answer = (told) => {
    const { sql, values } = told;
    other.refuse(told);
    if (sql.startsWith("select pg_try")) return [{ taken: true, shared: true, lasting: true }];
    if (sql.startsWith("select to_regclass")) return [{ found: true }];
    if (sql.includes('from "schemaState"')) return [other.schema];
    const [, asked] = /^select "id" from "(\w+)"/.exec(sql) ?? [];
    if (asked !== undefined) return (other.ids[asked] ?? []).map((id) => ({ id }));
    if (sql.includes("information_schema.columns")) {
      const names = file.prepare("select name from pragma_table_info(?)").pluck().all(values[0]);
      return names
        .map((name) => ({ name: String(name) }))
        .filter(({ name }) => !other.lacks.includes(`${values[0]}.${name}`));
    }
    const measured = tables.get(sql);
    // Sums of numbers: the same statement runs on the file.
    return measured === undefined ? [] : [other.measured(measured, file.prepare(sql).get() as Row)];
  };
  /** The inserted rows, by table, in the batches in which they arrived. */
  const batches = (table: string): readonly (readonly Readonly<Record<string, unknown>>[])[] =>
    server.told
      .filter(({ sql }) => ROW.exec(sql)?.[1] === table)
      .map(({ values }) => JSON.parse(values[0] ?? ""));
  return { filePath, file, server, other, batches, tables: [...tables.values()] };
}
