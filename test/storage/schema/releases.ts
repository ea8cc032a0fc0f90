import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { gunzipSync } from "node:zlib";
import { packageRoot } from "../../../api/commands/livestream-local/package-root.js";
import type { DatabaseKind } from "../../../storage/schema/columns.js";

/**
 * Databases that earlier releases have left. `f0d55b19` is the last commit in which each kind of database had its own
 * migrations: a server of it took a call on the file, and its `copy` command filled PostgreSQL.
 */
const FOLDER = join(packageRoot(), "test/storage/schema/releases");

export async function writeReleasedFile(filePath: string): Promise<void> {
  await writeFile(filePath, gunzipSync(readFileSync(join(FOLDER, "f0d55b19.db.gz"))));
}

/** SQL that recreates the database in an empty one. */
export function releasedDump(): string {
  return gunzipSync(readFileSync(join(FOLDER, "f0d55b19.sql.gz"))).toString();
}

/** The row of an agent of `f0d55b19`, under the names that migration 018 gave its settings. */
export function releasedAgentToday(row: unknown): object {
  const { publicOrigins, thresholds, ...rest } = row as Readonly<Record<string, unknown>>;
  const { silenceTimeoutMs, maxCallDurationSec, interruptionSensitivity, endpointingMs, ...old } =
    JSON.parse(String(thresholds));
  const today = {
    silenceTimeoutMs,
    maxCallDurationSec,
    interruptionSensitivity,
    backchannels: "ignore",
    preemptiveGeneration: old.earlyReply,
    onProviderFailure: old.onVendorsLost,
    onUnrecognizedSpeech: old.onUnrecognizedSpeech,
    endpointingMs,
    maxEndpointingDelayMs: old.patienceMs,
    dtmfDigits: old.keypadDigits,
    fillerAfterMs: old.waitingWordMs,
    idleTimeoutMs: old.callerSilenceMs,
  };
  assert.equal(old.agreementWords, "ignored");
  return { ...rest, allowedOrigins: publicOrigins, thresholds: JSON.stringify(today) };
}

export interface ReleasedMigration {
  readonly name: string;
  readonly sql: string;
}

/** The migrations up to that commit, each with its statements. */
export function releasedMigrations(kind: DatabaseKind): readonly ReleasedMigration[] {
  const text = readFileSync(join(FOLDER, `${kind}-migrations.sql`), "utf8");
  return text
    .split(/^-- (?=\d{3}-)/m)
    .slice(1)
    .map((part) => {
      const end = part.indexOf("\n");
      return { name: part.slice(0, end), sql: part.slice(end) };
    });
}

/** The rows that Kysely's migrator has stored about the first of them. */
export function notedMigrations(migrations: readonly ReleasedMigration[]): string {
  const rows = migrations.map(({ name }) => `('${name}', '2026-01-01T00:00:00.000Z')`);
  return `create table kysely_migration (name varchar(255) not null primary key, timestamp varchar(255) not null);
    insert into kysely_migration values ${rows.join(", ")};`;
}
