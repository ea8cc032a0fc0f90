import { access, link, open, rename } from "node:fs/promises";
import { dirname } from "node:path";
import { faultCodeOf } from "../../statements/fault.js";
import { checkDatabase, type DatabaseReport } from "../database-check.js";
import { BUSY_TIMEOUT_MS, FILE_MODE } from "../sqlite-file.js";
import { Sqlite } from "../sqlite-library.js";
import { PartialCopy } from "./partial-copy.js";

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
      throw new Error(`the copy is not whole: ${report.findings.join("; ")}`);
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

/** Under its second name at once and as a whole; fails when somebody has that name by now. */
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
  return new Error("the backup's file exists already and is not overwritten");
}
