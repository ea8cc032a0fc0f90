import { mkdtempSync, rmSync } from "node:fs";
import { copyFile, mkdir } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import type { TestContext } from "node:test";
import { type Database, openDatabase } from "../../storage/database.js";
import { openSqliteFile } from "../../storage/sqlite/sqlite-file.js";

/** One folder for all tests of a file. When the process ends, every open file in it is closed. */
const folder = mkdtempSync(join(tmpdir(), "parley-storage-"));
process.once("exit", () => rmSync(folder, { recursive: true }));

let fileCount = 0;

/** Returns a path for a database, in a folder of its own that does not exist yet. */
export function temporaryFile(): string {
  fileCount += 1;
  return join(folder, String(fileCount), "parley.db");
}

type Opener = () => Promise<Database>;

let openAnother: Opener | undefined;

/** From now on, tests that name no file get a database of this kind; see test/postgres-system. */
export function useDatabases(open: Opener): void {
  openAnother = open;
}

/**
 * A database on the real thread and a real file, closed after the test; a failure of storage fails the test.
 * `existingPath` is opened unchanged, or created by the thread.
 */
export async function temporaryDatabase(
  context: TestContext,
  existingPath?: string,
): Promise<Database> {
  if (existingPath === undefined && openAnother !== undefined) {
    const database = await openAnother();
    context.after(() => database.close());
    return database;
  }
  const filePath = existingPath ?? temporaryFile();
  if (existingPath === undefined) await createDatabaseFile(filePath);
  const database = await openDatabase({ filePath, onFailure: rethrow });
  context.after(() => database.close());
  return database;
}

let template: Promise<string> | undefined;

/**
 * Creates an empty database as a server leaves it. The schema is created once per process and copied, which saves time
 * in hundreds of tests.
 */
export async function createDatabaseFile(filePath: string): Promise<void> {
  template ??= createTemplate();
  await mkdir(dirname(filePath), { recursive: true });
  await copyFile(await template, filePath);
}

async function createTemplate(): Promise<string> {
  const filePath = temporaryFile();
  (await openSqliteFile(filePath)).close();
  return filePath;
}

function rethrow(error: Error): void {
  throw error;
}
