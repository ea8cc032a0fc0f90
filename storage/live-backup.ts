import { access, mkdtemp, open, rename, rm } from "node:fs/promises";
import { join } from "node:path";
import { BUSY_TIMEOUT_MS, FILE_MODE } from "./sqlite-file.js";
import { Sqlite } from "./sqlite-library.js";

/** Copied at a time (4 MiB). */
const STEP_PAGES = 1024;

/**
 * Copies a database that is being written to, as it was at one moment. It reads through a connection of its own that holds
 * one snapshot, so that writers neither wait nor make the copying start again. The copy appears under its name when it
 * is whole; a file that has this name already is never touched. Blocks its thread while it copies, and for longer when
 * the copy is flushed to the disk: not for the storage thread.
 */
export async function backupDatabase(sourcePath: string, targetPath: string): Promise<void> {
  await refuseExisting(targetPath);
  const folder = await mkdtemp(`${targetPath}.partial-`);
  try {
    const partialPath = join(folder, "copy.db");
    await createEmpty(partialPath);
    await copySnapshot(sourcePath, partialPath);
    // Takes the name first, which fails when somebody has it by now: renaming alone would overwrite.
    await createEmpty(targetPath);
    await rename(partialPath, targetPath);
  } finally {
    await rm(folder, { recursive: true });
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

async function refuseExisting(filePath: string): Promise<void> {
  const exists = await access(filePath).then(
    () => true,
    () => false,
  );
  if (exists) throw new Error("the backup's file exists already and is not overwritten");
}
