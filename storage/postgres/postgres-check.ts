import { Client } from "pg";
import * as v from "valibot";
import { StorageUnavailableError } from "../statements/storage-error.js";
import { addressOf } from "./postgres-address.js";
import { faultOfPostgres, postgresFault } from "./postgres-fault.js";
import { connectionSettings } from "./postgres-pool.js";
import { hasTables } from "./postgres-schema.js";

export interface PostgresReport {
  readonly sizeBytes: number;
  /** The problems found; empty if the totals are right. PostgreSQL itself takes care of pages and references. */
  readonly findings: readonly string[];
  readonly counts: readonly { readonly table: string; readonly rows: number }[];
}

const Names = v.array(v.object({ name: v.string() }));
const Numbers = v.tuple([v.object({ one: v.number(), other: v.number() })]);

const TABLES = `select table_name as name from information_schema.tables
  where table_schema = current_schema() and table_type = 'BASE TABLE' order by table_name`;
/** Tables of totals maintained by triggers, each with the rows that it counts. */
const TOTALS = [
  ["callTotals", "calls", `select count(*) from "calls"`],
  ["auditTotals", "entries", `select count(*) from "auditEntries" where "orgId" is not null`],
] as const;

/**
 * Counts all rows in one snapshot, while a server may run. Rejects with `StorageUnavailableError` if the database
 * cannot be read.
 */
export async function checkPostgres(url: string): Promise<PostgresReport> {
  const address = addressOf(url);
  const withoutTimeouts = { statement_timeout: 0, query_timeout: 0 };
  const client = new Client({ ...connectionSettings(url), ...withoutTimeouts });
  client.on("error", () => undefined);
  try {
    await client.connect();
    if (!(await hasTables(client))) {
      throw new StorageUnavailableError(`PostgreSQL at ${address} has no tables of Parley`);
    }
    await client.query("begin isolation level repeatable read read only");
    return await report(client);
  } catch (error) {
    const fault = error instanceof StorageUnavailableError ? undefined : faultOfPostgres(error);
    const advice = postgresFault(fault, address)?.advice;
    throw advice === undefined ? error : new StorageUnavailableError(advice, { cause: error });
  } finally {
    await client.end();
  }
}

async function report(client: Client): Promise<PostgresReport> {
  const counts: { table: string; rows: number }[] = [];
  for (const { name: table } of v.parse(Names, (await client.query(TABLES)).rows)) {
    const { one: rows } = await twoNumbers(client, `(select count(*) from "${table}")`, "0");
    counts.push({ table, rows });
  }
  const findings: string[] = [];
  for (const [table, column, count] of TOTALS) {
    const total = `(select coalesce(sum("${column}"), 0) from "${table}")`;
    const { one, other } = await twoNumbers(client, total, `(${count})`);
    if (one !== other) findings.push(`there are ${other} ${column}, and ${table} says ${one}`);
  }
  const { one: sizeBytes } = await twoNumbers(client, "pg_database_size(current_database())", "0");
  return { sizeBytes, findings, counts };
}

async function twoNumbers(client: Client, one: string, other: string) {
  const { rows } = await client.query(
    `select (${one})::double precision as one, (${other})::double precision as other`,
  );
  return v.parse(Numbers, rows)[0];
}
