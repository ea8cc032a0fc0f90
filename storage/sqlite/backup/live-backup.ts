import { access, link, mkdtemp, open, readdir, rename, rm, stat } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import { faultCodeOf } from "../../statements/fault.js";
import { checkDatabase, type DatabaseReport } from "../database-check.js";
import { type OpenFile, openFile } from "../server-claim.js";
import { BUSY_TIMEOUT_MS, FILE_MODE } from "../sqlite-file.js";
import { Sqlite } from "../sqlite-library.js";

/** Copied at a time (4 MiB). */
const STEP_PAGES = 1024;

/** What file systems without hard links say: FAT, some network shares. */
const WITHOUT_LINKS: ReadonlySet<string> = new Set(["EPERM", "ENOTSUP", "EOPNOTSUPP", "ENOSYS"]);

/**
 * Copies a database that is being written to, as it was at one moment, and tells what was found in the copy. It reads through
 * a connection of its own that holds one snapshot, so that writers neither wait nor make the copying start again. The copy
 * appears under its name when it is whole, checked and on the disk, so that a process that is killed leaves the whole or
 * nothing; a file that has this name already is never touched. Blocks its thread: not for the storage thread.
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

/** Until the power may be cut: a file by its content, a folder by its names. */
async function flush(path: string): Promise<void> {
  const file = await open(path, "r");
  try {
    await file.sync();
  } finally {
    await file.close();
  }
}

/** Gives the whole copy its name at once; fails when a file has that name by now. */
async function publish(partialPath: string, targetPath: string): Promise<void> {
  try {
    await link(partialPath, targetPath);
  } catch (error) {
    const { code } = faultCodeOf(error);
    if (code === "EEXIST") throw alreadyThere();
    if (!WITHOUT_LINKS.has(code)) throw error;
    // Whole too, but a file that has come by this name within the last moment would be overwritten.
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
/** What is added to a file's name: the mark, then six characters of `mkdtemp`. */
const NAME = /\.partial-[A-Za-z0-9]{6}$/;
const COPY = "copy.db";
const LOCK = "copy.lock";
/** What a copy that was begun can consist of. */
const PARTS: ReadonlySet<string> = new Set(
  [COPY, LOCK].flatMap((name) => ["", "-journal", "-wal", "-shm"].map((end) => `${name}${end}`)),
);

/**
 * A younger folder without a copy may belong to a process that does not hold its lock yet. One with lock and copy was held: where
 * the lock is free, its process is dead, however young it is.
 */
const AGE_MIN_MS = 60_000;

/** A copy that is not whole yet, in a folder beside its later place. The system says when the process that made it died. */
export class PartialCopy {
  readonly path: string;
  readonly #folder: string;
  readonly #lock: OpenFile | undefined;

  /** Removes what killed processes have left in the same place. */
  static async create(targetPath: string): Promise<PartialCopy> {
    const folder = await mkdtemp(`${targetPath}${MARK}`);
    const partial = new PartialCopy(folder, openFile(join(folder, LOCK)));
    // By the clock of the disk that both are on.
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

/** Nothing but what a backup makes is removed, and nothing that a process is still at work on. */
async function removeIfDead(folder: string, isOld: boolean): Promise<void> {
  const names = await readdir(folder).catch(() => [basename(folder)]);
  if (!names.every((name) => PARTS.has(name))) return;
  if (!isOld && !(names.includes(COPY) && names.includes(LOCK))) return;
  const lock = openIfPresent(folder);
  if (lock === undefined) return;
  await rm(folder, { recursive: true, force: true });
  lock.close();
}

/** Undefined also for a folder that its own process has removed by now. */
function openIfPresent(folder: string): OpenFile | undefined {
  try {
    return openFile(join(folder, LOCK));
  } catch {
    return undefined;
  }
}
