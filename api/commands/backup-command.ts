import { existsSync } from "node:fs";
import { dirname, resolve } from "node:path";
import { SystemClock } from "../../engine/time/clock.js";
import { backupInThread } from "../../storage/sqlite/backup/backup-start.js";
import type { DatabaseReport } from "../../storage/sqlite/database-check.js";
import { StorageError } from "../../storage/statements/storage-error.js";
import { type Command, parseCommandLine } from "./command.js";
import { CommandError, UsageError } from "./command-error.js";
import {
  type CommandSettings,
  databaseFileOf,
  existingDatabaseFile,
  readCommandSettings,
} from "./data-folder.js";
import { durationText, sizeText } from "./measures.js";

const USAGE = `Usage: npm run backup -- FILE

Copies the database in DATA_DIR (./data) to FILE, as it is at one moment, also while a server runs on it, and checks the
copy. An existing FILE is not overwritten. To restore: stop the server, remove parley.db-wal and parley.db-shm if they are
there, put the copy in the place of parley.db, and start with DATABASE_START=restored.
Exit code: 0 done, 1 failed, 2 not understood.`;

const USE_PG_DUMP =
  "DATABASE_URL is set: back up PostgreSQL with pg_dump --format=custom, or as its operator does";

export function backupCommand(readSettings: () => CommandSettings = readCommandSettings): Command {
  return {
    usage: USAGE,
    async run(args, terminal) {
      const { positionals } = parseCommandLine({
        args: [...args],
        options: {},
        allowPositionals: true,
      });
      const [file] = positionals;
      if (file === undefined || positionals.length !== 1) {
        throw new UsageError("expected the name of one file to write to");
      }
      const clock = new SystemClock();
      const { dataDir, databaseUrl } = readSettings();
      if (databaseUrl !== undefined) throw new CommandError(USE_PG_DUMP);
      const target = resolve(file);
      refuseUnwritable(target, file);
      const beganAtMs = clock.monotonicMs();
      const { sizeBytes, counts } = await copy(dataDir, target);
      const copiedAtMs = clock.monotonicMs();
      const organizations = counts.find(({ table }) => table === "organizations")?.rows ?? 0;
      terminal.print(
        `Copied ${databaseFileOf(dataDir)} to ${file}: ${sizeText(sizeBytes)} in ${durationText(copiedAtMs - beganAtMs)}.`,
      );
      terminal.print(
        `The copy was opened and checked (organizations: ${organizations}). ENCRYPTION_KEY is not in it: keep that too.`,
      );
    },
  };
}

function refuseUnwritable(target: string, file: string): void {
  if (existsSync(target)) throw new CommandError(`${file} already exists and is not overwritten`);
  if (!existsSync(dirname(target))) {
    throw new CommandError(`there is no folder ${dirname(target)}`);
  }
}

/** Opened read-only: neither the database nor its copy is migrated, so the earlier version can still use both. */
async function copy(dataDir: string, targetPath: string): Promise<DatabaseReport> {
  const sourcePath = resolve(existingDatabaseFile(dataDir));
  try {
    return await backupInThread({ sourcePath, targetPath });
  } catch (error) {
    if (!(error instanceof StorageError)) throw error;
    throw new CommandError(`the copy could not be written: ${error.message}`);
  }
}
