import { BucketFault } from "../../engine/bucket/bucket-fault.js";
import { SystemClock } from "../../engine/time/clock.js";
import { addressOf } from "../../storage/postgres/postgres-address.js";
import { checkDatabase } from "../../storage/sqlite/database-check.js";
import { checkRecordings } from "../start-up/recordings-bucket.js";
import { CommandFault } from "./command-fault.js";
import { type CommandSettings, existingDatabaseFile } from "./data-folder.js";
import { sizeText } from "./measures.js";
import type { Terminal } from "./terminal.js";
import { printTable } from "./text-table.js";

interface CheckedStore {
  readonly sizeBytes: number;
  readonly findings: readonly string[];
  readonly counts: readonly { readonly table: string; readonly rows: number }[];
  readonly damaged: string;
}

/** Reads the whole database, and tries the bucket of recordings; rejects with a CommandFault that says what is wrong. */
export async function checkStore(settings: CommandSettings, terminal: Terminal): Promise<void> {
  const { sizeBytes, findings, counts, damaged } = await checked(settings);
  if (counts.length > 0) {
    const rows = counts.map(({ table, rows }) => [{ text: table }, { text: String(rows) }]);
    printTable(terminal, ["table", "rows"], rows);
  }
  if (findings.length > 0) {
    const list = findings.map((finding) => `  ${finding}`).join("\n");
    throw new CommandFault(`${damaged}:\n${list}`);
  }
  terminal.print(`The database is whole (${sizeText(sizeBytes)}).`);
  const place = await checkRecordings(settings, new SystemClock()).catch((error: unknown) => {
    throw error instanceof BucketFault ? new CommandFault(error.message) : error;
  });
  if (place !== undefined) terminal.print(`Recordings can be written to ${place}.`);
}

async function checked({ dataDir, databaseUrl }: CommandSettings): Promise<CheckedStore> {
  if (databaseUrl !== undefined) {
    const { checkPostgres } = await import("../../storage/postgres/postgres-check.js");
    const damaged = `the totals at ${addressOf(databaseUrl)} are wrong; restore a backup, or count them anew`;
    return { ...(await checkPostgres(databaseUrl)), damaged };
  }
  const filePath = existingDatabaseFile(dataDir);
  const damaged = `${filePath} is damaged; restore a backup, or save what can be read with SQLite's .recover`;
  return { ...checkDatabase(filePath), damaged };
}
