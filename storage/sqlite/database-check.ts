import { statSync } from "node:fs";
import * as v from "valibot";
import { missingIn } from "./open-store-file.js";
import { BUSY_TIMEOUT_MS, type SqliteFile } from "./sqlite-file.js";
import { Sqlite, SqliteError } from "./sqlite-library.js";

/** The most reported problems: SQLite may report damage for every page of the file. */
const FINDINGS_MAX = 100;

export interface TableCount {
  readonly table: string;
  readonly rows: number;
}

export interface DatabaseReport {
  readonly sizeBytes: number;
  /** The problems found, without values of rows; empty if the file is intact. */
  readonly findings: readonly string[];
  /** The number of rows of every readable table. */
  readonly counts: readonly TableCount[];
}

const Names = v.array(v.string());
const Orphans = v.array(v.object({ table: v.string(), parent: v.string() }));
const Totals = v.object({ calls: v.number(), counted: v.number() });

/**
 * Checks a snapshot of a database that may be in use for damage, without changing anything. It reads the whole
 * file, and blocks its process meanwhile: for commands, not for a server.
 */
export function checkDatabase(filePath: string): DatabaseReport {
  const sizeBytes = statSync(filePath).size;
  const findings: string[] = [];
  const counts: TableCount[] = [];
  const note = (what: string, look: () => void) => {
    try {
      look();
    } catch (error) {
      if (!(error instanceof SqliteError)) throw error;
      findings.push(`${what}: ${error.message}`);
    }
  };
  note("the file cannot be read", () => {
    const file = new Sqlite(filePath, { readonly: true, timeout: BUSY_TIMEOUT_MS });
    try {
      // One snapshot for all checks: a server's concurrent writes must not look like damage.
      file.exec("BEGIN");
      const tables = tablesOf(file);
      findings.push(...emptyFindings(tables));
      note("its pages", () => findings.push(...pageFindings(file)));
      note("its references", () => findings.push(...orphanFindings(file)));
      for (const table of tables) {
        note(`table ${table}`, () => counts.push({ table, rows: rowCount(file, table) }));
      }
      if (tables.includes("callTotals")) {
        note("the totals of calls", () => findings.push(...totalFindings(file)));
      }
    } finally {
      file.close();
    }
  });
  return { sizeBytes, findings: findings.slice(0, FINDINGS_MAX), counts };
}

function tablesOf(file: SqliteFile): readonly string[] {
  const sql =
    "select name from pragma_table_list where schema = 'main' and type = 'table' and name not like 'sqlite_%' order by name";
  return v.parse(Names, file.prepare(sql).pluck().all());
}

/** To SQLite an empty file is an intact database. */
function emptyFindings(tables: readonly string[]): readonly string[] {
  if (tables.length === 0)
    return ["it has no tables: the file is empty, or a copy that was cut off"];
  const missing = missingIn((name) => tables.includes(name));
  return missing.length === 0
    ? []
    : [`it is not a Parley database: no table ${missing.join(", ")}`];
}

function pageFindings(file: SqliteFile): readonly string[] {
  const lines = v.parse(Names, file.prepare(`pragma quick_check(${FINDINGS_MAX})`).pluck().all());
  return lines.filter((line) => line !== "ok");
}

/** Rows that refer to a missing one. */
function orphanFindings(file: SqliteFile): readonly string[] {
  const sql = 'select "table", parent from pragma_foreign_key_check';
  const countByPair = new Map<string, number>();
  for (const { table, parent } of v.parse(Orphans, file.prepare(sql).all())) {
    const pair = `rows of ${table} refer to a row of ${parent} that is missing`;
    countByPair.set(pair, (countByPair.get(pair) ?? 0) + 1);
  }
  return [...countByPair].map(([pair, count]) => `${count} ${pair}`);
}

function rowCount(file: SqliteFile, table: string): number {
  return v.parse(v.number(), file.prepare(`select count(*) from "${table}"`).pluck().get());
}

/** The pages of the call list use these totals, which triggers maintain. */
function totalFindings(file: SqliteFile): readonly string[] {
  const sql = `select (select count(*) from calls) as calls,
    (select coalesce(sum(calls), 0) from callTotals) as counted`;
  const { calls, counted } = v.parse(Totals, file.prepare(sql).get());
  return calls === counted ? [] : [`there are ${calls} calls, and callTotals says ${counted}`];
}
