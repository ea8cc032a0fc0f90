import * as v from "valibot";
import { newPool } from "../../../storage/postgres/postgres-pool.js";
import { notedMigrations, releasedMigrations } from "../schema/releases.js";

const Names = v.array(v.object({ name: v.string() }));
const TABLES = `select table_name as name from information_schema.tables
  where table_schema = 'public' and table_name not like 'kysely_%' and table_name <> 'schemaState'`;
const COLUMNS = `select column_name as name from information_schema.columns
  where table_schema = 'public' and table_name = $1`;

/**
 * Turns an empty database into one as left by the release with only the first migrations. Its rows are those of today's
 * database, as far as that release had tables and columns for them.
 */
export async function makeOldDatabase(
  todaysUrl: string,
  oldUrl: string,
  migrationCount: number,
): Promise<void> {
  const today = newPool(todaysUrl);
  const old = newPool(oldUrl, 1);
  const first = releasedMigrations("postgres").slice(0, migrationCount);
  for (const { sql } of first) await old.query(sql);
  await old.query(notedMigrations(first));
  await old.query(
    `insert into "schemaState" ("only", "version", "oldestBeside") values (true, $1, 1)`,
    [migrationCount],
  );
  // Rows are copied unchanged, including those that triggers maintain.
  await old.query("set session_replication_role = replica");
  for (const { name: table } of v.parse(Names, (await old.query(TABLES)).rows)) {
    const { rows } = await today.query(`select * from "${table}"`);
    const columns = v.parse(Names, (await old.query(COLUMNS, [table])).rows);
    const list = columns.map(({ name }) => `"${name}"`).join(", ");
    await old.query(
      `insert into "${table}" (${list}) overriding system value
        select ${list} from json_populate_recordset(null::"${table}", $1)`,
      [JSON.stringify(rows)],
    );
    if (!columns.some(({ name }) => name === "sequence")) continue;
    const place = `pg_get_serial_sequence('"${table}"', 'sequence')`;
    await old.query(
      `select setval(${place}, (select coalesce(max("sequence"), 1) from "${table}"))`,
    );
  }
  await Promise.all([today.end(), old.end()]);
}

/** Returns every row of every table, as an object; `tables` in the order of their names. */
export async function rowsOf(
  url: string,
  tables: readonly string[],
): Promise<Readonly<Record<string, readonly unknown[]>>> {
  const pool = newPool(url);
  const all: Record<string, readonly unknown[]> = {};
  for (const table of tables) {
    const { rows } = await pool.query(`select to_jsonb(t) as row from "${table}" t order by 1`);
    all[table] = rows.map(({ row }: { row: unknown }) => row);
  }
  await pool.end();
  return all;
}
