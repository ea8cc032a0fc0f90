import assert from "node:assert/strict";
import { test } from "node:test";
import { PostgresCluster } from "../../bench/postgres-cluster.js";
import { openDatabase } from "../../storage/database.js";
import { tablesOf } from "../../storage/postgres/copy/source-file.js";
import { openSqliteFile } from "../../storage/sqlite/sqlite-file.js";
import { temporaryFile } from "../storage/temporary-file.js";

const COLUMNS = `select table_name as "table", column_name as "column" from information_schema.columns
  where table_schema = 'public' and table_name not like 'kysely_%' and table_name <> 'schemaState'
  and table_name not in ('nodes', 'nodeRuns', 'callSlots', 'onceTokens', 'commitMarks')`;

test("both databases have the same tables with the same columns, but for what several servers share", async () => {
  const file = await openSqliteFile(temporaryFile());
  const here = tablesOf(file).flatMap(({ name, columns }) =>
    columns.map((each) => `${name}.${each}`),
  );
  file.close();
  const cluster = await PostgresCluster.start();
  const url = await cluster.makeDatabase();
  await (await openDatabase({ filePath: temporaryFile(), url })).close();
  const { rows } = await cluster.query(COLUMNS, url);
  const there = rows.map((row: { table: string; column: string }) => `${row.table}.${row.column}`);
  assert.deepEqual(there.toSorted(), here.toSorted());
});
