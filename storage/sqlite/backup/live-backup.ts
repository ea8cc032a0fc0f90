import { access, link, mkdtemp, open, readdir, rename, rm, stat } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import { faultCodeOf } from "../../statements/fault.js";
import { checkDatabase, type DatabaseReport } from "../database-check.js";
import { type OpenFile, openFile } from "../server-claim.js";
import { BUSY_TIMEOUT_MS, FILE_MODE } from "../sqlite-file.js";
import { Sqlite } from "../sqlite-library.js";

/** Pages copied per step (4 MiB). */
const STEP_PAGES = 1024;

/** Errors of file systems without hard links, such as FAT and some network shares. */
const WITHOUT_LINKS: ReadonlySet<string> = new Set(["EPERM", "ENOTSUP", "EOPNOTSUPP", "ENOSYS"]);

/**
 * Copies a snapshot of a database that is being written to, and reports what is in the copy. It reads through a
 * connection of its own that holds one snapshot, so that writers neither wait nor restart the copying. The copy
 * appears under its name when it is complete, checked and on the disk, so that a killed process leaves all or
 * nothing; an existing file is never touched. Blocks its thread: not for the storage thread.
 */
export async function backupDatabase(
  sourcePath: string,
  targetPath: string,
): Promise<DatabaseReport> {
  await refuseExisting(targetPath);
  const partial = await PartialCopy.create(targetPath);
  try {
    await createEmpty(partial.path);
    await copySnapshot(sourcePath, partial.path);
    const report = checkDatabase(partial.path);
    if (report.findings.length > 0) {
      throw new Error(`the copy is incomplete: ${report.findings.join("; ")}`);
    }
    await flush(partial.path);
    await publish(partial.path, targetPath);
    await flush(dirname(targetPath));
    return report;
  } finally {
    await partial.remove();
  }
}

async function createEmpty(filePath: string): Promise<void> {
  const file = await open(filePath, "wx", FILE_MODE);
  await file.close();
}

async function copySnapshot(sourcePath: string, targetPath: string): Promise<void> {
  const source = new Sqlite(sourcePath, { readonly: true, timeout: BUSY_TIMEOUT_MS });
  try {
    source.exec("BEGIN");
    source.prepare("select count(*) from sqlite_schema").get();
    await source.backup(targetPath, { progress: () => STEP_PAGES });
  } finally {
    source.close();
  }
}

/** Makes a file's content, or a folder's names, survive a power cut. */
async function flush(path: string): Promise<void> {
  const file = await open(path, "r");
  try {
    await file.sync();
  } finally {
    await file.close();
  }
}

/** Renames the complete copy atomically; fails if the file exists by now. */
async function publish(partialPath: string, targetPath: string): Promise<void> {
  try {
    await link(partialPath, targetPath);
  } catch (error) {
    const { code } = faultCodeOf(error);
    if (code === "EEXIST") throw alreadyThere();
    if (!WITHOUT_LINKS.has(code)) throw error;
    // Moves the complete copy without hard links; a file that has appeared under this name within the last moment would
    // be overwritten.
    await refuseExisting(targetPath);
    await rename(partialPath, targetPath);
  }
}

async function refuseExisting(filePath: string): Promise<void> {
  const exists = await access(filePath).then(
    () => true,
    () => false,
  );
  if (exists) throw alreadyThere();
}

function alreadyThere(): Error {
  return new Error("the backup's file already exists and is not overwritten");
}

const MARK = ".partial-";
/** The suffix of a file's name: the mark, then six characters of `mkdtemp`. */
const NAME = /\.partial-[A-Za-z0-9]{6}$/;
const COPY = "copy.db";
const LOCK = "copy.lock";
/** The possible files of an incomplete copy. */
const PARTS: ReadonlySet<string> = new Set(
  [COPY, LOCK].flatMap((name) => ["", "-journal", "-wal", "-shm"].map((end) => `${name}${end}`)),
);

/**
 * A younger folder without a copy may belong to a process that does not hold its lock yet. In a folder with lock
 * and copy, a free lock means that its process is dead, however young it is.
 */
const AGE_MIN_MS = 60_000;

/** An incomplete copy, in a folder next to its final place. Its lock shows when the process that made it has died. */
export class PartialCopy {
  readonly path: string;
  readonly #folder: string;
  readonly #lock: OpenFile | undefined;

  /** Removes what killed processes have left in the same place. */
  static async create(targetPath: string): Promise<PartialCopy> {
    const folder = await mkdtemp(`${targetPath}${MARK}`);
    const partial = new PartialCopy(folder, openFile(join(folder, LOCK)));
    // Measured by the clock of the disk that contains both.
    const { mtimeMs } = await stat(folder);
    await removeDead(dirname(targetPath), mtimeMs - AGE_MIN_MS);
    return partial;
  }

  private constructor(folder: string, lock: OpenFile | undefined) {
    this.path = join(folder, COPY);
    this.#folder = folder;
    this.#lock = lock;
  }

  async remove(): Promise<void> {
    await rm(this.#folder, { recursive: true });
    this.#lock?.close();
  }
}

async function removeDead(folder: string, madeBeforeMs: number): Promise<void> {
  for (const name of await readdir(folder)) {
    const path = join(folder, name);
    if (!NAME.test(name)) continue;
    const found = await stat(path).catch(() => undefined);
    if (found !== undefined) await removeIfDead(path, found.mtimeMs < madeBeforeMs);
  }
}

/** Removes only what a backup creates, and only if no process is using it. */
async function removeIfDead(folder: string, isOld: boolean): Promise<void> {
  const names = await readdir(folder).catch(() => [basename(folder)]);
  if (!names.every((name) => PARTS.has(name))) return;
  if (!isOld && !(names.includes(COPY) && names.includes(LOCK))) return;
  const lock = openIfPresent(folder);
  if (lock === undefined) return;
  await rm(folder, { recursive: true, force: true });
  lock.close();
}

/** Also returns undefined for a folder that its own process has removed by now. */
function openIfPresent(folder: string): OpenFile | undefined {
  try {
    return openFile(join(folder, LOCK));
  } catch {
    return undefined;
  }
}
