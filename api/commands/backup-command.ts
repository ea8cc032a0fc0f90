import { existsSync } from "node:fs";
import { stat } from "node:fs/promises";
import { dirname, resolve } from "node:path";
import { SystemClock } from "../../engine/time/clock.js";
import { openDatabase } from "../../storage/database.js";
import { RequestFailed } from "../../storage/storage-failure.js";
import { type Command, parseCommandLine } from "./command.js";
import { CommandFault, UsageFault } from "./command-fault.js";
import {
  type CommandSettings,
  databaseFileOf,
  openExistingDatabase,
  readCommandSettings,
} from "./data-folder.js";
import { durationText, sizeText } from "./measures.js";

const USAGE = `Usage: npm run backup -- FILE

Copies the database in DATA_DIR (./data) to FILE, as it is at one moment, also while a server runs on it, and checks the
copy. An existing FILE is not overwritten. To restore: stop the server, remove parley.db-wal and parley.db-shm if they are
there, and put the copy in the place of parley.db.
Exit code: 0 done, 1 failed, 2 not understood.`;

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
        throw new UsageFault("give the name of one file to write to");
      }
      const clock = new SystemClock();
      const { dataDir } = readSettings();
      const target = resolve(file);
      refuseUnwritable(target, file);
      const beganAtMs = clock.monotonicMs();
      await copy(dataDir, target);
      const copiedAtMs = clock.monotonicMs();
      const organizationCount = await check(target, file);
      const { size } = await stat(target);
      terminal.print(
        `Copied ${databaseFileOf(dataDir)} to ${file}: ${sizeText(size)} in ${durationText(copiedAtMs - beganAtMs)}.`,
      );
      terminal.print(
        `The copy was opened and checked (organizations: ${organizationCount}). ENCRYPTION_KEY is not in it: keep that too.`,
      );
    },
  };
}

function refuseUnwritable(target: string, file: string): void {
  if (existsSync(target)) throw new CommandFault(`${file} exists already and is not overwritten`);
  if (!existsSync(dirname(target))) {
    throw new CommandFault(`there is no folder ${dirname(target)}`);
  }
}

async function copy(dataDir: string, target: string): Promise<void> {
  const database = await openExistingDatabase(dataDir);
  try {
    await database.backup(target);
  } catch (error) {
    if (!(error instanceof RequestFailed)) throw error;
    throw new CommandFault(`the copy could not be written: ${error.message}`);
  } finally {
    await database.close();
  }
}

/** The number of organizations in the copy, as a sign that it can be used. */
async function check(target: string, file: string): Promise<number> {
  try {
    const database = await openDatabase({ filePath: target });
    try {
      return (await database.organizations.list()).length;
    } finally {
      await database.close();
    }
  } catch (error) {
    throw new CommandFault(`${file} was written but cannot be used; do not rely on it`, {
      cause: error,
    });
  }
}
