import { Kysely, Migrator, PostgresDialect } from "kysely";
import type { Pool } from "pg";
import * as v from "valibot";
import { schemaVersion } from "../schema/migrations.js";
import { migrationsOf } from "../schema/schema.js";
import { type Fault, faultCodeOf, messageOf } from "../statements/fault.js";
import { StorageUnavailableError } from "../statements/storage-error.js";

export const POSTGRES_SCHEMA_VERSION = schemaVersion("postgres");

/**
 * The oldest schema version whose servers can use this one. A migration only adds (expand), and this number stays;
 * a later one removes what no release uses any more (contract), and raises it to the first version that does not
 * need it.
 */
export const OLDEST_VERSION_BESIDE = 1;

const State = v.tuple([v.object({ version: v.number(), oldestBeside: v.number() })]);
const Found = v.tuple([v.object({ found: v.boolean() })]);
interface SchemaState {
  readonly version: number;
  readonly oldestBeside: number;
}

/**
 * Runs the missing migrations as one transaction, under their own lock, so that two servers may start together.
 * Rejects with `StorageUnavailableError` if a newer release has removed what this one needs.
 */
export async function updatePostgresSchema(pool: Pool, address: string): Promise<void> {
  const state = await schemaState(pool);
  const newer = state && newerFault(state);
  if (newer !== undefined) {
    throw new StorageUnavailableError(
      `PostgreSQL at ${address} was made by a newer version of Parley: ${newer.message}. Start that version again, or restore a backup from before the upgrade`,
    );
  }
  if (state !== undefined && state.version >= POSTGRES_SCHEMA_VERSION) return;
  // Never destroyed: that would close the pool, and there is nothing else to release.
  const db = new Kysely<unknown>({ dialect: new PostgresDialect({ pool }) });
  const migrator = new Migrator({
    db,
    provider: { getMigrations: () => Promise.resolve(migrationsOf("postgres")) },
  });
  const { error } = await migrator.migrateToLatest();
  if (error !== undefined) {
    if (faultCodeOf(error).code !== "ERROR") throw error;
    throw new StorageUnavailableError(
      `PostgreSQL at ${address}: its schema could not be brought up to date: ${messageOf(error)}`,
      { cause: error },
    );
  }
  await pool.query(
    `insert into "schemaState" ("only", "version", "oldestBeside") values (true, $1, $2)
     on conflict ("only") do update set "version" = excluded."version", "oldestBeside" = excluded."oldestBeside"
     where "schemaState"."version" < excluded."version"`,
    [POSTGRES_SCHEMA_VERSION, OLDEST_VERSION_BESIDE],
  );
}

/**
 * Refuses a missing database that was restored or existed before: creating a new one would only hide that it is
 * missing.
 */
export async function requireTables(pool: Pool, address: string): Promise<void> {
  if (await hasTables(pool)) return;
  throw new StorageUnavailableError(
    `PostgreSQL at ${address} has no tables of Parley: look at DATABASE_URL, start the server once, or put a backup there`,
  );
}

/** Whether this version can continue; rejects if the database is unreachable. */
export async function newerSchema(pool: Pool): Promise<Fault | undefined> {
  const state = await schemaState(pool);
  return state && newerFault(state);
}

export async function hasTables(pool: Pick<Pool, "query">): Promise<boolean> {
  const { rows } = await pool.query(`select to_regclass('"schemaState"') is not null as found`);
  return v.parse(Found, rows)[0].found;
}

/** Returns undefined in an empty database. */
async function schemaState(pool: Pool): Promise<SchemaState | undefined> {
  if (!(await hasTables(pool))) return undefined;
  const { rows } = await pool.query(`select "version", "oldestBeside" from "schemaState"`);
  return rows.length === 0 ? undefined : v.parse(State, rows)[0];
}

function newerFault({ version, oldestBeside }: SchemaState) {
  if (oldestBeside <= POSTGRES_SCHEMA_VERSION) return undefined;
  const message = `its schema is ${version}, which needs ${oldestBeside} or later; this version has ${POSTGRES_SCHEMA_VERSION}`;
  return { kind: "other", code: "SCHEMA_NEWER", message } as const;
}
