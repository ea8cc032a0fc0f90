import { mkdtempSync, rmSync } from "node:fs";
import { copyFile, mkdir } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import type { TestContext } from "node:test";
import { type Database, openDatabase } from "../../storage/database.js";
import { openSqliteFile } from "../../storage/sqlite/sqlite-file.js";

/** One folder for all tests of a file; when the process ends, whatever was open in it is closed. */
const folder = mkdtempSync(join(tmpdir(), "parley-storage-"));
process.once("exit", () => rmSync(folder, { recursive: true }));

let fileCount = 0;

/** A path for a database, in a folder of its own that does not exist yet. */
export function temporaryFile(): string {
  fileCount += 1;
  return join(folder, String(fileCount), "parley.db");
}

type Opener = () => Promise<Database>;

let openAnother: Opener | undefined;

/** From now on, tests that name no file get a database of this kind: see test/postgres-system. */
export function useDatabases(open: Opener): void {
  openAnother = open;
}

/**
 * The real thread on a real file, closed after the test; a failure of storage fails the test. A file of this test's own is
 * opened as it is, or created by the thread.
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

/** An empty database as a server leaves it: the schema is made once a process and copied, which hundreds of tests feel. */
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
